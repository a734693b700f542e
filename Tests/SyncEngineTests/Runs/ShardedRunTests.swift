import Foundation
import ObjectTransfer
import StorageServer
import SyncModel
import SyncTestSupport
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// A mirror that is cut: tasks in any order, and what ends them.
    @Suite("Runs of shards")
    struct ShardedRunTests {
        private static let folders = ["a", "a!b", "b", "b/c", "b/c-d", "ä", "x y", "z/1/2"]

        private static func randomName(_ generator: inout SeededGenerator) -> String {
            let folder = folders[Int.random(in: 0..<folders.count, using: &generator)]
            return "\(folder)/f\(Int.random(in: 0..<40, using: &generator))"
        }

        /// Adds, changes and deletes some files of a directory.
        private static func change(
            _ fixture: MirrorFixture,
            _ name: String,
            _ generator: inout SeededGenerator
        ) throws {
            for _ in 0..<40 {
                let count = Int.random(in: 0..<3_000, using: &generator)
                try fixture.write(
                    "\(name)/\(randomName(&generator))",
                    MirrorFixture.ramp(count, count % 97)
                )
            }
            let files = try fixture.tree(name).keys.sorted()
            for file in files where Int.random(in: 0..<4, using: &generator) == 0 {
                try fixture.remove("\(name)/\(file)")
            }
        }

        private static func cut(
            _ fixture: MirrorFixture,
            _ name: String,
            _ count: Int
        ) async throws {
            var options = CutOptions()
            options.count = count
            _ = try await fixture.engine(name).cut(options) { _ in }
        }

        private static func task(
            _ fixture: MirrorFixture,
            _ name: String,
            _ direction: SyncDirection,
            _ task: Int,
            of count: Int,
            _ round: String,
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            try await fixture.run(name, direction) { options in
                options.shard = ShardSelection(task: task, of: count, round: round)
                change(&options)
            }
        }

        private static func finish(
            _ fixture: MirrorFixture,
            _ name: String,
            _ direction: SyncDirection,
            _ round: String,
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            try await fixture.engine(name).finish(
                round: round,
                direction,
                options: MirrorFixture.options(change),
                onEvent: { _ in }
            )
        }

        private static func deletes(_ options: inout RunOptions) {
            (options.deletesKnown, options.trashDays) = (true, 0)
            options.deletionLimit = .percent(100)
        }

        @Test(arguments: 0..<6)
        func `tasks and the end of their round do what one plain run does`(seed: Int) async throws {
            var generator = SeededGenerator(seed: UInt64(seed))
            let fixture = try MirrorFixture()
            try Self.change(fixture, "source", &generator)
            try await fixture.run("source", .push)
            if seed % 2 == 0 {
                // Rows and files that are there when it is cut.
                try await fixture.run("cut", .pull)
            }
            try await Self.cut(fixture, "cut", 5)
            for round in 0..<3 {
                try Self.change(fixture, "source", &generator)
                try await fixture.run("source", .push, EventLog(), Self.deletes)
                try await fixture.run("plain", .pull, EventLog(), Self.deletes)
                for number in [0, 1, 2].shuffled(using: &generator) {
                    _ = try await Self.task(
                        fixture,
                        "cut",
                        .pull,
                        number,
                        of: 3,
                        "round-\(round)",
                        Self.deletes
                    )
                }
                let end = try await Self.finish(
                    fixture,
                    "cut",
                    .pull,
                    "round-\(round)",
                    Self.deletes
                )
                #expect(end.isComplete)
                #expect(end.shards.map { $0.complete == $0.count } == true)
                #expect(try fixture.tree("cut") == fixture.tree("plain"))
                #expect(try fixture.tree("cut") == fixture.tree("source"))
                // Directories that were emptied are gone on both.
                let names = try Self.directories(fixture, "cut")
                #expect(names == (try Self.directories(fixture, "plain")))
                if round == 1 { try await Self.cut(fixture, "cut", 3 + seed) }
            }
            let rest = try await fixture.run("cut", .pull, EventLog(), Self.deletes)
            #expect(rest.transferred == 0 && rest.deleted == 0 && rest.isInStep)
        }

        private static func directories(
            _ fixture: MirrorFixture,
            _ name: String
        ) throws -> Set<String> {
            let root = URL(fileURLWithPath: fixture.directory(name))
            let found = FileManager.default.enumerator(atPath: root.path)
            var names: Set<String> = []
            while let path = found?.nextObject() as? String {
                guard !path.hasPrefix(".osssync") else { continue }
                if found?.fileAttributes?[.type] as? FileAttributeType == .typeDirectory {
                    names.insert(path)
                }
            }
            return names
        }

        @Test func `pushes of shards leave the bucket as one push does`() async throws {
            var generator = SeededGenerator(seed: 11)
            let fixture = try MirrorFixture()
            try Self.change(fixture, "cut", &generator)
            try await fixture.run("cut", .push)
            try await Self.cut(fixture, "cut", 4)
            try Self.change(fixture, "cut", &generator)
            for number in 0..<4 {
                _ = try await Self.task(
                    fixture,
                    "cut",
                    .push,
                    number,
                    of: 4,
                    "one",
                    Self.deletes
                )
            }
            let before = try await fixture.objects().count
            let end = try await Self.finish(fixture, "cut", .push, "one", Self.deletes)
            #expect(end.deleted > 0)
            #expect(try await fixture.objects().count == before - end.deleted)
            try await fixture.run("plain", .pull)
            #expect(try fixture.tree("plain") == fixture.tree("cut"))
        }

        @Test func `a directory that was never pushed is cut by its files`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<8 {
                try fixture.write("cut/d/f\(index)", MirrorFixture.ramp(10, index))
            }
            try await Self.cut(fixture, "cut", 4)
            let first = try await Self.task(fixture, "cut", .push, 0, of: 4, "one", Self.deletes)
            #expect(first.transferred == 2)
            for number in 1..<4 {
                _ = try await Self.task(fixture, "cut", .push, number, of: 4, "one", Self.deletes)
            }
            #expect(try await fixture.objects().count == 8)
        }

        /// A mirror "cut" of eight files in four shards, of which the bucket has lost two.
        private static func lessened() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for index in 0..<8 {
                try await fixture.put("f\(index)", MirrorFixture.ramp(100, index))
            }
            try await fixture.run("cut", .pull)
            try await cut(fixture, "cut", 4)
            for index in [0, 7] { try await fixture.deleteObject("f\(index)") }
            return fixture
        }

        @Test func `a task deletes nothing, nor does an end without a result of every shard`()
            async throws
        {
            let fixture = try await Self.lessened()
            // The results of another round do not count.
            _ = try await Self.task(fixture, "cut", .pull, 0, of: 1, "zero", Self.deletes)
            for number in 0..<3 {
                let summary = try await Self.task(
                    fixture,
                    "cut",
                    .pull,
                    number,
                    of: 4,
                    "one",
                    Self.deletes
                )
                #expect(summary.deleted == 0)
            }
            let early = try await Self.finish(fixture, "cut", .pull, "one", Self.deletes)
            #expect(early.shards?.missing == [3] && early.deleted == 0 && !early.isComplete)
            #expect(try fixture.tree("cut").count == 8)
            _ = try await Self.task(fixture, "cut", .pull, 3, of: 4, "one", Self.deletes)
            let end = try await Self.finish(fixture, "cut", .pull, "one", Self.deletes)
            #expect(end.deleted == 2 && end.isComplete)
            #expect(try fixture.tree("cut").count == 6)
            let again = try await Self.finish(fixture, "cut", .pull, "one", Self.deletes)
            #expect(again.deleted == 0 && again.isComplete)
        }

        @Test func `the limit of deletions is of all shards together`() async throws {
            let fixture = try await Self.lessened()
            for index in 1..<6 { try await fixture.deleteObject("f\(index)") }
            func limited(_ options: inout RunOptions) {
                options.deletesKnown = true
                options.deletionLimit = .count(6)
            }
            for number in 0..<4 {
                _ = try await Self.task(fixture, "cut", .pull, number, of: 4, "one", limited)
            }
            let error = await #expect(throws: TransferError.self) {
                try await Self.finish(fixture, "cut", .pull, "one", limited)
            }
            #expect(error?.code == .refused)
            #expect(try fixture.tree("cut").count == 8)
            let end = try await Self.finish(fixture, "cut", .pull, "one") { options in
                options.deletesKnown = true
                options.deletionLimit = .count(7)
            }
            #expect(end.deleted == 7)
        }

        @Test func `a directory goes that lies in one shard and was emptied in another`()
            async throws
        {
            let fixture = try MirrorFixture()
            for name in ["a", "d/e/3", "d/e/4"] {
                try await fixture.put(name, MirrorFixture.ramp(10, 1))
            }
            try await fixture.run("cut", .pull)
            var options = CutOptions()
            options.bounds = [[UInt8]("d/e/3".utf8)]
            _ = try await fixture.engine("cut").cut(options) { _ in }
            for name in ["d/e/3", "d/e/4"] { try await fixture.deleteObject(name) }
            _ = try await Self.task(fixture, "cut", .pull, 0, of: 1, "one", Self.deletes)
            let end = try await Self.finish(fixture, "cut", .pull, "one", Self.deletes)
            #expect(end.deleted == 2 && !fixture.exists("cut/d"))
        }

        @Test func `what a killed end has deleted is no surprise to the next one`() async throws {
            let fixture = try await Self.lessened()
            _ = try await Self.task(fixture, "cut", .pull, 0, of: 1, "one", Self.deletes)
            try fixture.remove("cut/f0")
            let end = try await Self.finish(fixture, "cut", .pull, "one", Self.deletes)
            #expect(end.isComplete && end.skipped == 0 && end.deleted == 2)
            let next = try await fixture.run("cut", .pull, EventLog(), Self.deletes)
            #expect(next.isInStep && next.unchanged == 6)
        }

        @Test func `a shard that is done in a round costs nothing in it`() async throws {
            let fixture = try await Self.lessened()
            _ = try await Self.task(fixture, "cut", .pull, 0, of: 1, "one", Self.deletes)
            let requests = fixture.server.requestLog.count
            let again = try await Self.task(fixture, "cut", .pull, 0, of: 1, "one", Self.deletes)
            #expect(fixture.server.requestLog.count == requests)
            #expect(again.shards?.complete == 4 && again.shards?.deletionsWaiting == 2)
        }

        @Test func `tasks of another kind, an older round and another cutting are refused`()
            async throws
        {
            let fixture = try await Self.lessened()
            func refused(
                _ part: String,
                _ direction: SyncDirection,
                _ round: String,
                _ change: (inout RunOptions) -> Void
            ) async {
                let error = await #expect(throws: TransferError.self) {
                    try await Self.task(fixture, "cut", direction, 0, of: 2, round, change)
                }
                #expect(error?.code == .configuration)
                #expect(error?.message.contains(part) == true)
            }
            _ = try await Self.task(fixture, "cut", .pull, 0, of: 2, "one", Self.deletes)
            await refused("it began with --delete", .pull, "one") { _ in }
            await refused("it is a pull", .push, "one", Self.deletes)
            await refused("--rebind", .pull, "two") { $0.allowsRebinding = true }
            await refused("PATHs", .pull, "two") { $0.paths = ["f1"] }
            _ = try await Self.task(fixture, "cut", .pull, 0, of: 2, "two", Self.deletes)
            await refused("round 'two' has begun", .pull, "one", Self.deletes)
            try await Self.cut(fixture, "cut", 2)
            await refused("sharded again", .pull, "two", Self.deletes)
            let other = await #expect(throws: TransferError.self) {
                try await Self.task(fixture, "plain", .pull, 0, of: 2, "one")
            }
            #expect(other?.message.contains("is not sharded") == true)
        }

        @Test func `what needs one manifest is refused on a cut mirror, and nothing is made anew`()
            async throws
        {
            let fixture = try await Self.lessened()
            let engine = try fixture.engine("cut")
            let error = await #expect(throws: TransferError.self) {
                try await engine.status(options: .standard)
            }
            #expect(error?.message.contains("with 4 manifests") == true)
            let state = fixture.directory("cut") + "/.osssync/"
            try FileManager.default.removeItem(atPath: state + "marker")
            let lost = await #expect(throws: TransferError.self) {
                try await Self.task(fixture, "cut", .pull, 0, of: 1, "one", Self.deletes)
            }
            #expect(lost?.code == .refused)
            #expect(!fixture.exists("cut/.osssync/marker"))
            try FileManager.default.removeItem(atPath: state + "shards")
            let gone = await #expect(throws: TransferError.self) {
                try await Self.task(fixture, "cut", .pull, 0, of: 1, "one", Self.deletes)
            }
            #expect(gone?.code == .localState)
        }

        @Test func `a name that comes to lie on both sides of a cut holds deletions back`()
            async throws
        {
            let fixture = try MirrorFixture()
            for name in ["a/1", "a/2", "b/1", "b/2"] {
                try await fixture.put(name, MirrorFixture.ramp(10, 1))
            }
            try await fixture.run("cut", .pull)
            var options = CutOptions()
            options.bounds = [[UInt8]("b/1".utf8)]
            _ = try await fixture.engine("cut").cut(options) { _ in }
            try await fixture.deleteObject("a/1")
            try await fixture.put("b", MirrorFixture.ramp(10, 2))
            let summary = try await Self.task(
                fixture,
                "cut",
                .pull,
                0,
                of: 1,
                "one",
                Self.deletes
            )
            #expect(!summary.isComplete)
            let end = try await Self.finish(fixture, "cut", .pull, "one", Self.deletes)
            #expect(end.deleted == 0 && end.deletionsHeldBack != nil)
            #expect(fixture.exists("cut/a/1"))
        }

        @Test func `what a download makes the ignore file hide less is not sent by a task`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("cut/.osssyncignore", Data("*.key\n".utf8))
            try fixture.write("cut/a.key", Data("secret".utf8))
            try fixture.write("cut/b", Data("b".utf8))
            try await fixture.run("cut", .push)
            try await Self.cut(fixture, "cut", 2)
            try await fixture.put(".osssyncignore", Data("#\n".utf8))
            func isSent() async throws -> Bool {
                try await fixture.objects().contains { $0.hasSuffix("a.key") }
            }
            for (number, direction) in [SyncDirection.pull, .push, .push].enumerated() {
                let round = "round-\(number)"
                _ = try await Self.task(fixture, "cut", direction, 0, of: 1, round)
                #expect(try await !isSent())
            }
            #expect(fixture.content("cut/.osssyncignore") == Data("#\n".utf8))
            // What the owner of the directory writes is accepted, also by a task.
            try fixture.write("cut/.osssyncignore", Data("# mine\n".utf8))
            _ = try await Self.task(fixture, "cut", .push, 0, of: 1, "last")
            #expect(try await isSent())
        }
    }
}
