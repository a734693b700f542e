import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// A small file that was renamed is sent anew, and its object is the old one but for the name.
@Suite("Renames of small files")
struct SmallRenameTests {
    private let fixture: MirrorFixture

    /// A mirror "a" whose objects have properties of other tools.
    init() async throws {
        fixture = try MirrorFixture()
        for name in ["page.txt", "other.txt"] {
            try fixture.write("a/" + name, MirrorFixture.ramp(700, name.count))
            try fixture.setModified("a/" + name, Date(timeIntervalSince1970: 1_700_000_000.5))
        }
        try await push {
            $0.properties.metadata["colour"] = "blue"
            $0.properties.contentHeaders["cache-control"] = "max-age=7"
            $0.properties.contentHeaders["content-encoding"] = "gzip"
        }
        fixture.server.clearRequestLog()
    }

    @discardableResult
    private func push(_ change: (inout RunOptions) -> Void = { _ in }) async throws -> RunSummary {
        try await push(waiting: 10_000, change: change)
    }

    /// With at most `waiting` uploads that wait.
    @discardableResult
    private func push(
        waiting: Int,
        _ log: EventLog = EventLog(),
        through hook: @escaping HookedStore.Hook = { _ in },
        change: (inout RunOptions) -> Void = { _ in }
    ) async throws -> RunSummary {
        var engine = try fixture.engine("a") { HookedStore($0, hook: hook) }
        engine.settings.limits.smallestSearchable = 256 << 10
        engine.settings.limits.waiting = waiting
        engine.settings.limits.laneCapacity = 2
        return try await engine.run(
            .push,
            options: MirrorFixture.options(change),
            onEvent: log.add
        )
    }

    /// Files of a directory, which are recorded and have a colour.
    private func write(_ names: [String], in directory: String) async throws {
        for (index, name) in names.enumerated() {
            try fixture.write("a/\(directory)/\(name)", MirrorFixture.ramp(600 + index, index))
            try fixture.setModified(
                "a/\(directory)/\(name)",
                Date(timeIntervalSince1970: 1_700_000_000.5)
            )
        }
        try await push { $0.properties.metadata["colour"] = "red" }
    }

    private static let many = (10..<30).map { "f\($0)" }

    private func head(_ key: String) async throws -> ObjectMetadata {
        try await fixture.store(StoreObserver()).head(
            ObjectKey("mirror/" + key),
            versionID: nil
        )
    }

    private func rename(_ old: String, _ new: String) throws {
        try FileManager.default.moveItem(
            atPath: fixture.directory("a/" + old),
            toPath: fixture.directory("a/" + new)
        )
    }

    @Test func `keep what other tools put on their objects, for one request`() async throws {
        try rename("page.txt", "page.html")
        #expect(try await push { $0.deletesKnown = true }.transferred == 1)
        let requests = fixture.operations.filter { $0 == "HeadObject" || $0 == "PutObject" }
        // One of them is of the object that is deleted.
        #expect(requests.count(where: { $0 == "HeadObject" }) <= 2, "\(fixture.operations)")
        #expect(requests.count(where: { $0 == "PutObject" }) == 1)
        let object = try await head("page.html")
        #expect(object.userMetadata["colour"] == "blue")
        #expect(object.contentHeaders["cache-control"] == "max-age=7")
        #expect(object.contentHeaders["content-encoding"] == "gzip")
        #expect(object.contentType == "text/html", "the type is that of the new name")
    }

    @Test func `are none where the old name is still there, or the content is new`() async throws {
        try FileManager.default.linkItem(
            atPath: fixture.directory("a/page.txt"),
            toPath: fixture.directory("a/link.txt")
        )
        try rename("other.txt", "edited.txt")
        try fixture.write("a/edited.txt", MirrorFixture.ramp(701, 3))
        #expect(try await push().transferred == 2)
        for name in ["link.txt", "edited.txt"] {
            #expect(try await head(name).userMetadata["colour"] == nil, "\(name)")
        }
    }

    @Test func `are known whatever vanished in earlier runs`() async throws {
        try await write(Self.many, in: "0")
        try fixture.remove("a/0")
        try await push()
        try rename("page.txt", "new.txt")
        try rename("other.txt", "00.txt")
        try await push(waiting: 3)
        for name in ["new.txt", "00.txt"] {
            #expect(try await head(name).userMetadata["colour"] == "blue", "\(name)")
        }
    }

    @Test(arguments: ["a", "z"])
    func `of more files than can wait all keep them`(_ name: String) async throws {
        try await write(Self.many, in: "m")
        try rename("m", name)
        #expect(try await push(waiting: 3).transferred == Self.many.count)
        for file in Self.many {
            let object = try await head(name + "/" + file)
            #expect(object.userMetadata["colour"] == "red", "\(file)")
        }
    }

    @Test func `of files that were written during the last run keep them`() async throws {
        try fixture.write("a/late.txt", MirrorFixture.ramp(500, 9))
        let soon = Date(timeIntervalSinceNow: 0.3)
        try fixture.setModified("a/late.txt", soon)
        try await push(waiting: 3) { call in
            guard call.operation == "PutObject", call.moment == .before else { return }
            try? await ContinuousClock().sleep(for: .seconds(1))
        } change: {
            $0.properties.metadata["colour"] = "green"
        }
        try rename("late.txt", "later.txt")
        try await push()
        #expect(try await head("later.txt").userMetadata["colour"] == "green")
    }

    @Test(arguments: [1, 10_000])
    func `keep them where a new file has the old name, as with logs`(
        _ waiting: Int
    ) async throws {
        try rename("page.txt", "page.txt.1")
        try fixture.write("a/page.txt", MirrorFixture.ramp(900, 5))
        #expect(try await push(waiting: waiting).transferred == 2)
        for name in ["page.txt", "page.txt.1"] {
            #expect(try await head(name).userMetadata["colour"] == "blue", "\(name)")
        }
    }

    @Test func `keep them by a saved plan`() async throws {
        let path = fixture.directory("plan")
        try rename("page.txt", "new.txt")
        try await push { options in
            (options.isDryRun, options.plan) = (true, .save(path: path, command: ["push", "DIR"]))
        }
        let plan = try SavedPlan(reading: path)
        #expect(try await push { $0.plan = .apply(plan) }.transferred == 1)
        #expect(try await head("new.txt").userMetadata["colour"] == "blue")
    }

    @Test func `that a stopped run has not begun are counted`() async throws {
        try await write(Self.many, in: "m")
        try rename("m", "n")
        let log = EventLog()
        await #expect(throws: (any Error).self) {
            try await push(waiting: 15, log) { call throws(StorageError) in
                guard call.operation == "PutObject", call.moment == .before else { return }
                throw StorageError(
                    kind: .service(status: 403, code: "InvalidAccessKeyId"),
                    operation: "PutObject",
                    key: ObjectKey(call.key)
                )
            }
        }
        let summary = try #require(log.summary)
        let counted = summary.failed + summary.interrupted + summary.notTried
        #expect(counted == Self.many.count, "\(summary.failed) failed, \(summary.notTried) not")
    }
}
