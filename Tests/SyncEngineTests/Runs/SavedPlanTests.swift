import Foundation
import ObjectTransfer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// What a dry run saved is done by a later run, as far as nothing changed.
    @Suite("Saved plans")
    struct SavedPlanTests {
        private static let directions: [SyncDirection] = [.pull, .push, .sync]

        /// A mirror "a" in step, with something to do for each direction since.
        private static func changed() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for (index, name) in ["a", "a-x", "d/f", "d/g/h", "e", "gone", "left"].enumerated() {
                try fixture.write("a/" + name, MirrorFixture.ramp(500 + index, index))
            }
            try await fixture.run("a", .push)
            try fixture.write("a/d/f", MirrorFixture.ramp(610, 1))
            try fixture.write("a/a.new", MirrorFixture.ramp(30, 2))
            try fixture.makeDirectory("a/empty")
            try await fixture.put("e", MirrorFixture.ramp(620, 3))
            try await fixture.put("new/there", MirrorFixture.ramp(40, 4))
            try fixture.remove("a/gone")
            try await fixture.deleteObject("left")
            return fixture
        }

        private static func path(_ fixture: MirrorFixture) -> String { fixture.directory("plan") }

        private static func save(
            _ fixture: MirrorFixture,
            _ direction: SyncDirection,
            _ change: (inout RunOptions) -> Void = { $0.deletesKnown = true }
        ) async throws -> RunSummary {
            try await fixture.run("a", direction) { options in
                change(&options)
                options.isDryRun = true
                options.plan = .save(path: path(fixture), command: [direction.rawValue, "DIR"])
            }
        }

        private static func apply(
            _ fixture: MirrorFixture,
            _ direction: SyncDirection,
            _ log: EventLog = EventLog(),
            _ change: (inout RunOptions) -> Void = { $0.deletesKnown = true }
        ) async throws -> RunSummary {
            let plan = try SavedPlan(reading: path(fixture))
            return try await fixture.run("a", direction, log) { options in
                change(&options)
                options.plan = .apply(plan)
            }
        }

        private static func lines(_ fixture: MirrorFixture) throws -> [String] {
            let text = String(decoding: try #require(fixture.content("plan")), as: UTF8.self)
            return text.split(separator: "\n").map(String.init)
        }

        @Test(arguments: directions)
        func `are saved without a change, and carried out as the run itself would`(
            direction: SyncDirection
        ) async throws {
            let (planned, direct) = (try await Self.changed(), try await Self.changed())
            let (tree, objects) = (try planned.tree("a"), try await planned.objects())
            let preview = try await Self.save(planned, direction)
            #expect(try planned.tree("a") == tree)
            #expect(try await planned.objects() == objects)
            let plan = try SavedPlan(reading: Self.path(planned))
            #expect(plan.command == [direction.rawValue, "DIR"])
            #expect(plan.items == preview.transferred + preview.deleted + preview.conflicts)
            #expect(plan.bytes == preview.bytes)
            let applied = try await Self.apply(planned, direction)
            let run = try await direct.run("a", direction) { $0.deletesKnown = true }
            // What a push finds changed in the bucket stays a conflict.
            #expect((applied.conflicts, run.conflicts) == (direction == .push ? (1, 1) : (0, 0)))
            #expect(applied.failed == 0)
            #expect(
                (applied.transferred, applied.deleted, applied.bytes, applied.notInPlan)
                    == (run.transferred, run.deleted, run.bytes, 0)
            )
            #expect(applied.isInStep == run.isInStep)
            #expect(try planned.tree("a") == direct.tree("a"))
            #expect(try await planned.objects() == direct.objects())
        }

        @Test(arguments: directions)
        func `are done already the second time`(direction: SyncDirection) async throws {
            let fixture = try await Self.changed()
            _ = try await Self.save(fixture, direction)
            _ = try await Self.apply(fixture, direction)
            let (tree, objects) = (try fixture.tree("a"), try await fixture.objects())
            let again = try await Self.apply(fixture, direction)
            #expect(again.isComplete == (direction != .push))
            #expect((again.transferred, again.deleted, again.failed) == (0, 0, 0))
            #expect(try fixture.tree("a") == tree)
            #expect(try await fixture.objects() == objects)
        }

        @Test func `leave what is not in them`() async throws {
            let fixture = try await Self.changed()
            _ = try await Self.save(fixture, .push)
            try fixture.write("a/later", MirrorFixture.ramp(20, 7))
            try fixture.remove("a/a-x")
            let summary = try await Self.apply(fixture, .push)
            #expect((summary.failed, summary.notInPlan) == (0, 2))
            #expect(!summary.isInStep)
            let objects = try await fixture.objects()
            #expect(objects.contains("a-x") && !objects.contains("later"))
            #expect(!objects.contains("gone") && objects.contains("a.new"))
        }

        /// The old object may be the only copy of what was renamed.
        @Test(arguments: ["touched", "renamed", "in conflict"])
        func `keep the object of a renamed file that changed since`(_ change: String) async throws {
            let fixture = try await Self.changed()
            try fixture.rename("a/a-x", to: "a/new")
            _ = try await Self.save(fixture, .push)
            switch change {
            case "touched":
                try fixture.setModified("a/new", Date(timeIntervalSince1970: 1_700_000_000))
            case "renamed": try fixture.rename("a/new", to: "a/newer")
            default: try await fixture.put("new", MirrorFixture.ramp(620, 3))
            }
            let summary = try await Self.apply(fixture, .push)
            #expect(summary.deleted == 1 && !summary.isComplete, "\(summary)")
            #expect(try await fixture.object("a-x") == MirrorFixture.ramp(501, 1))
            #expect(try await !fixture.objects().contains("gone"))
        }

        @Test func `refuse what changed here, in the bucket, or in the manifest`() async throws {
            let fixture = try await Self.changed()
            _ = try await Self.save(fixture, .sync)
            try fixture.write("a/d/f", MirrorFixture.ramp(611, 8))
            try fixture.write("a/gone", MirrorFixture.ramp(12, 8))
            try await fixture.put("e", MirrorFixture.ramp(621, 8))
            try await fixture.deleteObject("new/there")
            try fixture.remove("a/a.new")
            let log = EventLog()
            let summary = try await Self.apply(fixture, .sync, log)
            #expect((summary.failed, summary.transferred, summary.deleted) == (5, 1, 1))
            #expect(!summary.isComplete)
            let failed = log.items.filter { $0.state == .failed }
            #expect(Set(failed.map(\.key)) == ["d/f", "gone", "e", "new/there", "a.new"])
            #expect(failed.allSatisfy { $0.message?.contains("since the plan was saved") == true })
            #expect(try await fixture.object("d/f") == MirrorFixture.ramp(502, 2))
            #expect(fixture.content("a/e") == MirrorFixture.ramp(504, 4))
            #expect(fixture.content("a/gone") == MirrorFixture.ramp(12, 8))
            #expect(try await fixture.objects().contains("gone"))
            #expect(!fixture.exists("a/left"))
        }

        @Test func `delete nothing that options or guards of the run forbid`() async throws {
            let fixture = try await Self.changed()
            _ = try await Self.save(fixture, .push)
            let kept = try await Self.apply(fixture, .push) { _ in }
            #expect(kept.failed == 1)
            #expect(try await fixture.objects().contains("gone"))
            let plan = try SavedPlan(reading: Self.path(fixture))
            await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push) { options in
                    options.deletesKnown = true
                    options.deletionLimit = .count(0)
                    options.plan = .apply(plan)
                }
            }
            #expect(try await fixture.objects().contains("gone"))
        }

        @Test func `name the outcome of comparisons, and stop at another one`() async throws {
            let fixture = try MirrorFixture()
            for name in ["same", "edited"] {
                try fixture.write("a/" + name, MirrorFixture.ramp(70, 1))
                try await fixture.put(name, MirrorFixture.ramp(70, 1))
            }
            let old = Date(timeIntervalSince1970: 1_700_000_000)
            for name in ["same", "edited"] { try fixture.setModified("a/" + name, old) }
            _ = try await Self.save(fixture, .sync)
            let lines = try Self.lines(fixture)
            #expect(lines.filter { $0.hasSuffix("\"outcome\":\"adopt\"}") }.count == 2)
            // In place: the inode is the same, and so are the size and the time.
            let handle = try FileHandle(forWritingTo: fixture.folder.appending(path: "a/edited"))
            try handle.write(contentsOf: MirrorFixture.ramp(70, 2))
            try handle.close()
            try fixture.setModified("a/edited", old)
            let summary = try await Self.apply(fixture, .sync)
            #expect((summary.adopted, summary.skipped, summary.conflicts) == (1, 1, 0))
            #expect(fixture.content("a/edited") == MirrorFixture.ramp(70, 2))
            #expect(try fixture.tree("a").count == 2)
        }

        @Test func `are refused when they are damaged, cut, newer, or no plans`() async throws {
            let fixture = try await Self.changed()
            _ = try await Self.save(fixture, .push)
            let content = try #require(fixture.content("plan"))
            func refusal(_ content: Data) throws -> String? {
                try fixture.write("other", content)
                do {
                    _ = try SavedPlan(reading: fixture.directory("other"))
                    return nil
                } catch {
                    #expect(error.code == .configuration)
                    return error.message
                }
            }
            #expect(try refusal(content) == nil)
            for index in content.indices {
                var damaged = content
                damaged[index] ^= 1
                #expect(try refusal(damaged) != nil, "byte \(index)")
            }
            for length in stride(from: 0, to: content.count, by: 7) {
                #expect(try refusal(content.prefix(length)) != nil, "cut at \(length)")
            }
            let text = String(decoding: content, as: UTF8.self)
            let newer = Data(
                text.replacing("{\"osssync_plan\":1", with: "{\"osssync_plan\":2").utf8
            )
            #expect(try refusal(newer)?.contains("version 2") == true)
            #expect(try refusal(Data("hello\n".utf8))?.contains("is not a plan") == true)
            let elsewhere = Data(text.replacing("/mirror/", with: "/others/").utf8)
            #expect(try refusal(elsewhere)?.contains("changed or damaged") == true)
        }

        @Test func `are refused for another remote`() async throws {
            let fixture = try await Self.changed()
            _ = try await Self.save(fixture, .push)
            let plan = try SavedPlan(reading: Self.path(fixture))
            var engine = try fixture.engine("a")
            engine.settings.displayRemote = "oss://fixture/others/"
            let found = await #expect(throws: TransferError.self) {
                try await engine.run(
                    .push,
                    options: MirrorFixture.options { $0.plan = .apply(plan) },
                    onEvent: { _ in }
                )
            }
            #expect(found?.code == .configuration)
            #expect(found?.message.contains("oss://fixture/mirror/") == true)
            let save = PlanUse.save(path: Self.path(fixture), command: ["push"])
            for (use, isDryRun) in [(PlanUse.apply(plan), true), (save, false)] {
                let found = await #expect(throws: TransferError.self) {
                    try await fixture.run("a", .push) { options in
                        (options.plan, options.isDryRun) = (use, isDryRun)
                    }
                }
                #expect(found?.code == .configuration)
            }
            #expect(try await !fixture.objects().contains("a.new"))
        }

        @Test func `replace only plans, and leave no half ones`() async throws {
            let fixture = try await Self.changed()
            try fixture.write("plan", Data("precious".utf8))
            await #expect(throws: TransferError.self) { try await Self.save(fixture, .push) }
            #expect(fixture.content("plan") == Data("precious".utf8))
            try fixture.remove("plan")
            _ = try await Self.save(fixture, .push)
            let first = fixture.content("plan")
            // A refused dry run keeps the older plan.
            await #expect(throws: TransferError.self) {
                try await Self.save(fixture, .push) { options in
                    options.deletesKnown = true
                    options.deletionLimit = .count(0)
                }
            }
            #expect(fixture.content("plan") == first)
            _ = try await Self.save(fixture, .pull)
            #expect(fixture.content("plan") != first)
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
            #expect(!names.contains { $0.hasSuffix(".partial") })
        }

        @Test func `are limited to the paths of their run`() async throws {
            let fixture = try await Self.changed()
            func inGone(_ options: inout RunOptions) {
                (options.deletesKnown, options.paths) = (true, ["gone"])
            }
            let preview = try await Self.save(fixture, .push, inGone)
            #expect(preview.deleted == 1)
            let log = EventLog()
            #expect(try await Self.apply(fixture, .push, log, inGone).deleted == 1)
            #expect(try await !fixture.objects().contains("a.new"))
            // The path exists nowhere any more.
            #expect(try await Self.apply(fixture, .push, log, inGone).isComplete)
        }

        @Test func `send no other permissions than those that were planned`() async throws {
            let fixture = try MirrorFixture()
            func set(_ name: String, _ mode: Int) throws {
                try FileManager.default.setAttributes(
                    [.posixPermissions: mode],
                    ofItemAtPath: fixture.directory("a/" + name)
                )
            }
            for name in ["changed", "left"] {
                try fixture.write("a/" + name, MirrorFixture.ramp(500))
                try set(name, 0o644)
            }
            try await fixture.run("a", .push)
            for name in ["changed", "left"] { try set(name, 0o600) }
            try fixture.write("a/new", MirrorFixture.ramp(30))
            #expect(try await Self.save(fixture, .push).modes == 2)
            for name in ["changed", "new"] { try set(name, 0o666) }
            let log = EventLog()
            let applied = try await Self.apply(fixture, .push, log)
            #expect((applied.modes, applied.failed, applied.transferred) == (1, 2, 0))
            let failed = log.items.filter { $0.state == .failed }
            #expect(Set(failed.map(\.key)) == ["changed", "new"])
            #expect(failed.allSatisfy { $0.message?.contains("since the plan was saved") == true })
        }

        @Test func `note whether both sides were equal after them`() async throws {
            let fixture = try MirrorFixture()
            for name in ["a", "d/f"] { try fixture.write("a/" + name, MirrorFixture.ramp(50)) }
            try await fixture.run("a", .push)
            #expect(try await Self.wasInStep(fixture) == true)
            try fixture.write("a/a", MirrorFixture.ramp(60, 1))
            _ = try await Self.save(fixture, .push)
            try fixture.write("a/d/f", MirrorFixture.ramp(70, 2))
            let summary = try await Self.apply(fixture, .push)
            #expect(!summary.isInStep)
            #expect(try await Self.wasInStep(fixture) == false)
        }

        private static func wasInStep(_ fixture: MirrorFixture) async throws -> Bool? {
            var found: Bool?
            try await fixture.inState { found = try await LastSuccess.isInStep($0.manifest) }
            return found
        }
    }
}
