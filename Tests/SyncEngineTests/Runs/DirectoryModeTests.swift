import Foundation
import LocalStorage
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import SyncEngine

/// Permissions of directories, which their markers record.
@Suite("Permissions of directories")
struct DirectoryModeTests {
    private let fixture: MirrorFixture
    private let content = MirrorFixture.ramp(500, 3)

    init() throws {
        fixture = try MirrorFixture()
        for name in ["plain", "private", "private/inner"] {
            try fixture.write("a/\(name)/f", content)
            try fixture.setMode("a/" + name, 0o755)
        }
        try fixture.setMode("a/private", 0o700)
    }

    private func modeOfMarker(_ key: String) async throws -> String? {
        let store = try fixture.store(StoreObserver())
        return try await store.head(ObjectKey("mirror/" + key), versionID: nil).userMetadata["mode"]
    }

    /// Runs, and returns what was requested.
    private func requests(
        _ name: String,
        _ direction: SyncDirection,
        _ change: (inout RunOptions) -> Void = { _ in }
    ) async throws -> [String] {
        fixture.server.clearRequestLog()
        try await fixture.run(name, direction, EventLog(), change)
        return fixture.operations
    }

    @Test func `are opened for nobody by a machine that never recorded them`() async throws {
        try await fixture.run("a", .push)
        try fixture.write("b/private/f", content)
        try fixture.setMode("b/private", 0o755)
        try await fixture.run("b", .push)
        try await fixture.run("b", .push)
        #expect(try await modeOfMarker("private/") == "40700")
        try fixture.setMode("b/private", 0o750)
        try await fixture.run("b", .push)
        #expect(try await modeOfMarker("private/") == "40750")
    }

    /// A run of another shard has opened the directory, and was killed.
    @Test(arguments: [SyncDirection.push, .sync, .pull])
    func `that another shard has opened are not taken for changed`(
        _ direction: SyncDirection
    ) async throws {
        try fixture.setMode("a/private", 0o555)
        try await fixture.run("a", .push)
        var options = CutOptions()
        options.bounds = [[UInt8]("private/f".utf8)]
        _ = try await fixture.engine("a").cut(options) { _ in }
        let cutting = try #require(try fixture.names(in: "a/.osssync/shards").first)
        let directory = try MirrorDirectory(
            path: fixture.directory("a"),
            stateDirectory: nil,
            homeDirectory: nil,
            createsIfMissing: false,
            calls: .standard
        )
        let opened = OpenedDirectories(of: ["shards", cutting, "0001"], in: directory)
        try opened.write([OpenedDirectories.Item(key: "private/", mode: 0o555)])
        try fixture.setMode("a/private", 0o755)
        let first = try await fixture.run("a", direction) {
            $0.shard = ShardSelection(task: 0, of: 2, round: "r")
        }
        #expect((first.modes, first.localChanges, first.failed) == (0, 0, 0))
        #expect(try await modeOfMarker("private/") == "40555")
        // Its own shard closes it.
        _ = try await fixture.run("a", direction) {
            $0.shard = ShardSelection(task: 1, of: 2, round: "r")
        }
        #expect(try fixture.mode("a/private") == 0o555)
        #expect(try opened.own() == nil)
        try fixture.setMode("a/private", 0o755)
    }

    /// As the run of another shard closes them at its end.
    @Test func `that were closed meanwhile are opened once more`() async throws {
        try fixture.setMode("a/private", 0o555)
        try await fixture.run("a", .push)
        try await fixture.inState { session in
            let setup = try RunSetup(try fixture.engine("a").settings, session, .pull, .standard)
            let closed = ItemParts(setup).context.closed
            for _ in 0..<2 {
                #expect(await closed.open(above: try RelativePath(path: "private/new")))
                #expect(try fixture.mode("a/private") == 0o755)
                try fixture.setMode("a/private", 0o555)
            }
            #expect(await closed.open(above: try RelativePath(path: "private/new")))
            #expect(await closed.close().failures.isEmpty)
            #expect(try fixture.mode("a/private") == 0o555)
        }
        try fixture.setMode("a/private", 0o755)
    }

    @Test func `are recorded if mkdir does not give them, and restored`() async throws {
        try await fixture.run("a", .push)
        let expected = ["plain/f", "private/", "private/f", "private/inner/f"]
        #expect(try await fixture.objects() == expected)
        #expect(try await modeOfMarker("private/") == "40700")
        #expect(try await requests("a", .push).isEmpty)
        #expect(try await requests("a", .sync).isEmpty)
        let run = try await fixture.run("b", .pull)
        #expect(run.isInStep && run.transferred == 4)
        #expect(try fixture.mode("b/private") == 0o700 && fixture.mode("b/plain") == 0o755)
        for direction in [SyncDirection.pull, .push, .sync] {
            #expect(try await requests("b", direction).isEmpty, "\(direction)")
        }
        #expect(try await fixture.objects() == expected)
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `that change are carried as those of files are`(
        _ direction: SyncDirection
    ) async throws {
        try await fixture.run("a", .push)
        try await fixture.run("b", .pull)
        try fixture.setMode("a/private", 0o750)
        try fixture.setMode("a/plain", 0o711)
        fixture.server.clearRequestLog()
        let sent = try await fixture.run("a", direction)
        #expect((sent.modes, sent.transferred) == (1, 1) && sent.isInStep)
        // Copied once more if that was in the second in which the marker was written.
        #expect(Set(fixture.operations) == ["CopyObject", "HeadObject", "PutObject"])
        #expect(try await modeOfMarker("private/") == "40750")
        #expect(try await requests("a", direction).isEmpty)
        fixture.server.clearRequestLog()
        let taken = try await fixture.run("b", .pull)
        #expect(taken.isInStep && fixture.operations == ["HeadObject", "HeadObject"])
        #expect(try fixture.mode("b/private") == 0o750 && fixture.mode("b/plain") == 0o711)
        #expect(try await requests("b", .pull).isEmpty)
        // Back to what mkdir gives: the marker stays and says so.
        try fixture.setMode("a/private", 0o755)
        #expect(try await fixture.run("a", direction).modes == 1)
        #expect(try await modeOfMarker("private/") == "40755")
        #expect(try await fixture.run("b", direction == .push ? .pull : .sync).modes == 1)
        #expect(try fixture.mode("b/private") == 0o755)
        #expect(try await requests("a", .push).isEmpty)
    }

    @Test func `that their owner may not write to are filled first`() async throws {
        try fixture.setMode("a/private", 0o550)
        try fixture.setMode("a/plain", 0o000)
        try await fixture.run("a", .push)
        #expect(try await modeOfMarker("plain/") == "40000")
        try await fixture.run("b", .pull)
        #expect(try fixture.mode("b/private") == 0o550)
        // Later runs have to read it.
        #expect(try fixture.mode("b/plain") == 0o500)
        #expect(fixture.content("b/private/inner/f") == content)
        #expect(fixture.content("b/plain/f") == content)
        for direction in [SyncDirection.pull, .push, .sync] {
            #expect(try await requests("b", direction).isEmpty, "\(direction)")
        }
        // And are written to again.
        try fixture.write("a/private/new", content)
        try FileManager.default.removeItem(atPath: fixture.directory("a/private/f"))
        try await fixture.run("a", .push) { $0.deletesKnown = true }
        try await fixture.run("b", .pull) { $0.deletesKnown = true }
        #expect(try fixture.mode("b/private") == 0o550)
        #expect(fixture.content("b/private/new") == content)
        #expect(!FileManager.default.fileExists(atPath: fixture.directory("b/private/f")))
        #expect(try await requests("b", .sync).isEmpty)
    }

    @Test func `are restored by the run after one that ended early`() async throws {
        try fixture.setMode("a/private", 0o500)
        try await fixture.run("a", .push)
        try fixture.setFaults(
            #"[{"match": {"operation": "GetObject"},"#
                + #""effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]"#
        )
        _ = try? await fixture.run("b", .pull)
        try fixture.setFaults("[]")
        try await fixture.run("b", .pull)
        #expect(try fixture.mode("b/private") == 0o500)
        #expect(try await requests("b", .sync).isEmpty)
    }

    @Test func `that nobody recorded leave directories as they are`() async throws {
        try await fixture.put("private/", Data())
        try await fixture.put("other/", Data())
        let run = try await fixture.run("a", .pull)
        #expect(run.isComplete && run.modes == 0)
        #expect(try fixture.mode("a/private") == 0o700 && fixture.mode("a/other") == 0o755)
        #expect(try await requests("a", .pull).isEmpty)
        // A push sends what was chosen here.
        #expect(try await fixture.run("a", .push).modes == 1)
        #expect(try await modeOfMarker("private/") == "40700")
        #expect(try await modeOfMarker("other/") == nil)
    }

    @Test func `that were chosen here stay in a pull, unless it is forced`() async throws {
        try await fixture.run("a", .push)
        try await fixture.run("b", .pull)
        try fixture.setMode("b/private", 0o711)
        #expect(try await requests("b", .pull).isEmpty)
        #expect(try fixture.mode("b/private") == 0o711)
        #expect(try await fixture.run("b", .pull) { $0.replacesLocalChanges = true }.modes == 1)
        #expect(try fixture.mode("b/private") == 0o700)
        // Also of a directory that no run has seen.
        try fixture.write("c/private/own", content)
        try fixture.setMode("c/private", 0o751)
        try fixture.write("d/private/own", content)
        try await fixture.run("c", .pull)
        try await fixture.run("d", .pull)
        #expect(try fixture.mode("c/private") == 0o751 && fixture.mode("d/private") == 0o700)
        #expect(try await fixture.run("c", .push).modes == 1)
        #expect(try await modeOfMarker("private/") == "40751")
    }

    @Test func `are never more than new directories have here`() async throws {
        try fixture.setMode("a/private", 0o777)
        try await fixture.run("a", .push)
        let log = EventLog()
        try await fixture.run("b", .pull, log)
        let mask = Int(0o777 & ~MirrorDirectory.ordinaryPermissions)
        #expect(try fixture.mode("b/private") == 0o777 & ~mask)
        let warnings = log.warnings.filter { $0.hasPrefix("some files or directories get fewer") }
        #expect(warnings.count == (mask == 0 ? 0 : 1))
        #expect(try await requests("b", .sync).isEmpty)
    }

    @Test func `go with their directories, and no file does with a marker`() async throws {
        try await fixture.run("a", .push)
        try await fixture.run("b", .pull)
        try await fixture.deleteObject("private/")
        try await fixture.run("b", .pull) { $0.deletesKnown = true }
        #expect(fixture.content("b/private/f") == content)
        #expect(try await fixture.run("a", .push).transferred == 1)
        try FileManager.default.removeItem(atPath: fixture.directory("a/private"))
        try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect(try await fixture.objects() == ["plain/f"])
        try await fixture.run("b", .pull) { $0.deletesKnown = true }
        #expect(!FileManager.default.fileExists(atPath: fixture.directory("b/private")))
    }

    @Test func `are of no interest without metadata, and without empty directories`() async throws {
        try await fixture.run("a", .push) { $0.keepsFileMetadata = false }
        #expect(try await fixture.objects() == ["plain/f", "private/f", "private/inner/f"])
        #expect(try await requests("a", .push) { $0.keepsEmptyDirectories = false }.isEmpty)
        #expect(try await fixture.run("a", .push).transferred == 1)
        try await fixture.run("b", .pull) { $0.keepsFileMetadata = false }
        #expect(try fixture.mode("b/private") == 0o755)
    }

    @Test func `are told by status and dry runs as the run does them`() async throws {
        // What was written right before a run is compared by the next one.
        for _ in 0..<20 {
            try await fixture.run("a", .push)
            let status = try await fixture.engine("a").status(options: .standard)
            if status.push.comparisons == 0 { break }
        }
        try await fixture.run("b", .pull)
        let before = try await fixture.engine("a").status(options: .standard)
        #expect(before.isInStep, "\(before)")
        try fixture.setMode("a/private", 0o750)
        try fixture.setMode("a/plain", 0o711)
        let status = try await fixture.engine("a").status(options: .standard)
        #expect((status.push.modes, status.push.transfers) == (1, 1) && !status.isInStep)
        let log = EventLog()
        let dry = try await fixture.run("a", .push, log) { $0.isDryRun = true }
        #expect((dry.modes, dry.transferred) == (1, 1))
        let said = log.events { event -> String? in
            if case .item(let item) = event { item.message } else { nil }
        }
        let texts = ["a directory with permissions of its own", "permissions changed"]
        #expect(said.sorted() == texts)
        #expect(try await modeOfMarker("private/") == "40700")
        try await fixture.run("a", .push)
        #expect(try await fixture.engine("a").status(options: .standard).isInStep)
        let pull = try await fixture.run("b", .pull) { $0.isDryRun = true }
        #expect((pull.modes, pull.adopted, pull.transferred) == (2, 1, 0))
    }

    @Test func `are no difference where no run sends them`() async throws {
        let leftOut = MirrorFixture.options { $0.keepsEmptyDirectories = false }
        // What was written right before a run is compared by the next one.
        let end = ContinuousClock.now + .seconds(20)
        var isInStep = false
        while !isInStep, ContinuousClock.now < end {
            try await fixture.run("a", .push) { $0.keepsEmptyDirectories = false }
            isInStep = try await fixture.engine("a").status(options: leftOut).isInStep
        }
        #expect(isInStep, "waited for a run in which the files are older than a moment")
        #expect(try await !fixture.engine("a").status(options: .standard).isInStep)
        try await fixture.run("b", .pull)
        try fixture.setMode("b/plain", 0o711)
        #expect(try await fixture.run("b", .pull).isInStep)
        #expect(try await fixture.engine("b").status(options: .standard).isInStep)
    }

    @Test func `are recorded at stores of S3 once one kept them`() async throws {
        let fixture = try MirrorFixture(dialect: .s3)
        for name in ["x", "y"] {
            try fixture.write("a/\(name)/f", content)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700],
                ofItemAtPath: fixture.directory("a/" + name)
            )
        }
        #expect(try await fixture.run("a", .push).isInStep)
        #expect(try await fixture.objects() == ["x/", "x/f", "y/", "y/f"])
        fixture.server.clearRequestLog()
        try await fixture.run("a", .push)
        #expect(fixture.operations.isEmpty)
    }

    @Test func `end no run at a store that cannot keep them`() async throws {
        let fixture = try MirrorFixture(dialect: .s3)
        for name in ["x", "y"] {
            try fixture.write("a/\(name)/f", content)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700],
                ofItemAtPath: fixture.directory("a/" + name)
            )
        }
        try fixture.setFaults(
            // Either of them may be the first one.
            "["
                + ["x", "y"].map { name in
                    #"{"match": {"operation": "PutObject", "key": "mirror/\#(name)/"},"#
                        + #""effect": {"fail": {"status": 409, "code": "Conflict"}}}"#
                }.joined(separator: ",") + "]"
        )
        let log = EventLog()
        #expect(try await fixture.run("a", .push, log).isComplete)
        #expect(log.warnings.count { $0.hasPrefix("this store does not keep") } == 1)
        fixture.server.clearRequestLog()
        #expect(try await fixture.run("a", .push).isInStep)
        #expect(fixture.operations.isEmpty)
        #expect(try await fixture.objects() == ["x/f", "y/f"])
    }

    /// A mirror of a store of S3 with directories of the user's alone.
    private func unknownStore(_ names: [String]) throws -> MirrorFixture {
        let fixture = try MirrorFixture(dialect: .s3)
        for name in names {
            try fixture.write("a/\(name)/f", content)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700],
                ofItemAtPath: fixture.directory("a/" + name)
            )
        }
        return fixture
    }

    @Test func `are told where there are too many for the first run at a store`() async throws {
        let names = (10..<35).map { "d\($0)" }
        let fixture = try unknownStore(names)
        var engine = try fixture.engine("a")
        engine.settings.limits.waiting = 1
        let first = try await engine.run(.push, options: MirrorFixture.options(), onEvent: { _ in })
        #expect(first.skipped == 15 && !first.isInStep && !first.isComplete)
        #expect(try await fixture.run("a", .push).isInStep)
        let markers = try await fixture.objects().filter { $0.hasSuffix("/") }
        #expect(markers == names.map { $0 + "/" })
    }

    @Test func `of more directories than a run can close are set by the next one`() async throws {
        let names = (10..<25).map { "d\($0)" }
        for name in names {
            try fixture.write("a/\(name)/f", content)
            try fixture.setMode("a/" + name, 0o555)
        }
        try await fixture.run("a", .push)
        var engine = try fixture.engine("b")
        engine.settings.limits.waiting = 1
        let first = try await engine.run(.pull, options: MirrorFixture.options(), onEvent: { _ in })
        #expect(first.skipped == 5 && !first.isInStep)
        let second = try await fixture.run("b", .pull)
        #expect(second.isInStep && second.modes == 5)
        for name in names { #expect(try fixture.mode("b/" + name) == 0o555, "\(name)") }
        for name in names { for side in ["a/", "b/"] { try fixture.setMode(side + name, 0o755) } }
    }

    @Test func `are sent where the first marker fails for a reason of its own`() async throws {
        let fixture = try unknownStore(["x", "y", "z"])
        try fixture.setFaults(
            #"[{"match": {"operation": "PutObject", "key": "mirror/x/"},"#
                + #""effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]"#
        )
        let run = try await fixture.run("a", .push)
        #expect(run.failed == 1)
        #expect(try await fixture.objects() == ["x/f", "y/", "y/f", "z/", "z/f"])
    }
}
