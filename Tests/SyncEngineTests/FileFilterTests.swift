import Foundation
import SyncModel
import SyncPlanner
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

@Suite("What a run leaves alone")
struct FileFilterTests {
    @Test func `the last pattern that fits decides`() throws {
        var filter = FileFilter()
        try filter.exclude("*.log")
        try filter.include("keep.log")
        #expect(filter.excludes("a.log"))
        #expect(!filter.excludes("keep.log"))
        #expect(!filter.excludes("a.txt"))
    }

    @Test func `where inode numbers change, an unchanged file is not withheld`() throws {
        var held = FileFilter()
        try held.exclude("f")
        let time = Timestamp(seconds: 100)
        let file = FileIdentity(size: 1, modified: time, changed: time, inode: 2, device: 1)
        let base = ManifestEntry(
            key: "f",
            size: 1,
            etag: ETag(wire: "e"),
            crc64: CRC64(),
            lastModified: nil,
            storageClass: .standard,
            localModified: time,
            inode: 1
        )
        let entry = JoinedEntry(
            key: "f",
            base: base,
            local: LocalEntry(path: "f", kind: .file(file)),
            remote: RemoteObject(key: "f", size: 1, etag: ETag(wire: "e"))
        )
        for judgesInodes in [false, true] {
            let scope = PlanScope(
                FileFilter(),
                .sync,
                deletesExcluded: false,
                held: [held],
                now: MirrorFixture.now(),
                judgesInodes: judgesInodes
            )
            #expect((scope.choose(entry) == nil) == judgesInodes)
            #expect(scope.withheldCount == (judgesInodes ? 1 : 0))
        }
    }

    @Test func `what lies in an excluded directory stays excluded`() throws {
        var filter = FileFilter()
        try filter.exclude("build/")
        try filter.include("build/kept")
        #expect(filter.excludes("build/"))
        #expect(filter.excludes("build/kept"))
        #expect(filter.excludes("deep/build/x/y"))
        #expect(!filter.excludes("build"))
    }

    @Test func `an ignore file has comments, negations and escapes`() throws {
        let text = "# a comment\n\n*.tmp  \r\n!keep.tmp\n\\#odd\nblank\\ \n"
        let filter = try FileFilter(ignoreFile: [UInt8](text.utf8))
        #expect(filter.excludes("a.tmp"))
        #expect(!filter.excludes("keep.tmp"))
        #expect(filter.excludes("#odd"))
        #expect(filter.excludes("blank "))
        #expect(!filter.excludes("blank"))
    }

    @Test func `a broken line of an ignore file is named`() {
        #expect {
            try FileFilter(ignoreFile: [UInt8]("a\nb[\n".utf8))
        } throws: { error in
            (error as? FileFilter.InvalidPattern)?.message.hasPrefix("line 2: ") == true
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `what is judged does not depend on what was judged before`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var filter = FileFilter()
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let pattern = Self.pattern(&generator)
            if pattern.hasPrefix("!") {
                try filter.include(String(pattern.dropFirst()))
            } else {
                try filter.exclude(pattern)
            }
        }
        let cursor = FilterCursor(filter)
        for path in (0..<200).map({ _ in Self.path(&generator) }).sorted() {
            for key in [ObjectKey(path), ObjectKey(path + "/")] {
                #expect(cursor.classify(key) == FilterCursor(filter).classify(key))
            }
        }
    }

    @Test func `rules with more that exclude hide as much`() throws {
        func rules(_ lines: String...) throws -> FileFilter {
            try FileFilter(ignoreFile: [UInt8](lines.joined(separator: "\n").utf8))
        }
        let old = try rules("*.key", "!a.key", ".env")
        #expect(try rules("*.tmp", "*.key", "!a.key", ".env", "x").surelyHides(allOf: old))
        #expect(try !rules("*.key", "!a.key", ".env", "!.env").surelyHides(allOf: old))
        #expect(try !rules("*.key", "!a.key").surelyHides(allOf: old))
        #expect(try !rules(".env", "*.key", "!a.key").surelyHides(allOf: rules("*.key", ".env")))
        #expect(try rules("anything").surelyHides(allOf: FileFilter()))
    }

    @Test func `a name that takes too long is neither included nor excluded`() throws {
        var filter = FileFilter()
        for _ in 0..<21_000 { try filter.exclude("b?") }
        let deep = String(repeating: "a/", count: 500) + "c"
        #expect(FilterCursor(filter).classify(ObjectKey(deep)) == .tooCostly)
        #expect(FilterCursor(filter).classify("a") == .included)
        let cursor = FilterCursor(filter)
        for number in stride(from: 1, through: 500, by: 26) {
            let key = ObjectKey(String(repeating: "a/", count: number))
            #expect(cursor.classify(key) == FilterCursor(filter).classify(key))
        }
        var names = FileFilter()
        for number in 0..<21_000 { try names.exclude("b\(number % 10)") }
        #expect(FilterCursor(names).classify(ObjectKey(deep)) == .included)
        #expect(FilterCursor(names).classify("x/b7/y") == .excluded)
    }

    static let git = ["/usr/bin/git", "/usr/local/bin/git"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// git is the only other definition of the syntax.
    @Test(.enabled(if: git != nil), arguments: UInt64(0)..<40)
    func `random patterns and paths are judged as git judges them`(seed: UInt64) throws {
        let git = try #require(Self.git)
        var generator = SeededGenerator(seed: seed)
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-filter-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
            Self.pattern(&generator)
        }
        let rules = lines.joined(separator: "\n") + "\n"
        try Data(rules.utf8).write(to: folder.appendingPathComponent(".gitignore"))
        try Self.run(git, ["init", "-q"], in: folder, input: "")
        let filter = try FileFilter(ignoreFile: [UInt8](rules.utf8))
        let paths = Set((0..<60).map { _ in Self.path(&generator) })
        let ignored = try Self.run(
            git,
            ["check-ignore", "--no-index", "--stdin"],
            in: folder,
            input: paths.joined(separator: "\n") + "\n"
        )
        let expected = Set(ignored.split(separator: "\n").map(String.init))
        for path in paths {
            #expect(
                filter.excludes(ObjectKey(path)) == expected.contains(path),
                "'\(path)' by \(lines)"
            )
        }
    }

    private static func pattern(_ generator: inout SeededGenerator) -> String {
        let pieces = ["a", "b", "ab", "*", "a*", "*b", "**", "?", "[ab]", "[!a]b"]
        let names = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            pieces.randomElement(using: &generator) ?? "a"
        }
        let beginning = Bool.random(using: &generator) ? "" : "!"
        let root = Int.random(in: 0..<4, using: &generator) == 0 ? "/" : ""
        let end = Int.random(in: 0..<4, using: &generator) == 0 ? "/" : ""
        return beginning + root + names.joined(separator: "/") + end
    }

    /// Of a file: the name of a directory that is not there is compared by git with its "/".
    private static func path(_ generator: inout SeededGenerator) -> String {
        let names = ["a", "b", "ab", "bb", "aab", "c"]
        let depth = Int.random(in: 1...4, using: &generator)
        let path = (0..<depth).map { _ in names.randomElement(using: &generator) ?? "a" }
        return path.joined(separator: "/")
    }

    @discardableResult
    private static func run(
        _ program: String,
        _ arguments: [String],
        in folder: URL,
        input: String
    ) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let (stdin, stdout) = (Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }
}

extension EngineRuns {
    @Suite("Filters of a run", .timeLimit(.minutes(10)))
    struct FilterTests {
        @Test func `what is excluded is neither transferred nor deleted, in either direction`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/kept.txt", Data("1".utf8))
            try fixture.write("a/scratch.tmp", Data("2".utf8))
            try fixture.write("a/build/deep/x", Data("3".utf8))
            let excluding: (inout RunOptions) -> Void = { options in
                options.deletesKnown = true
                options.filter = Self.filter("*.tmp", "build/")
            }
            try await fixture.run("a", .push, EventLog(), excluding)
            #expect(try await fixture.objects() == ["kept.txt"])

            // Known on both sides, then excluded, then gone on one side: left on the other.
            try await fixture.run("a", .push)
            let all = ["build/deep/x", "kept.txt", "scratch.tmp"]
            #expect(try await fixture.objects() == all)
            try fixture.remove("a/scratch.tmp")
            try fixture.remove("a/build")
            let log = EventLog()
            let pushed = try await fixture.run("a", .push, log, excluding)
            #expect(pushed.deleted == 0)
            #expect(try await fixture.objects() == all)
            #expect(log.warnings.contains { $0.contains("filters") })

            let pulled = try await fixture.run("b", .pull, EventLog(), excluding)
            #expect(pulled.transferred == 1)
            #expect(try fixture.tree("b").keys.sorted() == ["kept.txt"])
            let again = EventLog()
            try await fixture.run("b", .pull, again, excluding)
            #expect(again.warnings.isEmpty)
        }

        @Test func `the ignore file of the directory counts before the options`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/.osssyncignore", Data("*.tmp\n".utf8))
            try fixture.write("a/one.tmp", Data("1".utf8))
            try fixture.write("a/two.tmp", Data("2".utf8))
            try await fixture.run("a", .push, EventLog()) { options in
                options.filter = Self.including("two.tmp")
            }
            #expect(try await fixture.objects() == [".osssyncignore", "two.tmp"])
        }

        @Test(arguments: [Data(), Data("# of the com".utf8), nil])
        func `an ignore file that an editor is saving is read once it is whole`(
            moment: Data?
        ) async throws {
            let fixture = try MirrorFixture()
            let ignored = Data("secret\n".utf8)
            try fixture.write("a/.osssyncignore", ignored)
            try fixture.write("a/secret", Data("1".utf8))
            try await fixture.run("a", .push)
            let saved = Data("# of the company\nsecret\n*.tmp\n".utf8)
            for isSaved in [true, false] {
                if let moment {
                    try fixture.write("a/.osssyncignore", moment)
                } else {
                    try fixture.remove("a/.osssyncignore")
                }
                var engine = try fixture.engine("a")
                let sleep = engine.settings.environment.sleep
                let isFirst = Atomic(true)
                engine.settings.environment.sleep = { duration in
                    guard isFirst.exchange(false, ordering: .relaxed) else {
                        return try await sleep(duration)
                    }
                    if isSaved { try fixture.write("a/.osssyncignore", saved) }
                }
                _ = try await engine.run(.push, options: MirrorFixture.options()) { _ in }
                // Rules that stay as they are were changed on purpose.
                #expect(try await fixture.objects().contains("secret") == !isSaved)
            }
        }

        @Test func `a byte order mark and Windows' line ends are no part of a rule`() async throws {
            let fixture = try MirrorFixture()
            let text = Data([0xEF, 0xBB, 0xBF]) + Data("secret\r\n*.key\r\n".utf8)
            try fixture.write("a/.osssyncignore", text)
            for name in ["secret", "tls.key", "f"] { try fixture.write("a/" + name, Data([1])) }
            try await fixture.run("a", .push)
            #expect(try await fixture.objects() == [".osssyncignore", "f"])
        }

        @Test(arguments: [
            Data("ok\n[\n".utf8), Data("ok\nsecret\rx\n".utf8),
            "ok\nsecret\n".data(using: .utf16LittleEndian) ?? Data(),
        ])
        func `an ignore file that cannot be understood stops the run before anything`(
            text: Data
        ) async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/.osssyncignore", text)
            try fixture.write("a/secret", Data("1".utf8))
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push)
            }
            #expect(error?.code == .configuration)
            #expect(error?.message.contains("line ") == true)
            #expect(try await fixture.objects().isEmpty)
        }

        @Test func `delete=excluded deletes what is recorded and unchanged`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/kept.txt", Data("1".utf8))
            try fixture.write("a/old.tmp", Data("2".utf8))
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try fixture.write("a/new.tmp", Data("3".utf8))
            let deleting: (inout RunOptions) -> Void = { options in
                options.deletesKnown = true
                options.deletesExcluded = true
                options.filter = Self.filter("*.tmp")
            }
            let pulled = try await fixture.run("a", .pull, EventLog(), deleting)
            #expect(pulled.deleted == 1)
            #expect(try fixture.tree("a").keys.sorted() == ["kept.txt", "new.tmp"])
            #expect(try await fixture.objects() == ["kept.txt", "old.tmp"])

            let log = EventLog()
            try await fixture.run("b", .push, log) { options in
                deleting(&options)
                options.isDryRun = true
            }
            #expect(log.items.map(\.key) == ["old.tmp"])
            #expect(log.items.first?.message?.hasPrefix("excluded by ") == true)
            let pushed = try await fixture.run("b", .push, EventLog(), deleting)
            #expect(pushed.deleted == 1)
            #expect(try await fixture.objects() == ["kept.txt"])
            #expect(try fixture.tree("b").keys.sorted() == ["kept.txt", "old.tmp"])
        }

        @Test func `delete=excluded keeps what was edited`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/edited.tmp", Data("1".utf8))
            try await fixture.run("a", .push)
            try fixture.write("a/edited.tmp", Data("three".utf8))
            let pulled = try await fixture.run("a", .pull, EventLog()) { options in
                options.deletesKnown = true
                options.deletesExcluded = true
                options.filter = Self.filter("*.tmp")
            }
            #expect(pulled.deleted == 0)
            #expect(fixture.content("a/edited.tmp") == Data("three".utf8))
        }

        @Test func `an excluded directory is not read`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/kept.txt", Data("1".utf8))
            try fixture.write("a/skipped/x", Data("2".utf8))
            try fixture.link("a/skipped/loop", to: "..")
            let log = EventLog()
            let summary = try await fixture.run("a", .push, log) { options in
                options.filter = Self.filter("/skipped/")
            }
            #expect(summary.transferred == 1)
            #expect(summary.skipped == 0)
            #expect(log.skipped("skipped/loop") == nil)
        }

        static func filter(_ patterns: String...) -> FileFilter {
            var filter = FileFilter()
            for pattern in patterns {
                #expect(throws: Never.self) { try filter.exclude(pattern) }
            }
            return filter
        }

        static func including(_ pattern: String) -> FileFilter {
            var filter = FileFilter()
            #expect(throws: Never.self) { try filter.include(pattern) }
            return filter
        }
    }
}
