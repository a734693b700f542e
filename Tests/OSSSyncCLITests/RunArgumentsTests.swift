import OSSSync
import Testing

@testable import OSSSyncCLI

@Suite("Options of a run")
struct RunArgumentsTests {
    private func options(_ line: String..., of command: String = "pull") throws -> RunOptions {
        try options(line, of: command)
    }

    private func options(_ line: [String], of command: String = "pull") throws -> RunOptions {
        guard case .run(let arguments) = try ArgumentParser.parse([command, "D"] + line) else {
            throw UsageError.noCommand
        }
        return try RunOptions(arguments)
    }

    @Test func `without options nothing is deleted and the limits are the documented ones`() throws
    {
        let options = try options()
        #expect(options == .standard)
        #expect(!options.deletesKnown && !options.deletesExtra && !options.allowsEmpty)
        #expect(options.deletionLimit == .percent(50) && options.conflictPolicy == .keepBoth)
        #expect(options.connectionLimit == 128 && options.partSize == 8 << 20)
        #expect(options.trashDays == 7)
    }

    @Test func `every option reaches the run`() throws {
        var expected = RunOptions.standard
        (expected.isDryRun, expected.comparesContent) = (true, true)
        (expected.deletesKnown, expected.deletesExtra) = (true, true)
        (expected.allowsEmpty, expected.allowsRebinding) = (true, true)
        (expected.replacesLocalChanges, expected.conflictPolicy) = (true, .remote)
        (expected.deletionLimit, expected.connectionLimit) = (.count(20), 32)
        (expected.partSize, expected.trashDays) = (64_000_000, 0)
        let parsed = try options(
            "--dry-run",
            "--delete=extra",
            "--max-delete",
            "20",
            "--allow-empty",
            "--rebind",
            "--force",
            "--on-conflict",
            "remote",
            "--checksum",
            "--jobs",
            "32",
            "--part-size",
            "64MB",
            "--trash-days",
            "0"
        )
        #expect(parsed == expected)
    }

    @Test func `the number of requests can be left to the run`() throws {
        #expect(try options("--jobs", "auto") == options())
        #expect(try options("-j", "8").connectionLimit == 8)
    }

    @Test func `a trash in the bucket is kept for days`() throws {
        #expect(try options("--trash", "remote", of: "push").trash == .remote)
        #expect(try options("--trash", "none", of: "sync").trash == .none)
        #expect(try options().trash == .local)
        #expect(throws: UsageError.contradiction("--trash remote", "--trash-days 0")) {
            try options("--trash", "remote", "--trash-days", "0", of: "push")
        }
    }

    @Test func `a place for old versions is a directory, and of pulls`() throws {
        #expect(try options("--backup-dir", "/old").backupDirectory == "/old")
        let refusals = [("push", "/old"), ("sync", "/old"), ("pull", "oss://b/old"), ("pull", "")]
        for (command, place) in refusals {
            let error = #expect(throws: UsageError.self) {
                try options("--backup-dir", place, of: command)
            }
            #expect(
                error?.message.hasSuffix("'--trash remote' keeps objects in the bucket") == true
            )
        }
    }

    @Test func `archived objects are restored for a week, or as many days as are given`() throws {
        #expect(try options().restoreDays == nil)
        #expect(try options("--restore").restoreDays == 7)
        #expect(try options("--restore=3").restoreDays == 3)
        for wrong in ["--restore=0", "--restore=366", "--restore=x"] {
            #expect(throws: UsageError.self, "\(wrong)") { try options(wrong) }
        }
        #expect(throws: UsageError.contradiction("--restore", "--as-of")) {
            try options("--restore", "--as-of", "2026-01-31")
        }
        #expect(throws: UsageError.self) { try options("--as-of", "2999-01-31") }
    }

    @Test func `empty directories can be left out`() throws {
        #expect(try options().keepsEmptyDirectories)
        #expect(try !options("--no-empty-dirs").keepsEmptyDirectories)
    }

    @Test func `of empty directories, the last word counts`() throws {
        #expect(try options("--no-empty-dirs", "--empty-dirs").keepsEmptyDirectories)
        #expect(try !options("--empty-dirs", "--no-empty-dirs").keepsEmptyDirectories)
    }

    @Test func `deleting extra items includes deleting known ones`() throws {
        func deletions(_ words: String...) throws -> [Bool] {
            let options = try options(words)
            return [options.deletesKnown, options.deletesExtra, options.deletesExcluded]
        }
        #expect(try deletions() == [false, false, false])
        #expect(try deletions("--delete") == [true, false, false])
        #expect(try deletions("--delete=deleted") == [true, false, false])
        #expect(try deletions("--delete=extra") == [true, true, false])
        #expect(try deletions("--delete=excluded") == [true, false, true])
        #expect(try deletions("--delete=extra", "--delete") == [true, false, false])
        #expect(throws: UsageError.badValue(.delete, "all", "expected deleted, extra or excluded"))
        {
            try deletions("--delete=all")
        }
    }

    @Test(arguments: [
        ("--jobs", "0"), ("--jobs", "257"), ("--jobs", "-1"), ("--jobs", "+4"), ("--jobs", "4.0"),
        ("--jobs", "Auto"),
        ("--part-size", "99K"), ("--part-size", "6G"), ("--part-size", "8x"),
        ("--part-size", ""), ("--max-delete", "101%"), ("--max-delete", "%"),
        ("--max-delete", "-5"), ("--trash-days", "1d"), ("--trash-days", "36501"),
    ])
    func `a value out of its bounds is refused`(option: String, value: String) throws {
        let error = #expect(throws: UsageError.self) { try options("\(option)=\(value)") }
        guard case .badValue(option, value, let expected) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(!expected.isEmpty)
    }

    @Test(arguments: [
        ("30", Duration?.some(.seconds(30))), ("0.5", .milliseconds(500)),
        ("1.25", .milliseconds(1_250)), ("0", .zero), ("86400", .seconds(86_400)),
        ("86400.5", nil), ("1.", nil), (".5", nil), ("1.2345", nil), ("-1", nil), ("1e3", nil),
        ("", nil), ("30s", .seconds(30)), ("2m30s", .seconds(150)), ("24h", .seconds(86_400)),
        ("2d", nil), ("0.5s", nil),
    ])
    func `seconds may have decimals`(text: String, expected: Duration?) {
        #expect(parseSeconds(text) == expected)
    }

    @Test func `how long and how often a request is tried can be chosen`() throws {
        func connection(_ options: String...) throws -> ConnectionOptions {
            guard case .run(let arguments) = try ArgumentParser.parse(["pull", "D"] + options)
            else { throw UsageError.noCommand }
            return try CommandContext(arguments, environment: [:]).sources.options
        }
        let given = try connection("--timeout", "2.5", "--retries", "0", "--retry-wait", "0")
        #expect(given.timeout == .milliseconds(2_500))
        #expect(given.retries == 0)
        #expect(given.retryWait == .zero)
        #expect(try connection().timeout == nil)
        for option in ["--timeout=0", "--timeout=x", "--retries=1001", "--retry-wait=-1"] {
            #expect(throws: UsageError.self) { try connection(option) }
        }
    }

    @Test(
        arguments: [
            ("fail", .fail), ("skip", .skip), ("wait", .wait(nil)),
            ("wait=90s", .wait(.seconds(90))), ("wait=", nil), ("wait=1", nil), ("Wait", nil),
            ("wait=-1s", nil),
        ] as [(String, LockChoice?)]
    )
    func `what a locked directory means can be chosen`(text: String, choice: LockChoice?) throws {
        #expect(LockChoice(text) == choice)
        guard let choice else {
            #expect(throws: UsageError.self) { try options("--if-locked", text) }
            return
        }
        var expected: Duration? = .zero
        if case .wait(let longest) = choice { expected = longest }
        #expect(try options("--if-locked", text).lockTimeout == expected)
    }

    @Test func `sizes and ages can be bounded`() throws {
        let bounds = try options(
            "--min-size",
            "1K",
            "--max-size",
            "2M",
            "--min-age",
            "15m",
            "--max-age",
            "30d"
        ).filter.bounds
        #expect(bounds.minimumSize == 1 << 10 && bounds.maximumSize == 2 << 20)
        #expect(bounds.minimumAge == .seconds(900) && bounds.maximumAge == .seconds(30 * 86_400))
        for option in ["--min-size=x", "--max-size=-1", "--min-age=5", "--max-age="] {
            #expect(throws: UsageError.self) { try options(option) }
        }
        for name in ["size", "age"] {
            let least = name == "size" ? "2K" : "2h"
            let error = #expect(throws: UsageError.self) {
                try options("--min-\(name)", least, "--max-\(name)", name == "size" ? "1K" : "1h")
            }
            #expect(error?.message == "--min-\(name) is larger than --max-\(name)")
        }
    }

    @Test func `the bandwidth can have a limit or a timetable`() {
        #expect(parseTimetable("2M")?.limit(atMinute: 700) == 2 << 20)
        #expect(parseTimetable("off") == BandwidthTimetable([.init(minuteOfDay: 0)]))
        let day = parseTimetable("08:00,1M  19:00,off 23:59,5")
        #expect([0, 480, 1_140, 1_439].map { day?.limit(atMinute: $0) } == [5, 1 << 20, nil, 5])
        #expect(parseTimetable("8:00,512k")?.limit(atMinute: 480) == 512 << 10)
        for text in [
            "", "0", "1X", "-1", "08:00", "8:0,1M", "08:00,0", "24:00,1M", "08:60,1M",
            "08:00,1M,2M", "08:00,1M 08:00,2M", "1M 08:00,1M", "08:00 1M",
        ] {
            #expect(parseTimetable(text) == nil, "\(text)")
        }
    }

    @Test func `a run can have an end`() throws {
        let given = try options("--max-transfer", "10G", "--max-duration=6h")
        #expect(given.maximumTransfer == 10 << 30)
        #expect(given.maximumDuration == .seconds(6 * 3_600))
        for option in ["--max-transfer=x", "--max-duration=6", "--max-duration="] {
            #expect(throws: UsageError.self) { try options(option) }
        }
    }

    @Test func `quiet and verbose contradict each other`() throws {
        guard case .run(let arguments) = try ArgumentParser.parse(["pull", "D", "-q", "-v"]) else {
            Issue.record("no run")
            return
        }
        #expect(throws: UsageError.contradiction("--quiet", "--verbose")) {
            try OutputOptions(arguments)
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("8388608", 8 << 20), ("8K", 8 << 10), ("8M", 8 << 20), ("3G", 3 << 30),
            ("2T", 2 << 40), ("8KB", 8_000), ("8MB", 8_000_000), ("1GB", 1_000_000_000),
            ("1TB", 1_000_000_000_000), ("8388607T", 8_388_607 << 40), ("8388608T", nil),
            ("8k", 8 << 10), ("8KiB", nil), ("1.5M", nil), ("-1", nil), ("", nil), ("M", nil),
            ("99999999999999999999", nil), ("８", nil), ("8 M", nil),
        ] as [(String, Int64?)]
    )
    func `sizes are exact or refused`(text: String, size: Int64?) {
        #expect(parseSize(text) == size)
    }
}
