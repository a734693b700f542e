import Foundation
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// Why something is done with a path, or nothing.
    @Suite("What filters leave out, and why")
    struct ExplanationTests {
        private static func filtered(_ options: inout RunOptions) {
            options.namesExcluded = true
            try? options.filter.exclude("*.iso")
            options.filter.bounds.maximumSize = 500
            options.filter.tags.names = [".nobackup"]
            options.filter.tags.recognizesCaches = true
        }

        private static let files = [
            ".osssyncignore": "# films\n\n*.mkv\n!keep.mkv\n/raw/\n", "a/b.mkv": "1",
            "a/keep.mkv": "1", "disk.iso": "1", "raw/x/1": "1", "raw/x/2": "1", "tagged/f": "1",
            "tagged/.nobackup": "", "cache/f": "1", "taken": "1",
            "cache/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n",
            "big": String(repeating: "x", count: 501),
        ]

        private static let rules = [
            "a/b.mkv (.osssyncignore:3 '*.mkv')", "big (--max-size)", "cache/ (CACHEDIR.TAG)",
            "disk.iso (--exclude '*.iso')", "raw/ (.osssyncignore:5 '/raw/')",
            "tagged/ (.nobackup)",
        ]

        private func fixture() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for (name, text) in Self.files { try fixture.write("a/\(name)", Data(text.utf8)) }
            return fixture
        }

        @Test(arguments: [true, false], SyncDirection.allCases)
        func `a run names each once, with the rule`(
            isDryRun: Bool,
            direction: SyncDirection
        ) async throws {
            let fixture = try await fixture()
            // The same names are in the bucket, too.
            for name in ["a/b.mkv", "raw/x/1", "raw/x/3", "raw/y", "disk.iso", "tagged/f"] {
                try await fixture.put(name, Data([1]))
            }
            let log = EventLog()
            let summary = try await fixture.run("a", direction, log) { options in
                Self.filtered(&options)
                options.isDryRun = isDryRun
            }
            #expect(log.excluded.sorted() == Self.rules)
            #expect(summary.excluded >= Self.rules.count)
            let quiet = EventLog()
            try await fixture.run("a", direction, quiet) { options in
                Self.filtered(&options)
                (options.namesExcluded, options.isDryRun) = (false, true)
            }
            #expect(quiet.excluded.isEmpty)
        }

        @Test func `status names them and lists its items`() async throws {
            let fixture = try await fixture()
            var options = RunOptions.standard
            Self.filtered(&options)
            let found = Mutex<[String]>([])
            let steps = Mutex<[PlannedStep]>([])
            let report = try await fixture.engine("a").status(options: options) { detail in
                switch detail {
                case .excluded(let key, _, let rule):
                    found.withLock { $0.append("\(key) (\(rule))") }
                case .item(let step): steps.withLock { $0.append(step) }
                }
            }
            #expect(found.withLock(\.self).sorted() == Self.rules)
            let sent = steps.withLock(\.self).filter { $0.direction == .push }
            #expect(sent.map(\.key) == [".osssyncignore", "a/keep.mkv", "taken"])
            #expect(sent.allSatisfy { $0.action == .upload && $0.reason == "new in the directory" })
            var sum = PlannedWork()
            for step in sent { sum += step.work }
            #expect(sum.transfers == report.push.transfers && sum.bytes == report.push.bytes)
        }

        @Test(arguments: [
            ("a/b.mkv", ".osssyncignore:3 '*.mkv'", true), ("big", "--max-size", true),
            ("a/keep.mkv", ".osssyncignore:4 'keep.mkv'", false), ("raw/x/1", nil, true),
            ("raw", ".osssyncignore:5 '/raw/'", true), ("taken", nil, false),
            ("tagged/f", "tagged/.nobackup", true), ("cache/", "cache/CACHEDIR.TAG", true),
        ])
        func `the rule of a path is the one of the run`(
            path: String,
            rule: String?,
            isExcluded: Bool
        ) async throws {
            let fixture = try await fixture()
            var options = RunOptions.standard
            Self.filtered(&options)
            let all = Dictionary(uniqueKeysWithValues: SyncDirection.allCases.map { ($0, options) })
            let found = try await fixture.engine("a").explain(path: path, of: all)
            let expected = path == "raw/x/1" ? ".osssyncignore:5 '/raw/'" : rule
            for direction in SyncDirection.allCases {
                let outlook = try #require(found.outlooks[direction])
                #expect(outlook.isExcluded == isExcluded, "\(outlook)")
                #expect(outlook.rule == expected)
            }
            let would = found.outlooks[.push]?.action
            #expect(would == (isExcluded ? nil : .upload))
        }

        /// After changes on both sides.
        @Test(arguments: [true, false], SyncDirection.allCases)
        func `what would be done is what a dry run says`(
            deletes: Bool,
            direction: SyncDirection
        ) async throws {
            let fixture = try MirrorFixture()
            let names = ["same", "mine", "theirs", "both", "gone", "lost", "empty/in"]
            for name in names {
                try fixture.write("a/" + name, MirrorFixture.ramp(300, 1))
                // One of this moment is compared by its content later.
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000.5)],
                    ofItemAtPath: fixture.directory("a/" + name)
                )
            }
            try await fixture.run("a", .push)
            for name in ["mine", "both", "new"] {
                try fixture.write("a/" + name, MirrorFixture.ramp(310, 2))
            }
            for name in ["theirs", "both", "fresh"] {
                try await fixture.put(name, MirrorFixture.ramp(320, 3))
            }
            try fixture.remove("a/gone")
            try await fixture.deleteObject("lost")
            let log = EventLog()
            let change: (inout RunOptions) -> Void = { options in
                options.deletesKnown = deletes
            }
            try await fixture.run("a", direction, log) { options in
                change(&options)
                options.isDryRun = true
            }
            var options = RunOptions.standard
            change(&options)
            let engine = try fixture.engine("a")
            for name in names + ["new", "fresh"] {
                let found = try await engine.explain(path: name, of: [direction: options])
                let said = log.items.first { $0.key == name }
                let outlook = try #require(found.outlooks[direction])
                if said == nil || said?.action == .skip {
                    #expect(outlook.action == nil || outlook.action == .skip, "\(name): \(outlook)")
                } else {
                    #expect(outlook.action == said?.action, "\(name): \(outlook)")
                }
            }
            #expect(try await engine.explain(path: "mine", of: [:]).local?.change == .changed)
            #expect(try await engine.explain(path: "theirs", of: [:]).remote?.change == .changed)
            let kept = try await engine.explain(path: "same", of: [:])
            #expect(kept.local?.change == .same && kept.remote?.change == .same)
            #expect(kept.recorded?.size == 300 && kept.remote?.crc64 == kept.recorded?.crc64)
            #expect(try await engine.explain(path: "gone", of: [:]).local == nil)
        }

        @Test func `a path that is nowhere is an error, and nothing is changed`() async throws {
            let fixture = try await fixture()
            let engine = try fixture.engine("a")
            for path in ["nothing", "a/nothing", "../x", "taken/x"] {
                let error = await #expect(throws: TransferError.self) {
                    try await engine.explain(path: path, of: [:])
                }
                #expect(error?.code == .configuration, "\(path)")
            }
            #expect(!fixture.exists("a/.osssync"))
            try fixture.link("a/link", to: "taken")
            let link = try await engine.explain(path: "link", of: [:])
            #expect(link.issues == ["skipped 'link': a symbolic link"])
        }
    }
}

extension EventLog {
    /// The names that were left out, each with its rule.
    fileprivate var excluded: [String] {
        events { if case .excluded(let key, _, let rule) = $0 { "\(key) (\(rule))" } else { nil } }
    }
}
