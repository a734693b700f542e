import Foundation
import LocalStorage
import ManifestStore
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// Runs that end early must end, say why, and delete nothing.
    @Suite("Runs that end early")
    struct RunEndingTests {
        private static func refused(_ key: ObjectKey? = nil) -> StorageError {
            StorageError(
                kind: .service(status: 403, code: "InvalidAccessKeyId"),
                operation: "PutObject",
                key: key
            )
        }

        private static let lost = StorageError(
            kind: .service(status: 500, code: "InternalError"),
            operation: "ListObjectsV2"
        )

        @Test func `a run that has ended holds no file and no directory open`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("d/b.txt", MirrorFixture.ramp(50_000))
            try await fixture.run("a", .pull)
            try fixture.write("a/c.txt", MirrorFixture.ramp(10_000))
            try await fixture.run("a", .push)
            #if os(Linux)
            let root = fixture.directory("a")
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let held = names.compactMap { name in
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
            }
            #expect(held.filter { $0.hasPrefix(root) } == [])
            #endif
        }

        @Test func `refused credentials end a run whose queue is full`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<2_100 { try fixture.write("a/f\(index)", Data([1])) }
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject" else { return }
                    // Long enough for the plan to fill the queue behind the workers.
                    try? await ContinuousClock().sleep(for: .milliseconds(500))
                    throw Self.refused()
                }
            }
            let error = await #expect(throws: TransferError.self) {
                try await engine.run(.push, options: MirrorFixture.options(), onEvent: { _ in })
            }
            #expect(error?.code == .credentials)
        }

        @Test func `a listing that fails on its second page is used up to there`() async throws {
            let fixture = try MirrorFixture()
            for index in 10..<40 {
                try fixture.write("a/f\(index)", MirrorFixture.ramp(100, index))
            }
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            for index in [11, 12, 35] { try fixture.remove("a/f\(index)") }
            for index in [13, 36] {
                try fixture.write("a/f\(index)", MirrorFixture.ramp(200, index))
            }
            try await fixture.run("a", .push) { $0.deletesKnown = true }
            // More than the walk may be ahead of the plan.
            for index in 0..<11_000 { try fixture.write("b/x/\(index)", Data()) }
            let engine = try fixture.engine("b") { store in
                HookedStore(store, pageSize: 10) { call throws(StorageError) in
                    guard call.operation == "ListObjectsV2", call.number == 2 else { return }
                    throw Self.lost
                }
            }
            let log = EventLog()
            let error = await #expect(throws: TransferError.self) {
                try await engine.run(
                    .pull,
                    options: MirrorFixture.options { $0.deletesKnown = true },
                    onEvent: log.add
                )
            }
            #expect(error?.code == .remoteUnreachable)
            let pull = try #require(log.summary)
            #expect(!pull.isInStep && !pull.isPlanComplete)
            #expect(pull.deleted == 0)
            #expect(pull.transferred == 1)
            #expect(log.warnings.contains { $0.contains("could not be read completely") })
            #expect(fixture.content("b/f11") == MirrorFixture.ramp(100, 11))
            #expect(fixture.content("b/f13") == MirrorFixture.ramp(200, 13))
            #expect(fixture.content("b/f35") == MirrorFixture.ramp(100, 35))
            #expect(fixture.content("b/f36") == MirrorFixture.ramp(100, 36))
            let again = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(again.deleted == 3)
            #expect(again.isComplete)
        }

        @Test func `a remote that cannot be listed is not called an empty directory`() async throws
        {
            let fixture = try MirrorFixture()
            for index in 0..<20 { try fixture.write("a/f\(index)", Data([UInt8(index)])) }
            try await fixture.run("a", .push)
            for direction in [SyncDirection.push, .pull] {
                let engine = try fixture.engine("a") { store in
                    HookedStore(store) { call throws(StorageError) in
                        guard call.operation == "ListObjectsV2" else { return }
                        throw StorageError(
                            kind: .transport(.connectFailed(reason: "refused")),
                            operation: call.operation
                        )
                    }
                }
                let error = await #expect(throws: TransferError.self) {
                    try await engine.run(direction, options: MirrorFixture.options()) { _ in }
                }
                #expect(error?.code == .remoteUnreachable)
            }
            #expect(try fixture.tree("a").count == 20)
        }

        @Test func `one of several listings fails without ending the others' keys`() async throws {
            let store = try MirrorFixture()
            for index in 10..<50 { try store.write("a/f\(index)", Data([1])) }
            try await store.run("a", .push)
            let hooked = HookedStore(try store.store(StoreObserver()), pageSize: 4) {
                call throws(StorageError) in
                guard call.operation == "ListObjectsV2" else { return }
                if call.number == 4 { throw Self.lost }
            }
            let lister = RemoteLister(
                store: hooked,
                prefix: "mirror/",
                ranges: .all,
                splits: ["f20", "f30", "f40"],
                pagesPerSplit: 3,
                width: 4
            )
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await lister.run() }
                var position = RemoteLister.Position()
                do {
                    while try await lister.next(&position) != nil {}
                    Issue.record("the listing has an end")
                } catch let error as StorageError {
                    #expect(error == Self.lost)
                } catch {
                    Issue.record("the listing's own failure is reported: \(error)")
                }
                group.cancelAll()
            }
        }

        @Test func `listings wait until what they found is read`() async throws {
            let store = try MirrorFixture()
            let names = (100..<220).map { "f\($0)" }
            for name in names { try store.write("a/" + name, Data([1])) }
            try await store.run("a", .push)
            let (requests, held) = (Condition(), 64)
            let hooked = HookedStore(try store.store(StoreObserver()), pageSize: 1) {
                call throws(StorageError) in
                if call.moment == .after { requests.raise() }
            }
            let lister = RemoteLister(
                store: hooked,
                prefix: "mirror/",
                ranges: .all,
                splits: stride(from: 9, to: 119, by: 10).map { ObjectKey(names[$0]) },
                pagesPerSplit: 10,
                width: 3
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await lister.run() }
                var position = RemoteLister.Position()
                // Eight pages each of as many ranges as there is room for.
                while requests.version < 48 { await requests.wait(after: requests.version) }
                for number in names.indices {
                    // Whatever else could begin has had its turns.
                    for _ in 0..<1_000 { await Task.yield() }
                    #expect(hooked.count("ListObjectsV2") <= number + held)
                    let page = try #require(try await lister.next(&position))
                    #expect(page.map(\.key) == [ObjectKey(names[number])])
                }
                #expect(try await lister.next(&position) == nil)
                #expect(hooked.count("ListObjectsV2") == names.count)
                try await group.waitForAll()
            }
        }

        @Test func `reading a large file ends with the task that waits for it`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/sparse", Data())
            // Minutes of reading.
            let file = try #require(FileHandle(forWritingAtPath: fixture.directory("a/sparse")))
            try file.truncate(atOffset: 1 << 40)
            try file.close()
            let engine = try fixture.engine("a")
            let session = try await MirrorSession.open(
                engine.settings,
                locks: true,
                allowsRebinding: false
            )
            let setup = try RunSetup(engine.settings, session, .push, MirrorFixture.options())
            let executor = ItemExecutor(ItemParts(setup))
            let identity = try #require(try await executor.identity(of: "sparse"))
            let reading = Task {
                try await executor.checksum(
                    of: try RelativePath(key: "sparse"),
                    expected: identity
                )
            }
            reading.cancel()
            await #expect(throws: LocalError.interrupted) { try await reading.value }
        }
    }
}
