import Foundation
import OSSSync
import Testing

@testable import OSSSyncCLI

@Suite("Files that a run writes about itself")
struct RunFilesTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("osssync-files-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: path(name), encoding: .utf8)
    }

    private func mode(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
        return attributes[.posixPermissions] as? Int
    }

    @Test func `each line of a log has its time, and a later run appends`() throws {
        do {
            let log = try LogFile(path: path("log"))
            #expect(log.append("one\ntwo\n"))
        }
        let log = try LogFile(path: path("log"))
        #expect(log.screen.errors("three\n"))
        let lines = try text("log").split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.map(\.last) == ["one", "two", "three"])
        for line in lines {
            #expect(line.first?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        }
        #expect(try mode("log") == 0o600)
    }

    @Test func `a log that cannot be opened is refused before the run`() {
        #expect(throws: UsageError.self) { try LogFile(path: path("absent/log")) }
        for other in [folder.path, "/dev/null"] {
            let error = #expect(throws: UsageError.self) { try LogFile(path: other) }
            #expect(error?.message.contains("it is not a regular file; specify one") == true)
        }
    }

    @Test func `a log on a full disk says so`() throws {
        let full = unsafe open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        #expect(!LogFile(adopting: full, path: "/dev/full").append("one\n"))
    }

    @Test func `figures are written at once, and everyone can read them`() throws {
        let metrics = try ReplacedFile(metrics: path("osssync.prom"))
        let text = "# HELP osssync_a\n"
        #expect(metrics.replace(with: text + "1\n") == nil)
        #expect(metrics.replace(with: text + "2\n") == nil)
        #expect(try self.text("osssync.prom") == text + "2\n")
        #expect(try mode("osssync.prom") == 0o644)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }

    @Test func `a place that cannot have the figures is refused before the run`() throws {
        #expect(throws: UsageError.self) { try ReplacedFile(metrics: path("absent/osssync.prom")) }
        #expect(throws: UsageError.self) { try ReplacedFile(metrics: folder.path) }
        // One that is lost meanwhile is told.
        let metrics = try ReplacedFile(metrics: path("osssync.prom"))
        try FileManager.default.removeItem(at: folder)
        #expect(metrics.replace(with: "a 1\n") != nil)
    }

    @Test func `only a file of figures is replaced`() throws {
        let own = "# HELP osssync_x"
        try "".write(toFile: path("empty"), atomically: false, encoding: .utf8)
        try own.write(toFile: path("own"), atomically: false, encoding: .utf8)
        for name in ["empty", "own", "absent"] { _ = try ReplacedFile(metrics: path(name)) }

        for (name, content) in [("short", "# HELP"), ("photo", "\u{FF}" + own)] {
            try content.write(toFile: path(name), atomically: false, encoding: .utf8)
        }
        try FileManager.default.createSymbolicLink(
            atPath: path("link"),
            withDestinationPath: path("own")
        )
        for (name, reason) in [
            ("short", "its content is not from osssync; specify another file"),
            ("photo", "its content is not from osssync; specify another file"),
            ("link", "it is a symbolic link"), ("/dev/null", "it is a special file"),
            (folder.path, "it is a directory"),
        ] {
            let file = name.hasPrefix("/") ? name : path(name)
            let error = #expect(throws: UsageError.self) { try ReplacedFile(metrics: file) }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        }
        // One that has other content by the end of the run stays, too.
        let metrics = try ReplacedFile(metrics: path("absent"))
        try "mine".write(toFile: path("absent"), atomically: false, encoding: .utf8)
        #expect(metrics.replace(with: own) != nil)
        #expect(try text("absent") == "mine")
    }

    private static func figures(_ summary: RunSummary, _ exit: ExitCode) -> RunFigures {
        RunFigures(
            directory: "/srv/a \"b\" \\ c\nd",
            remote: "oss://bucket/p/",
            summary: summary,
            exit: exit,
            ended: 1_800_000_000,
            lastSuccess: 1_700_000_000
        )
    }

    @Test func `the figures of a run are in the text format of Prometheus`() throws {
        var summary = RunSummary(direction: .push)
        (summary.transferred, summary.bytes, summary.failed) = (3, 2_048, 1)
        (summary.deleted, summary.seconds) = (2, 1.5)
        let text = Self.figures(summary, .incomplete).text
        try expectGolden(text, "metrics.prom.txt")
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(line.contains(#"{dir="/srv/a \"b\" \\ c\nd",remote="oss://bucket/p/","#))
        }
    }

    @Test func `only a run that ended well is in step`() {
        func isInStep(_ exit: ExitCode, _ change: (inout RunSummary) -> Void = { _ in }) -> Bool {
            var summary = RunSummary(direction: .pull)
            change(&summary)
            return Self.figures(summary, exit).text.hasSuffix("\"pull\"} 1\n")
        }
        #expect(isInStep(.success))
        #expect(!isInStep(.success, { $0.onlyRemote = 1 }))
        var limited = RunSummary(direction: .pull)
        limited.paths = ["d"]
        #expect(!Self.figures(limited, .success).text.contains("in_step"))
        // It never reached the remote, so that nothing was counted.
        #expect(!isInStep(.unreachable))
    }
}
