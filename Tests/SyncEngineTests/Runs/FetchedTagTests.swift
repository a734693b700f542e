import Foundation
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// A tag counts only if this machine made it.
    @Suite("Tags from the bucket")
    struct FetchedTagTests {
        private static let signature = Data("Signature: 8a477f597d28d172789f06886806bc55\n".utf8)

        static let tags = ["CACHEDIR.TAG", ".nobackup"]

        private static func recognizing(_ options: inout RunOptions) {
            options.filter.tags.recognizesCaches = true
            options.filter.tags.names = [".nobackup"]
            (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
        }

        private func mirror() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for name in ["photos/a", "photos/b", "f"] {
                // Files of one moment are told apart by their sizes.
                try fixture.write("a/" + name, MirrorFixture.ramp(100 + name.count))
            }
            try await fixture.run("a", .push)
            return fixture
        }

        @Test(arguments: tags, [true, false])
        func `leave nothing out`(tag: String, isRecognized: Bool) async throws {
            let fixture = try await mirror()
            try await fixture.put("photos/" + tag, Self.signature)
            // Also one that an earlier run has fetched, which did not know of tags.
            try await fixture.run("a", .sync) { if isRecognized { Self.recognizing(&$0) } }
            #expect(fixture.exists("a/photos/" + tag))
            try fixture.write("a/photos/a", MirrorFixture.ramp(50))
            try fixture.write("a/photos/new", Data([1]))
            let summary = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            #expect(summary.transferred == 2 && summary.isInStep, "\(summary)")
            // The same content under another tag of the object is still the bucket's.
            try await fixture.put("photos/" + tag, Self.signature)
            try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            try await fixture.deleteObject("photos/" + tag)
            let after = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            #expect(after.deleted == 1 && after.isInStep, "\(after)")
            #expect(!fixture.exists("a/photos/" + tag))
        }

        @Test(arguments: tags)
        func `leave nothing out after a push has sent them again`(tag: String) async throws {
            let fixture = try await mirror()
            try await fixture.put("photos/" + tag, Self.signature)
            try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            try await fixture.deleteObject("photos/" + tag)
            let sent = try await fixture.run("a", .push, EventLog(), Self.recognizing)
            #expect(sent.transferred == 1 && sent.isInStep, "\(sent)")
            try fixture.write("a/photos/new", Data([1]))
            let summary = try await fixture.run("a", .push, EventLog(), Self.recognizing)
            #expect(summary.transferred == 1 && summary.isInStep, "\(summary)")
        }

        @Test(arguments: tags, [SyncDirection.push, .sync])
        func `keep what their directory had, if that is renamed`(
            tag: String,
            _ direction: SyncDirection
        ) async throws {
            let fixture = try await mirror()
            try await fixture.put("photos/" + tag, Self.signature)
            try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            try fixture.rename("a/photos", to: "a/pictures")
            try fixture.rename("a/f", to: "a/g")
            for _ in 0..<2 {
                let run = try await fixture.run("a", direction, EventLog(), Self.recognizing)
                #expect(run.deletionsHeldBack != nil && !run.isInStep, "\(run)")
            }
            let objects = try await fixture.objects()
            #expect(objects.contains("photos/a") && objects.contains("photos/b"), "\(objects)")
            #expect(!objects.contains("f"))
        }

        @Test(arguments: tags, ["copy", "zcopy"])
        func `are named in copies of their directories, which they leave out`(
            tag: String,
            name: String
        ) async throws {
            let fixture = try await mirror()
            try fixture.write("a/own/" + tag, Self.signature + Data("of this machine".utf8))
            try await fixture.put("photos/" + tag, Self.signature)
            try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            try fixture.makeDirectory("a/" + name)
            for file in try fixture.names(in: "a/photos") {
                let content = try #require(fixture.content("a/photos/" + file))
                try fixture.write("a/\(name)/" + file, content)
            }
            for index in 0..<3 {
                // What is gone may be in the copy only.
                if index == 1 { try fixture.remove("a/photos") }
                let options = MirrorFixture.options(Self.recognizing)
                let report = try await fixture.engine("a").status(options: options)
                #expect(report.differences.notMirrored == 1 && !report.isInStep, "\(report)")
                let log = EventLog()
                let run = try await fixture.run("a", .sync, log, Self.recognizing)
                #expect(run.notMirrored == 1 && !run.isInStep && run.deleted == 0, "\(run)")
                #expect(run.notMirroredKinds == [.copiedTag])
                #expect(log.warnings.contains { $0.contains("'\(name)' is left out") })
            }
            try fixture.remove("a/\(name)/" + tag)
            let run = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            #expect(run.isInStep && run.deleted == 3, "\(run)")
            #expect(try await fixture.objects().contains(name + "/a"))
        }

        /// The tag itself stays, which `mv photos/*` does not move.
        @Test(arguments: tags, [true, false])
        func `hold back what was moved to a directory with a copy of them`(
            tag: String,
            keepsTimes: Bool
        ) async throws {
            let fixture = try await mirror()
            try await fixture.put("photos/" + tag, Self.signature)
            try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            for name in try fixture.names(in: "a/photos") {
                let old = "a/photos/" + name
                let modified = try fixture.modified(old)
                try fixture.write("a/p2/" + name, try #require(fixture.content(old)))
                if keepsTimes { try fixture.setModified("a/p2/" + name, modified) }
                if name != tag { try fixture.remove(old) }
            }
            // From elsewhere, with its time.
            let modified = try fixture.modified("a/f")
            try fixture.rename("a/f", to: "a/p2/f2")
            try fixture.setModified("a/p2/f2", modified)
            let before = try await fixture.objects()
            let options = MirrorFixture.options(Self.recognizing)
            let report = try await fixture.engine("a").status(options: options)
            #expect(report.sync.deletions == 0, "\(report)")
            for direction in [SyncDirection.push, .sync] {
                let run = try await fixture.run("a", direction, EventLog(), Self.recognizing)
                #expect(run.deletionsHeldBack != nil && run.deleted == 0, "\(run)")
                #expect(run.notMirrored == 1 && !run.isInStep)
            }
            #expect(try await fixture.objects() == before)
        }

        /// Programs write the same tag into each of their caches.
        @Test(arguments: tags)
        func `are no originals of what this machine made with the same content`(
            tag: String
        ) async throws {
            let fixture = try await mirror()
            try await fixture.put("photos/" + tag, Self.signature)
            try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            try fixture.write("a/cache/" + tag, Self.signature)
            try fixture.write("a/cache/entry", Data([1]))
            try fixture.remove("a/photos/a")
            let run = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            #expect(run.notMirrored == 0 && run.isInStep && run.deleted == 1, "\(run)")
        }

        @Test(arguments: tags)
        func `count once they were changed here`(tag: String) async throws {
            let fixture = try await mirror()
            try await fixture.put("photos/" + tag, Self.signature)
            try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            try fixture.write("a/photos/" + tag, Self.signature + Data("# mine".utf8))
            try fixture.write("a/photos/new", Data([1]))
            let summary = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            #expect(summary.transferred == 0 && !summary.isInStep, "\(summary)")
        }

        @Test(arguments: tags)
        func `count if they were made here and sent`(tag: String) async throws {
            let fixture = try await mirror()
            try fixture.write("a/photos/" + tag, Self.signature)
            try await fixture.run("a", .push)
            try fixture.write("a/photos/new", Data([1]))
            let summary = try await fixture.run("a", .push, EventLog(), Self.recognizing)
            #expect(summary.transferred == 0 && !summary.isInStep, "\(summary)")
        }

        @Test(arguments: tags)
        func `leave nothing out for a manifest that does not know where they are from`(
            tag: String
        ) async throws {
            let fixture = try await mirror()
            try await fixture.put("photos/" + tag, Self.signature)
            try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            for name in try fixture.names(in: "a/.osssync") where name.hasPrefix("manifest") {
                try fixture.remove("a/.osssync/" + name)
            }
            for index in 0..<2 {
                try fixture.write("a/photos/new\(index)", Data([1]))
                let summary = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
                #expect(summary.transferred == 1 && summary.isInStep, "\(summary)")
            }
        }

        /// The tag, and its row, are in the first of two shards.
        @Test(arguments: tags)
        func `leave nothing out in another shard`(tag: String) async throws {
            let fixture = try await mirror()
            var cut = CutOptions()
            cut.bounds = [[UInt8]("photos/b".utf8)]
            _ = try await fixture.engine("a").cut(cut) { _ in }
            try await fixture.put("photos/" + tag, Self.signature)
            for _ in 0..<2 {
                try fixture.write("a/photos/b", MirrorFixture.ramp(50))
                let summary = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
                #expect(summary.notMirrored == 0 && summary.isInStep, "\(summary)")
                #expect(try await fixture.object("photos/b") == MirrorFixture.ramp(50))
            }
            // It was changed here, which is the other shard's to know.
            try fixture.write("a/photos/" + tag, Self.signature + Data("# mine".utf8))
            try fixture.write("a/photos/new", Data([1]))
            let summary = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            #expect(summary.transferred == 0 && !summary.isInStep, "\(summary)")
        }

        @Test func `leave nothing out as links of the bucket`() async throws {
            let fixture = try await mirror()
            func sync() async throws -> RunSummary {
                try await fixture.run("a", .sync) { options in
                    Self.recognizing(&options)
                    options.links = .store
                }
            }
            try await fixture.put("photos/.nobackup.rclonelink", Data("../f".utf8))
            _ = try await sync()
            try fixture.write("a/photos/new", Data([1]))
            let summary = try await sync()
            #expect(summary.transferred == 1 && summary.isInStep, "\(summary)")
        }

        @Test func `one of each is one of this machine`() async throws {
            let fixture = try await mirror()
            try await fixture.put("photos/.nobackup", Self.signature)
            try await fixture.run("a", .sync)
            try fixture.write("a/photos/CACHEDIR.TAG", Self.signature + Data("\n".utf8))
            let summary = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            #expect(summary.transferred == 0 && summary.notMirrored == 3, "\(summary)")
        }

        @Test func `a missing mount beneath one is missed`() async throws {
            let fixture = try await mirror()
            try fixture.write("a/photos/disk/g", Data([1]))
            try await fixture.put("photos/.nobackup", Self.signature)
            try await fixture.run("a", .sync)
            try await fixture.noteMount("photos/disk")
            try fixture.remove("a/photos/disk/g")
            let summary = try await fixture.run("a", .sync, EventLog(), Self.recognizing)
            #expect(summary.deleted == 0 && !summary.isComplete, "\(summary)")
            #expect(try await fixture.objects().contains("photos/disk/g"))
        }
    }
}

extension MirrorFixture {
    func modified(_ path: String) throws -> Date {
        let attributes = try FileManager.default.attributesOfItem(atPath: directory(path))
        return attributes[.modificationDate] as? Date ?? .distantPast
    }
}
