import Foundation
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    @Suite("Directories that a file in them excludes")
    struct TaggedDirectoryTests {
        private static let signature = "Signature: 8a477f597d28d172789f06886806bc55"

        /// The options with which `.nobackup` and caches are recognized.
        private static func options(_ options: inout RunOptions) {
            options.filter.tags.names = [".nobackup"]
            options.filter.tags.recognizesCaches = true
            options.deletesKnown = true
        }

        private func fixture(_ files: [String: String]) throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for (name, text) in files { try fixture.write("a/\(name)", Data(text.utf8)) }
            return fixture
        }

        @Test func `nothing of them is sent, nor of what is beneath`() async throws {
            let fixture = try fixture([
                "f": "1", "a/.nobackup": "", "a/f": "1", "a/deep/f": "1", "b/nobackup": "1",
                "cache/CACHEDIR.TAG": Self.signature + "\n# a comment", "cache/f": "1",
                "fake/CACHEDIR.TAG": "Signature: 0", "a-b": "1", "z/deep/.nobackup": "", "z/f": "1",
            ])
            let summary = try await fixture.run("a", .push, EventLog(), Self.options)
            #expect(summary.isComplete)
            #expect(summary.excluded == 3)
            #expect(
                try await fixture.objects() == [
                    "a-b", "b/nobackup", "f", "fake/CACHEDIR.TAG", "z/f",
                ]
            )
            // The directory itself was named by the user.
            try fixture.write("a/.nobackup", Data())
            let again = try await fixture.run("a", .push, EventLog(), Self.options)
            #expect(again.transferred == 1)
        }

        @Test(arguments: SyncDirection.allCases)
        func `nothing beneath is transferred or deleted on either side`(
            direction: SyncDirection
        ) async throws {
            let fixture = try fixture(["d/kept": "1", "d/lost": "1", "d/gone": "1", "e": "1"])
            try await fixture.run("a", .push)
            try fixture.write("a/d/.nobackup", Data())
            try fixture.remove("a/d/lost")
            try fixture.write("a/d/new", Data([1]))
            try await fixture.deleteObject("d/gone")
            try await fixture.put("d/other", Data([1]))
            let summary = try await fixture.run("a", direction) { options in
                Self.options(&options)
                (options.deletesExtra, options.deletesExcluded) = (true, true)
                options.deletionLimit = .percent(100)
            }
            #expect(summary.isComplete, "\(summary)")
            #expect(summary.deleted == 0 && summary.transferred == 0)
            #expect(try await fixture.objects() == ["d/kept", "d/lost", "d/other", "e"])
            // Their rows are kept: without the tag, what is on both sides is known again. What went
            // meanwhile, nobody deleted.
            try fixture.remove("a/d/.nobackup")
            let later = try await fixture.run("a", .sync) { $0.deletesKnown = true }
            #expect(later.conflicts == 0)
            #expect(later.deleted == 0 && later.isInStep)
            #expect(
                try await fixture.objects() == [
                    "d/gone", "d/kept", "d/lost", "d/new", "d/other", "e",
                ]
            )
        }

        @Test func `a link is no tag of a cache`() async throws {
            let fixture = try fixture(["d/f": "1", "tag": Self.signature])
            try fixture.link("a/d/CACHEDIR.TAG", to: "../tag")
            try await fixture.run("a", .push, EventLog(), Self.options)
            #expect(try await fixture.objects() == ["d/f", "tag"])
        }

        @Test func `a mount beneath one is not missed, and stays known`() async throws {
            let fixture = try fixture(["d/disk/f": "1", "e": "1", "k": "1"])
            try await fixture.run("a", .push)
            try await fixture.noteMount("d/disk")
            try fixture.write("a/d/.nobackup", Data())
            try fixture.remove("a/e")
            let summary = try await fixture.run("a", .push) { options in
                Self.options(&options)
                options.deletionLimit = .percent(100)
            }
            // Elsewhere, deletions go on.
            #expect(summary.isComplete && summary.deleted == 1, "\(summary)")
            #expect(try await fixture.objects() == ["d/disk/f", "k"])
            // Not mounted and not excluded any more, it holds deletions back as before.
            try fixture.remove("a/d/.nobackup")
            try fixture.remove("a/d/disk/f")
            let after = try await fixture.run("a", .push) { options in
                options.deletesKnown = true
                options.deletionLimit = .percent(100)
            }
            #expect(after.deleted == 0 && !after.isComplete)
            #expect(try await fixture.objects() == ["d/disk/f", "k"])
        }

        /// Its tag is in one shard, and files in it are in another.
        @Test(arguments: ["CACHEDIR.TAG", "zz"], [true, false])
        func `one that is divided by a cut is left out as a whole`(
            tag: String,
            isCut: Bool
        ) async throws {
            let fixture = try fixture(["cache/f0": "0", "cache/f1": "1", "cache/f2": "2", "k": "1"])
            try fixture.write("a/cache/" + tag, Data(Self.signature.utf8))
            try await fixture.run("a", .push)
            if isCut {
                var cut = CutOptions()
                cut.bounds = [[UInt8]("cache/f1".utf8)]
                _ = try await fixture.engine("a").cut(cut) { _ in }
            }
            let recognizing: (inout RunOptions) -> Void = { options in
                Self.options(&options)
                options.filter.tags.names.insert("zz")
                options.deletionLimit = .percent(100)
            }
            let push = try await fixture.run("a", .push, EventLog(), recognizing)
            #expect(push.notMirrored == 4 && push.isComplete, "\(push)")
            let objects = try await fixture.objects()
            try await fixture.deleteObject("cache/f0")
            try await fixture.deleteObject("cache/f2")
            let sync = try await fixture.run("a", .sync, EventLog(), recognizing)
            #expect(sync.deleted == 0 && sync.transferred == 0, "\(sync)")
            // What vanished on one side meanwhile is fetched or sent.
            try fixture.remove("a/cache/" + tag)
            try fixture.remove("a/cache/f1")
            let last = try await fixture.run("a", .sync, EventLog(), recognizing)
            #expect(last.deleted == 0 && last.transferred == 4 && last.isInStep, "\(last)")
            #expect(try await fixture.objects() == objects)
            #expect(fixture.exists("a/cache/f1"))
        }

        @Test func `status counts them as excluded`() async throws {
            let fixture = try fixture(["d/.nobackup": "", "d/f": "1", "e": "1"])
            let status = try await fixture.engine("a").status(
                options: MirrorFixture.options(Self.options)
            )
            #expect(status.differences.excluded == 1)
            #expect(status.push.transfers == 1)
        }
    }
}
