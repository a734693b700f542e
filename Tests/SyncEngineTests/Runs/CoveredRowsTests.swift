import Foundation
import Glibc
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// Links, special files, tags and reserved names in the place of what is recorded.
    @Suite("What is recorded and no longer mirrored")
    struct CoveredRowsTests {
        private func mirror() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for name in ["photos/a", "photos/deep/b", "photos-x", "f", "g"] {
                try fixture.write("a/" + name, MirrorFixture.ramp(100))
            }
            try await fixture.run("a", .push)
            return fixture
        }

        private static func deleting(_ options: inout RunOptions) {
            (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
        }

        /// The patterns of a media library: `*`, `!*/`, `!*.mkv`.
        @Test(
            arguments: [LinkPolicy.skip, .store],
            ["link films", "link films/1.mkv", "fifo films"]
        )
        func `what hides it counts whatever the patterns say of its own name`(
            links: LinkPolicy,
            what: String
        ) async throws {
            let words = what.split(separator: " ").map(String.init)
            let (kind, place) = (words[0], words[1])
            let fixture = try MirrorFixture()
            for index in 0..<20 {
                try fixture.write("a/films/\(index).mkv", MirrorFixture.ramp(100, index))
                try fixture.write("a/films/\(index).txt", MirrorFixture.ramp(100, index))
            }
            func run() async throws -> RunSummary {
                try await fixture.run("a", .push) { options in
                    Self.deleting(&options)
                    options.links = links
                    try? options.filter.exclude("*")
                    for pattern in ["*/", "*.mkv"] { try? options.filter.include(pattern) }
                }
            }
            #expect(try await run().transferred == 20)
            let parent = ("elsewhere/" + place as NSString).deletingLastPathComponent
            try fixture.makeDirectory(parent)
            try fixture.rename("a/" + place, to: "elsewhere/" + place)
            let path = fixture.directory("a/" + place)
            if kind == "link" {
                try FileManager.default.createSymbolicLink(
                    atPath: path,
                    withDestinationPath: fixture.directory("elsewhere/" + place)
                )
            } else {
                #expect(unsafe mkfifo(path, 0o600) == 0)
            }
            for _ in 1...2 {
                let found = try await run()
                #expect(found.deleted == 0 && found.failed == 0 && !found.isInStep, "\(found)")
            }
            #expect(try await fixture.objects().count == 20)
        }

        @Test(arguments: [LinkPolicy.skip, .follow, .store], ["photos", "f"])
        func `to take a link away deletes nothing of what it hid`(
            links: LinkPolicy,
            name: String
        ) async throws {
            let fixture = try await mirror()
            try fixture.makeDirectory("elsewhere")
            try fixture.rename("a/" + name, to: "elsewhere/" + name)
            try FileManager.default.createSymbolicLink(
                atPath: fixture.directory("a/" + name),
                withDestinationPath: fixture.directory("elsewhere/" + name)
            )
            for _ in 1...2 {
                let run = try await fixture.run("a", .push) { options in
                    Self.deleting(&options)
                    options.links = links
                }
                // A stored link is a new object in the place of a file.
                #expect(!run.isInStep || links == .store && name == "f", "\(run)")
            }
            let before = try await fixture.objects()
            try fixture.remove("a/" + name)
            for _ in 1...2 {
                let run = try await fixture.run("a", .push) { options in
                    Self.deleting(&options)
                    options.links = links
                }
                #expect(run.deleted == 0 || links == .store, "\(run)")
            }
            let gone = Set(before).subtracting(try await fixture.objects())
            #expect(gone.allSatisfy { $0.contains(".osssync-link") || ObjectKey($0).isOfLink })
        }

        /// Of what the run leaves out, and of what was freed, nothing can be deleted.
        @Test(arguments: [SyncDirection.pull, .push], ["pattern", "size", "tag", "freed"])
        func `the limit of deletions is a share of what is selected`(
            direction: SyncDirection,
            what: String
        ) async throws {
            let fixture = try MirrorFixture()
            for index in 0..<40 { try fixture.write("a/p/\(index)", MirrorFixture.ramp(2_000)) }
            for index in 0..<14 { try fixture.write("a/q/\(index)", Data("\(index)".utf8)) }
            try await fixture.run("a", .push)
            if what == "tag" { try fixture.write("a/p/.nobackup", Data()) }
            if what == "freed" {
                var options = FreeOptions(run: MirrorFixture.options())
                options.run.paths = ["p"]
                _ = try await fixture.engine("a").free(options) { _ in }
            }
            for index in 0..<12 {
                if direction == .push { try fixture.remove("a/q/\(index)") }
                if direction == .pull { try await fixture.deleteObject("q/\(index)") }
            }
            var filter = FileFilter()
            switch what {
            case "pattern": try filter.exclude("/p/")
            case "size": filter.bounds.maximumSize = 1_000
            case "tag": filter.tags.names = [".nobackup"]
            default: break
            }
            let selected = filter
            for isDryRun in [true, false] {
                await #expect(throws: TransferError.self) {
                    _ = try await fixture.run("a", direction) { options in
                        (options.deletesKnown, options.filter) = (true, selected)
                        options.isDryRun = isDryRun
                    }
                }
            }
            let objects = try await fixture.objects()
            #expect(direction == .pull ? fixture.exists("a/q/0") : objects.contains("q/0"))
        }

        @Test(arguments: SyncDirection.allCases, [false, true])
        func `a link in the place of a directory is named in each run`(
            direction: SyncDirection,
            deletes: Bool
        ) async throws {
            let fixture = try await mirror()
            try FileManager.default.moveItem(
                atPath: fixture.directory("a") + "/photos",
                toPath: fixture.directory("elsewhere")
            )
            try fixture.link("a/photos", to: fixture.directory("elsewhere"))
            for _ in 1...2 {
                let log = EventLog()
                let summary = try await fixture.run("a", direction, log) { options in
                    if deletes { Self.deleting(&options) }
                }
                #expect(!summary.isComplete && !summary.isInStep, "\(summary)")
                #expect(summary.skipped == 2 && summary.notMirrored == 1 && summary.deleted == 0)
                #expect(summary.notMirroredKinds == [.symbolicLink])
                #expect(summary.deletionsHeldBack == nil)
                let named = log.warnings.filter {
                    $0.hasPrefix(
                        "'photos' is a symbolic link now; 2 recorded files at or beneath it "
                            + "are not mirrored: "
                    )
                }
                #expect(named.count == 1, "\(log.warnings)")
                #expect(named.first?.contains("--exclude '/photos'") == true)
            }
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(!status.isInStep && status.differences.notMirrored == 1)
            #expect(status.push.skipped == 2 && status.differences.deletedHere == 0)
            #expect(status.warnings.contains { $0.contains("2 recorded files") })
            var filter = FileFilter()
            try filter.exclude("/photos")
            let excluded = try await fixture.run("a", direction) { $0.filter = filter }
            #expect(excluded.isComplete && excluded.isInStep && excluded.notMirrored == 0)
            #expect(try await fixture.objects().count == 5)
        }

        @Test func `deletions elsewhere go on`() async throws {
            let fixture = try await mirror()
            try fixture.remove("a/photos")
            try fixture.remove("a/f")
            try fixture.link("a/photos", to: "..")
            let summary = try await fixture.run("a", .push, EventLog(), Self.deleting)
            #expect(summary.deleted == 1 && summary.deletionsHeldBack == nil)
            #expect(try await fixture.objects() == ["g", "photos-x", "photos/a", "photos/deep/b"])
        }

        @Test(arguments: [SyncDirection.push, .sync], [true, false])
        func `so is a link or FIFO in the place of a file`(
            direction: SyncDirection,
            isLink: Bool
        ) async throws {
            let fixture = try await mirror()
            try fixture.remove("a/f")
            if isLink {
                try fixture.link("a/f", to: "g")
            } else {
                #expect(unsafe mkfifo(fixture.directory("a") + "/f", 0o644) == 0)
            }
            let log = EventLog()
            let summary = try await fixture.run("a", direction, log, Self.deleting)
            #expect(!summary.isComplete && !summary.isInStep && summary.skipped == 1)
            #expect(summary.notMirroredKinds == [isLink ? .symbolicLink : .specialFile])
            let what = isLink ? "'f' is a symbolic link now; " : "'f' is a FIFO now; "
            #expect(log.warnings.contains { $0.hasPrefix(what) }, "\(log.warnings)")
            #expect(try await fixture.objects().contains("f"))
        }

        @Test(arguments: SyncDirection.allCases)
        func `what was never recorded is no failure, but not in step`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await mirror()
            try fixture.link("a/link", to: "f")
            try fixture.write("a/photos/.osssync-0123456789abcdef0123456789abcdef", Data([1]))
            let summary = try await fixture.run("a", direction)
            #expect(summary.isComplete && !summary.isInStep && summary.notMirrored == 2)
            #expect(summary.notMirroredKinds == [.symbolicLink, .reservedName])
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(!status.isInStep && status.differences.notMirrored == 2)
            var filter = FileFilter()
            for pattern in ["/link", ".osssync-*"] { try filter.exclude(pattern) }
            let excluded = try await fixture.run("a", direction) { $0.filter = filter }
            #expect(excluded.isInStep && excluded.excluded == 2)
        }

        @Test(arguments: SyncDirection.allCases)
        func `objects with reserved names are counted, but for the trash`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await mirror()
            try await fixture.put(".osssync/trash/x/y", Data([1]))
            try await fixture.put("photos/.osssync/trash/x/y", Data([1]))
            #expect(try await fixture.run("a", direction).isInStep)
            try await fixture.put("photos/.osssync/manifest.db", Data([1]))
            let summary = try await fixture.run("a", direction)
            #expect(summary.isComplete && !summary.isInStep && summary.notMirrored == 1)
            #expect(summary.notMirroredKinds == [.reservedObject])
        }

        @Test(arguments: SyncDirection.allCases)
        func `a tag above recorded files is named in each run`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await mirror()
            try fixture.write("a/photos/.nobackup", Data())
            for _ in 1...2 {
                let log = EventLog()
                let summary = try await fixture.run("a", direction, log) { options in
                    options.filter.tags.names = [".nobackup"]
                }
                #expect(summary.isComplete && !summary.isInStep && summary.notMirrored == 2)
                #expect(summary.notMirroredKinds == [.tagged])
                let text = "'photos' is left out because of '.nobackup' in it; 2 recorded files at "
                #expect(log.warnings.count { $0.hasPrefix(text) } == 1, "\(log.warnings)")
            }
        }

        /// A disk that is not mounted, or the wrong bucket, may have directories and rules, too.
        @Test(arguments: [true, false], [[String](), ["photos"]])
        func `a side that has only directories and rules is empty`(
            isRemote: Bool,
            paths: [String]
        ) async throws {
            let fixture = try await mirror()
            try fixture.write("a/.osssyncignore", Data("*.tmp".utf8))
            try fixture.makeDirectory("a/photos/none")
            try await fixture.run("a", .push)
            try fixture.setMode("a/photos/deep", 0o700)
            try await fixture.run("a", .push)
            let files = ["photos/a", "photos/deep/b", "photos-x", "f", "g"]
            for name in files {
                if isRemote {
                    try await fixture.deleteObject(name)
                } else {
                    try fixture.remove("a/" + name)
                }
            }
            for direction in [isRemote ? SyncDirection.pull : .push, .sync] {
                let error = await #expect(throws: TransferError.self) {
                    try await fixture.run("a", direction) { options in
                        Self.deleting(&options)
                        options.paths = paths
                    }
                }
                #expect(error?.code == .refused, "\(String(describing: error))")
            }
            let left = isRemote ? try fixture.tree("a").count : try await fixture.objects().count
            #expect(left >= files.count)
            try await fixture.run("a", isRemote ? .pull : .push) { options in
                Self.deleting(&options)
                (options.paths, options.allowsEmpty) = (paths, true)
            }
        }

        @Test func `directories that were all there was are removed without a question`()
            async throws
        {
            let fixture = try MirrorFixture()
            for name in ["one", "two"] { try fixture.makeDirectory("a/" + name) }
            try await fixture.run("a", .push)
            try fixture.remove("a/one")
            let run = try await fixture.run("a", .push) { Self.deleting(&$0) }
            #expect(run.deleted == 1 && run.isInStep)
            #expect(try await fixture.objects() == ["two/"])
        }

        @Test(arguments: ["junk.tmp", "a//b", ".osssync-0123456789abcdef0123456789abcdef"])
        func `a listing with nothing that is selected is empty`(junk: String) async throws {
            let fixture = try await mirror()
            for key in try await fixture.objects() { try await fixture.deleteObject(key) }
            try await fixture.put(junk, Data([1]))
            var filter = FileFilter()
            try filter.exclude("*.tmp")
            for direction in [SyncDirection.pull, .sync] {
                let error = await #expect(throws: TransferError.self) {
                    try await fixture.run("a", direction) { options in
                        Self.deleting(&options)
                        options.filter = filter
                    }
                }
                #expect(error?.code == .refused)
                #expect(error?.message.hasPrefix("the listing of the remote is empty") == true)
            }
            #expect(try fixture.tree("a").count == 5)
        }
    }
}
