import Foundation
import ObjectStorage
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// Logs, which other programs append to while they are sent.
    @Suite("Uploads of files that grow")
    struct GrowingUploadTests {
        /// One that is held, one that is sent in one request, and one in parts.
        static let sizes = [0, 20_000, 600_000, 3_000_000]

        /// What happens to the file each time that a request of its upload begins.
        enum Change: CaseIterable, Sendable {
            case appends
            case writesWithin
            case startsOver
            case movesAway
        }

        /// No two changes write the same.
        private static let changes = Atomic<UInt64>(0)

        private static func make(_ change: Change, at path: String) {
            let file = FileHandle(forUpdatingAtPath: path)
            defer { try? file?.close() }
            switch change {
            case .appends:
                _ = try? file?.seekToEnd()
                try? file?.write(contentsOf: Data(repeating: 7, count: 100))
            case .writesWithin:
                let number = changes.add(1, ordering: .relaxed).newValue
                try? file?.write(contentsOf: Data("\(number)".utf8))
                _ = try? file?.seekToEnd()
                try? file?.write(contentsOf: Data([1]))
            case .startsOver:
                try? file?.truncate(atOffset: 0)
                try? file?.write(contentsOf: Data(repeating: 9, count: 50))
            case .movesAway:
                guard !FileManager.default.fileExists(atPath: path + ".1") else { return }
                try? FileManager.default.moveItem(atPath: path, toPath: path + ".1")
                try? Data("new".utf8).write(to: URL(filePath: path))
            }
        }

        private func push(
            _ fixture: MirrorFixture,
            _ change: Change,
            times: Int = .max,
            _ direction: SyncDirection = .push,
            _ log: EventLog = EventLog()
        ) async throws -> RunSummary {
            let path = fixture.directory("a/log")
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard ["PutObject", "UploadPart", "GetObject"].contains(call.operation),
                        call.key == "mirror/log", call.number <= times,
                        // What is written once all is sent is in no part.
                        call.moment == (change == .writesWithin ? .after : .before)
                    else { return }
                    Self.make(change, at: path)
                }
            }
            let options = MirrorFixture.options { $0.deletesKnown = true }
            return try await engine.run(direction, options: options, onEvent: log.add)
        }

        @Test(arguments: sizes, [StorageDialect.oss, .s3])
        func `a file that only grows is sent as it was, and again by the next run`(
            size: Int,
            dialect: StorageDialect
        ) async throws {
            let fixture = try MirrorFixture(dialect: dialect)
            let old = MirrorFixture.ramp(size)
            try fixture.write("a/log", old)
            try fixture.write("a/gone", MirrorFixture.ramp(9))
            try await fixture.run("a", .push)
            try fixture.remove("a/gone")
            for number in 0..<2 {
                let before = try #require(fixture.content("a/log"))
                if number == 0 { Self.make(.appends, at: fixture.directory("a/log")) }
                let start = try #require(fixture.content("a/log"))
                let push = try await push(fixture, .appends)
                #expect((push.transferred, push.skipped, push.failed) == (1, 0, 0))
                #expect(push.isInStep && push.deletionsHeldBack == nil)
                #expect(push.deleted == (number == 0 ? 1 : 0))
                let object = try await fixture.object("log")
                // A part that is read between the new time of a write and its new size begins the
                // upload anew, with what the file has by then.
                let more = size > 2_000_000 ? max(0, object.count - start.count) : 0
                #expect(more.isMultiple(of: 100) && object.count <= fixture.content("a/log")!.count)
                #expect(object == start + Data(repeating: 7, count: more), "run \(number)")
                #expect(before.count <= start.count)
            }
            #expect(try await fixture.run("a", .push).transferred == 1)
            #expect(try await fixture.object("log") == fixture.content("a/log"))
            #expect(try await fixture.run("a", .push).transferred == 0)
        }

        @Test(arguments: [Change.writesWithin, .startsOver])
        func `one that changes in another way is skipped, and holds back nothing else`(
            change: Change
        ) async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/log", MirrorFixture.ramp(3_000_000))
            try fixture.write("a/gone", MirrorFixture.ramp(9))
            try await fixture.run("a", .push)
            let sent = try await fixture.object("log")
            try fixture.remove("a/gone")
            Self.make(.appends, at: fixture.directory("a/log"))
            let push = try await push(fixture, change)
            if change == .writesWithin {
                #expect((push.transferred, push.skipped) == (0, 1))
                #expect(try await fixture.object("log") == sent)
            }
            #expect((push.deleted, push.deletionsHeldBack) == (1, nil))
            #expect(try await fixture.run("a", .push).isInStep)
        }

        @Test func `one that changes while it is fetched is skipped, and holds back nothing else`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/log", MirrorFixture.ramp(9_000))
            try fixture.write("a/gone", MirrorFixture.ramp(9))
            try await fixture.run("a", .push)
            try fixture.remove("a/gone")
            try await fixture.put("log", MirrorFixture.ramp(9_000, 1))
            let sync = try await push(fixture, .appends, .sync)
            #expect((sync.transferred, sync.skipped) == (0, 1))
            #expect((sync.deleted, sync.deletionsHeldBack) == (1, nil))
        }

        @Test func `one that is renamed while it is sent, as logs are, is sent under both names`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/log", MirrorFixture.ramp(3_000_000))
            let push = try await push(fixture, .movesAway)
            #expect(push.failed == 0)
            #expect(try await fixture.run("a", .push).isInStep)
            #expect(try await fixture.object("log") == Data("new".utf8))
            #expect(try await fixture.object("log.1") == MirrorFixture.ramp(3_000_000))
        }

        @Test func `an upload that an earlier run began of a file that grew begins anew`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/log", MirrorFixture.ramp(3_000_000))
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "UploadPart", call.number == 3 else { return }
                    throw StorageError(
                        kind: .service(status: 400, code: "Nothing"),
                        operation: call.operation
                    )
                }
            }
            let first = try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            #expect(first.failed == 1)
            Self.make(.appends, at: fixture.directory("a/log"))
            let second = try await push(fixture, .appends, times: 1)
            #expect((second.transferred, second.failed) == (1, 0))
            let object = try await fixture.object("log")
            #expect(object == MirrorFixture.ramp(3_000_000) + Data(repeating: 7, count: 100))
        }
    }
}
