import Foundation
import ObjectStorage
import SyncModel
import SyncTestSupport
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// `status`, a dry run and the run after them see one world, and so must say the same of it.
    @Suite("Status, dry run and run agree")
    struct PlanAgreementTests {
        private static let names = ["a", "a.txt", "b", "d/f", "d/g", "e/h/i", "k", "m/", "n/o"]
        /// Whole worlds in the suite; `make soak` plays more of them.
        private static let worlds =
            ProcessInfo.processInfo.environment["OSSSYNC_PLAN_WORLDS"].flatMap(UInt64.init) ?? 150

        /// One directory and one bucket after whatever happened since their last sync.
        private struct World {
            let fixture: MirrorFixture
            var generator: SeededGenerator
            var written = 0
            let dialect: StorageDialect

            init(seed: UInt64) throws {
                var generator = SeededGenerator(seed: seed)
                dialect = generator.oneIn(3) ? .s3 : .oss
                fixture = try MirrorFixture(dialect: dialect)
                self.generator = generator
                try fixture.makeDirectory("a")
            }

            mutating func content() -> Data {
                written += 1
                return MirrorFixture.ramp(100 + written, written)
            }

            /// What both sides have in the beginning.
            mutating func begin() async throws {
                for name in PlanAgreementTests.names where generator.below(3) > 0 {
                    if name.hasSuffix("/") {
                        try fixture.makeDirectory("a/" + name.dropLast())
                    } else if !isBlocked(name) {
                        try fixture.write("a/" + name, content())
                    }
                }
                guard generator.below(8) > 0 else { return }
                _ = try await fixture.run("a", .push) { $0.allowsEmpty = true }
            }

            private func isBlocked(_ name: String) -> Bool {
                let path = fixture.directory("a/" + name)
                let attributes = try? FileManager.default.attributesOfItem(atPath: path)
                return attributes?[.type] as? FileAttributeType == .typeDirectory
            }

            mutating func changeLocal() throws {
                let name = generator.pick(PlanAgreementTests.names.filter { !$0.hasSuffix("/") })
                let path = "a/" + name
                switch generator.below(6) {
                case 0: if fixture.exists(path), !isBlocked(name) { try fixture.remove(path) }
                case 1:
                    guard fixture.exists(path), !isBlocked(name) else { return }
                    let date = Date(timeIntervalSince1970: Double(1_700_000_000 + written))
                    try fixture.setModified(path, date)
                case 2:
                    let other = generator.pick(PlanAgreementTests.names)
                    guard let content = fixture.content(path), !other.hasSuffix("/"),
                        !fixture.exists("a/" + other)
                    else { return }
                    try fixture.write("a/" + other, content)
                    try fixture.remove(path)
                case 3:
                    // A directory in the place of a file.
                    guard fixture.exists(path), !isBlocked(name) else { return }
                    try fixture.remove(path)
                    try fixture.write(path + "/x", content())
                case 4:
                    guard generator.oneIn(3), fixture.exists(path), !isBlocked(name) else { return }
                    try fixture.remove(path)
                    try fixture.link(path, to: "nowhere")
                default:
                    guard !isBlocked(name) else { return }
                    try fixture.write(path, content())
                }
            }

            mutating func changeRemote() async throws {
                let name = generator.pick(PlanAgreementTests.names)
                let objects = try await fixture.objects()
                switch generator.below(5) {
                case 0:
                    if objects.contains(name) { try await fixture.deleteObject(name) }
                case 1:
                    let other = generator.pick(PlanAgreementTests.names)
                    guard objects.contains(name), !name.hasSuffix("/"), !other.hasSuffix("/"),
                        name != other
                    else { return }
                    try await fixture.put(other, try await fixture.object(name))
                    try await fixture.deleteObject(name)
                case 2:
                    // The same content again: another version of no other content.
                    guard objects.contains(name) else { return }
                    try await fixture.put(name, try await fixture.object(name))
                case 3: try await fixture.put(generator.oneIn(2) ? "a/under" : "../x", content())
                default:
                    try await fixture.put(name, name.hasSuffix("/") ? Data() : content())
                }
            }

            mutating func options() -> (SyncDirection, RunOptions) {
                let direction = generator.pick([SyncDirection.pull, .push, .sync])
                var options = MirrorFixture.options()
                options.deletesKnown = generator.oneIn(2)
                options.deletesExtra = options.deletesKnown && generator.oneIn(3)
                if generator.oneIn(2) { options.deletionLimit = .percent(100) }
                options.allowsEmpty = generator.oneIn(2)
                options.replacesLocalChanges = generator.oneIn(4)
                options.comparesContent = generator.oneIn(4)
                options.conflictPolicy = generator.pick([.keepBoth, .local, .remote, .skip])
                if generator.oneIn(3) {
                    let paths = ["a", "a.txt", "b", "d", "d/f", "e", "e/h", "m", "n/o"]
                    options.paths = (0..<generator.below(3)).map { _ in generator.pick(paths) }
                }
                return (direction, options)
            }
        }

        /// What a run did, or a dry run said that it would do, by key.
        ///
        /// A file that becomes a new key is deleted where it was: a run says that with the new key.
        private static func steps(_ log: EventLog, besides renamed: Set<String>) -> [String] {
            log.items.filter { item in
                if item.action == .deleteLocal, renamed.contains(item.key) { return false }
                return switch item.state {
                case .planned, .done, .skipped: true
                case .started, .resumed, .failed: false
                }
            }
            .map { "\($0.action.rawValue) \($0.key)" }.sorted()
        }

        /// The files that became others, as a run says of them.
        private static func renamed(_ log: EventLog) -> Set<String> {
            let start = "renamed from '"
            return Set(
                log.items.compactMap { item in
                    guard let message = item.message, message.hasPrefix(start) else { return nil }
                    return String(message.dropFirst(start.count).dropLast())
                }
            )
        }

        private static func counts(_ summary: RunSummary) -> [String: Int] {
            [
                "transferred": summary.transferred, "bytes": Int(summary.bytes),
                "deleted": summary.deleted, "renamed": summary.renamed,
                "adopted": summary.adopted, "unchanged": summary.unchanged,
                "conflicts": summary.conflicts, "skipped": summary.skipped,
                "local changes": summary.localChanges, "only local": summary.onlyLocal,
                "only remote": summary.onlyRemote, "deleted here": summary.deletedHere,
                "deleted there": summary.deletedThere,
                "held back": summary.deletionsHeldBack == nil ? 0 : 1,
            ]
        }

        private static func difference(_ one: [String: Int], _ other: [String: Int]) -> [String] {
            one.keys.sorted().filter { one[$0] != other[$0] }
                .map { "\($0): \(one[$0] ?? 0), not \(other[$0] ?? 0)" }
        }

        private func refusal(
            _ run: () async throws(TransferError) -> RunSummary
        ) async -> TransferError.Code? {
            do throws(TransferError) {
                _ = try await run()
                return nil
            } catch {
                return error.code
            }
        }

        @Test(arguments: 0..<worlds)
        func `in a random world`(seed: UInt64) async throws {
            var world = try World(seed: seed)
            try await world.begin()
            for _ in 0..<world.generator.below(6) { try world.changeLocal() }
            for _ in 0..<world.generator.below(6) { try await world.changeRemote() }
            let (direction, options) = world.options()
            let engine = try world.fixture.engine("a")
            var look = options
            look.isDryRun = true
            let (said, did) = (EventLog(), EventLog())
            let status: StatusReport
            do {
                status = try await engine.status(options: options)
            } catch {
                // A path that leads nowhere does so for all three.
                try #require(error.code == .configuration && !options.paths.isEmpty)
                for options in [look, options] {
                    let refusal = await refusal { () throws(TransferError) in
                        try await engine.run(direction, options: options, onEvent: did.add)
                    }
                    #expect(refusal == .configuration, "seed \(seed)")
                }
                return
            }
            // Half of the runs carry out what the dry run saved, which must be the same.
            let isSaved = seed % 2 == 0
            let path = world.fixture.directory("plan")
            if isSaved { look.plan = .save(path: path, command: []) }
            let expected = await refusal { () throws(TransferError) in
                try await engine.run(direction, options: look, onEvent: said.add)
            }
            var carryingOut = options
            if isSaved, expected == nil {
                carryingOut.plan = .apply(try SavedPlan(reading: path))
            }
            let run = carryingOut
            let refusal = await refusal { () throws(TransferError) in
                try await engine.run(direction, options: run, onEvent: did.add)
            }
            #expect(did.summary?.notInPlan == 0, "seed \(seed), \(direction)")
            #expect(expected == refusal, "seed \(seed), \(direction)")
            #expect(refusal == nil || refusal == .refused, "seed \(seed), \(direction)")
            let dry = try #require(said.summary)
            let done = try #require(did.summary)
            let text = "seed \(seed), \(direction)"
            let held = dry.deletionsHeldBack != nil
            #expect(held == (done.deletionsHeldBack != nil), "\(text): \(done)")
            if !held {
                let renamed = Self.renamed(did)
                let planned = Self.steps(said, besides: renamed)
                let carried = Self.steps(did, besides: renamed)
                #expect(
                    planned == carried,
                    "\(text): said \(planned), did \(carried)"
                )
                let wrong = Self.difference(Self.counts(dry), Self.counts(done))
                #expect(wrong.isEmpty, "\(text): \(wrong)")
                if isSaved { try await doesNothing(engine, direction, run, text) }
            }
            compare(direction, status, dry, text)
        }

        /// A plan that is carried out again finds everything done.
        private func doesNothing(
            _ engine: MirrorEngine,
            _ direction: SyncDirection,
            _ options: RunOptions,
            _ text: String
        ) async throws {
            let again = try await engine.run(direction, options: options, onEvent: { _ in })
            #expect(
                (again.transferred, again.renamed, again.deleted, again.failed) == (0, 0, 0, 0),
                "\(text): the second time \(again)"
            )
        }

        private func compare(
            _ direction: SyncDirection,
            _ status: StatusReport,
            _ dry: RunSummary,
            _ text: String
        ) {
            let work =
                switch direction {
                case .pull: status.pull
                case .push: status.push
                case .sync: status.sync
                }
            #expect(work.conflicts + work.comparisons >= dry.conflicts, "\(text): \(work)")
            #expect(work.skipped == dry.skipped, "\(text): \(work), \(dry.skipped)")
            if work.comparisons == 0 {
                let moved = dry.transferred + dry.renamed
                let counted = work.transfers + work.renames
                #expect(counted == moved, "\(text): \(work), not \(moved)")
                #expect(work.deletions >= dry.deleted, "\(text): \(work), not \(dry.deleted)")
                #expect(work.conflicts == dry.conflicts, "\(text): \(work), \(dry.conflicts)")
            }
        }
    }
}
