import Foundation
import LocalStorage
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("A directory that goes away during a run")
    struct DirectoryGoneTests {
        /// What becomes of the directory `top/a`.
        enum Fate: String, CaseIterable {
            case removed, movedAway, replaced, parentMoved, markerRemoved

            func happens(to fixture: MirrorFixture) throws {
                let manager = FileManager.default
                let (top, place) = (fixture.directory("top"), fixture.directory("top/a"))
                switch self {
                case .removed: try manager.removeItem(atPath: place)
                case .movedAway: try manager.moveItem(atPath: place, toPath: top + "/b")
                case .replaced:
                    try manager.moveItem(atPath: place, toPath: top + "/b")
                    try manager.createDirectory(
                        atPath: place + "/.osssync",
                        withIntermediateDirectories: true
                    )
                    try manager.copyItem(
                        atPath: top + "/b/.osssync/marker",
                        toPath: place + "/.osssync/marker"
                    )
                case .parentMoved:
                    try manager.moveItem(atPath: top, toPath: fixture.directory("elsewhere"))
                case .markerRemoved: try fixture.remove("top/a/.osssync/marker")
                }
            }
        }

        /// Sixty recorded files on both sides.
        private func fixture() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for index in 0..<60 { try fixture.write("top/a/f\(1_000 + index)", Data([1])) }
            try await fixture.run("top/a", .push)
            return fixture
        }

        private func run(
            _ direction: SyncDirection,
            _ fixture: MirrorFixture,
            batch: Int = 1_000,
            _ hook: @escaping HookedStore.Hook
        ) async throws -> (error: TransferError?, summary: RunSummary?) {
            var engine = try fixture.engine("top/a") { HookedStore($0, hook: hook) }
            engine.settings.limits.batch = batch
            let options = MirrorFixture.options { options in
                options.deletesKnown = true
                options.deletionLimit = .percent(100)
            }
            let log = EventLog()
            do throws(TransferError) {
                _ = try await engine.run(direction, options: options, onEvent: log.add)
                return (nil, log.summary)
            } catch {
                return (error, log.summary)
            }
        }

        @Test(arguments: Fate.allCases)
        func `no object is deleted for what its directory took along`(fate: Fate) async throws {
            let fixture = try await fixture()
            for index in 0..<20 { try fixture.remove("top/a/f\(1_000 + index)") }
            // Between the look at the objects and the request that deletes them.
            let (error, summary) = try await run(.push, fixture) { call throws(StorageError) in
                guard call.operation == "ListObjectsV2", call.number == 2, call.moment == .after
                else { return }
                try? fate.happens(to: fixture)
            }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("moved, replaced or removed during the run") == true)
            #expect(summary?.deleted == 0)
            #expect(summary?.deletionsHeldBack == error?.message)
            #expect(try await fixture.objects().count == 60)
        }

        @Test func `what is renamed while it is read stays in the bucket`() async throws {
            var changes = 0
            for number in stride(from: 9, through: 61, by: 4) {
                let fixture = try MirrorFixture()
                for path in ["b/1", "c/1", "d/x", "d/y", "e/1", "f"] {
                    try fixture.write("a/" + path, Data(path.utf8))
                }
                try await fixture.run("a", .push)
                let faults = SystemCallFaults(before: [number], of: "readdir") { _ in
                    for (old, new) in [("a/d", "a/a"), ("a/f", "a/a-file")] {
                        try? FileManager.default.moveItem(
                            atPath: fixture.directory(old),
                            toPath: fixture.directory(new)
                        )
                    }
                }
                let calls = SystemCalls(usesOpenat2: true, faults: faults)
                let summary = try await fixture.engine("a", calls: calls).run(
                    .push,
                    options: MirrorFixture.options { $0.deletesKnown = true },
                    onEvent: { _ in }
                )
                let objects = try await fixture.objects()
                for names in [["d/x", "a/x"], ["d/y", "a/y"], ["f", "a-file"]] {
                    #expect(names.contains(where: objects.contains), "\(number): \(names)")
                }
                if summary.directoryChanged { changes += 1 }
                #expect(summary.deleted == 0 || !summary.directoryChanged)
                try await fixture.run("a", .push) { $0.deletesKnown = true }
                let isRenamed = fixture.content("a/a/x") != nil
                #expect(try await fixture.objects().contains("d/x") != isRenamed)
            }
            #expect(changes > 0)
        }

        @Test func `after the first batch nothing more is deleted`() async throws {
            let fixture = try await fixture()
            for index in 0..<20 { try fixture.remove("top/a/f\(1_000 + index)") }
            let (error, summary) = try await run(.push, fixture, batch: 10) {
                call throws(StorageError) in
                guard call.operation == "DeleteMultipleObjects", call.moment == .after
                else { return }
                try? Fate.movedAway.happens(to: fixture)
            }
            #expect(error?.code == .refused)
            #expect(summary?.deleted == 10)
            #expect(try await fixture.objects().count == 50)
        }

        @Test(arguments: Fate.allCases)
        func `a directory that goes after the last deletion is not in step`(fate: Fate) async throws
        {
            let fixture = try await fixture()
            try await fixture.deleteObject("f1000")
            // Right before the one file is deleted whose object is gone.
            let (error, summary) = try await run(.sync, fixture) { call throws(StorageError) in
                guard call.operation == "HeadObject", call.moment == .before else { return }
                try? fate.happens(to: fixture)
            }
            #expect(error != nil)
            // Without its marker nothing can be recorded either, which may be met first.
            if fate != .markerRemoved { #expect(error?.code == .refused) }
            #expect(summary?.isInStep == false)
            #expect(summary?.stopped == error?.message)
        }

        @Test(arguments: Fate.allCases)
        func `no file of a directory that was moved away is deleted`(fate: Fate) async throws {
            let fixture = try await fixture()
            for index in 0..<20 { try await fixture.deleteObject("f\(1_000 + index)") }
            let (error, summary) = try await run(.sync, fixture) { call throws(StorageError) in
                guard call.operation == "ListObjectsV2", call.moment == .after else { return }
                try? fate.happens(to: fixture)
            }
            // The walk may have met it, and then nothing is left to refuse.
            #expect(error != nil || summary?.isComplete == false)
            #expect(summary?.deleted == 0)
            #expect(try await fixture.objects().count == 40)
            let place =
                switch fate {
                case .removed, .markerRemoved: "top/a"
                case .movedAway, .replaced: "top/b"
                case .parentMoved: "elsewhere/a"
                }
            guard fate != .removed else { return }
            #expect(try fixture.tree(place).count == 60)
        }

        /// What is left in a directory that lost everything else.
        enum Rest: CaseIterable {
            case excluded
            case tooLarge
            case ignoredDirectory
            case link

            func make(in fixture: MirrorFixture) throws {
                switch self {
                case .excluded: try fixture.write("a/d/j.tmp", Data([1]))
                case .tooLarge: try fixture.write("a/d/big", MirrorFixture.ramp(3_000))
                case .ignoredDirectory: try fixture.makeDirectory("a/d/empty")
                case .link:
                    try fixture.makeDirectory("a/d")
                    try FileManager.default.createSymbolicLink(
                        atPath: fixture.directory("a/d/link"),
                        withDestinationPath: "nowhere"
                    )
                }
            }

            func select(_ options: inout RunOptions) {
                switch self {
                case .excluded: try? options.filter.exclude("*.tmp")
                case .tooLarge: options.filter.bounds.maximumSize = 1_000
                case .ignoredDirectory: options.keepsEmptyDirectories = false
                case .link: break
                }
            }
        }

        @Test(arguments: Rest.allCases, [SyncDirection.push, .sync])
        func `a directory that has nothing the run selects is empty`(
            rest: Rest,
            direction: SyncDirection
        ) async throws {
            let fixture = try MirrorFixture()
            for index in 0..<8 { try fixture.write("a/d/f\(index)", MirrorFixture.ramp(50, index)) }
            try await fixture.run("a", .push)
            try fixture.remove("a/d")
            try rest.make(in: fixture)
            await #expect(throws: TransferError.self) {
                try await fixture.run("a", direction) { options in
                    options.deletesKnown = true
                    rest.select(&options)
                }
            }
            #expect(try await fixture.objects().filter { $0.hasPrefix("d/f") }.count == 8)
        }
    }
}
