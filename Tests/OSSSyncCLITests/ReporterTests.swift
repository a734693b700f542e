import OSSSync
import Synchronization
import Testing

@testable import OSSSyncCLI

/// Keeps what was written, in order, with the stream's name in front.
private final class Recording: Sendable {
    let written = Mutex("")
    let clock = Mutex(Duration.zero)
    let isFull = Mutex(false)

    func screen(canDraw: Bool) -> Screen {
        Screen(
            output: { text in self.take("out|" + text) },
            errors: { text in self.take("err|" + text) },
            canDraw: canDraw,
            size: { (60, 5) },
            time: { "T" },
            monotonic: { self.clock.withLock { $0 } }
        )
    }

    private func take(_ text: String) -> Bool {
        if isFull.withLock({ $0 }) { return false }
        written.withLock { $0 += text }
        return true
    }

    var text: String { written.withLock { $0 } }
}

extension ParsedArguments {
    fileprivate static let plainPull = ParsedArguments(command: .pull, positionals: ["D"])
}

@Suite("Reports")
struct ReporterTests {
    private static let progress = RunProgress(
        isPlanComplete: true,
        itemsPlanned: 2,
        itemsFinished: 1,
        bytesPlanned: 100,
        bytesFinished: 50,
        bytesResumed: 0,
        active: []
    )

    private func item(_ state: ItemState, _ action: ItemAction = .download) -> SyncEvent {
        .item(
            ItemEvent(
                action: action,
                state: state,
                key: "a.jpg",
                size: 2_048,
                bytesTransferred: 1_024,
                bytesResumed: 1_024,
                message: state == .failed || state == .skipped ? "the reason" : nil,
                requestID: state == .failed ? "R1" : nil
            )
        )
    }

    private var events: [SyncEvent] {
        var summary = RunSummary(direction: .pull)
        summary.runID = 7
        summary.transferred = 3
        summary.bytes = 2_048
        summary.bytesResumed = 1_024
        summary.unchanged = 9
        summary.failed = 1
        summary.skipped = 1
        summary.conflicts = 2
        summary.localChanges = 1
        summary.seconds = 1.5
        summary.requests = 12
        summary.deletionsHeldBack = "an item failed"
        return [
            .started(direction: .pull, directory: "D", remote: "oss://b/p/"),
            .progress(Self.progress), item(.started), item(.resumed), item(.done), item(.failed),
            item(.skipped), item(.skipped, .conflict), item(.done, .adopt),
            .warning(message: "the clock is wrong"), .progress(Self.progress), .finished(summary),
        ]
    }

    private func report(_ line: [String], canDraw: Bool = false, isDryRun: Bool = false) throws
        -> String
    {
        guard case .run(let arguments) = try ArgumentParser.parse(["pull", "D"] + line) else {
            return ""
        }
        let recording = Recording()
        let reporter = Reporter(
            options: try OutputOptions(arguments),
            isDryRun: isDryRun,
            screen: recording.screen(canDraw: canDraw)
        )
        for event in events { reporter.handle(event) }
        reporter.finish()
        #expect(!reporter.hasLostOutput)
        return recording.text
    }

    @Test func `the JSON lines are the recorded ones`() throws {
        try expectGolden(try report(["--json"]), "events.jsonl.txt")
    }

    @Test(arguments: [0, 1, 2])
    func `the text is the recorded one`(verbosity: Int) throws {
        let flags = Array(repeating: "-v", count: verbosity)
        try expectGolden(try report(flags), "events-\(verbosity).txt")
    }

    @Test func `quiet leaves only what went wrong`() throws {
        let expected = """
            err|osssync: failed: download a.jpg: the reason (request R1)
            err|osssync: skipped: a.jpg: the reason
            err|osssync: conflict: a.jpg: the reason
            err|osssync: warning: the clock is wrong
            err|osssync: an item failed

            """
        #expect(try report(["-q"]) == expected)
    }

    @Test func `a run that ended early says so once, and not that there was nothing to do`() throws
    {
        let recording = Recording()
        let reporter = Reporter(
            options: try OutputOptions(.plainPull),
            isDryRun: false,
            screen: recording.screen(canDraw: false)
        )
        var summary = RunSummary(direction: .pull)
        summary.deletionsHeldBack = "3 deletions were held back"
        summary.stopped = "3 deletions were held back"
        summary.vanished = 1
        reporter.handle(.finished(summary))
        let expected = """
            out|pull stopped after 0.0 s: nothing was done
            1 object disappeared from the remote during the run; the next run checks again

            """
        #expect(recording.text == expected)
        #expect(!summary.isInStep)
    }

    @Test func `a dry run says what would be done`() throws {
        let recording = Recording()
        let options = try OutputOptions(.plainPull)
        let reporter = Reporter(
            options: options,
            isDryRun: true,
            screen: recording.screen(canDraw: false)
        )
        reporter.handle(item(.planned))
        reporter.handle(item(.planned, .deleteLocal))
        var summary = RunSummary(direction: .pull)
        summary.transferred = 1
        summary.bytes = 2_048
        summary.deleted = 1
        reporter.handle(.finished(summary))
        let expected = """
            out|would download a.jpg (2.0 KiB, 1.0 KiB resumed)
            out|would delete the file a.jpg
            out|pull would transfer 1 (2.0 KiB), delete 1

            """
        #expect(recording.text == expected)
        (summary.deleted, summary.bytesCopied) = (0, 1_024)
        recording.written.withLock { $0 = "" }
        reporter.handle(.finished(summary))
        #expect(recording.text.hasSuffix("1 (2.0 KiB, up to 1.0 KiB copied in the bucket)\n"))
    }

    @Test func `off a terminal there is a line every ten seconds`() throws {
        let recording = Recording()
        let options = try OutputOptions(.plainPull)
        let reporter = Reporter(
            options: options,
            isDryRun: false,
            screen: recording.screen(canDraw: false)
        )
        reporter.handle(.progress(Self.progress))
        for second in 1...25 {
            recording.clock.withLock { $0 = .seconds(second) }
            reporter.tick()
        }
        let expected = """
            err|T pull: 50%, 50 B of 100 B, 0 B/s, ETA --, 1/2 items, 0:10 elapsed
            err|T pull: 50%, 50 B of 100 B, 0 B/s, ETA --, 1/2 items, 0:20 elapsed

            """
        #expect(recording.text == expected)
    }

    @Test func `a transfer has a line once it has lasted a second`() throws {
        let recording = Recording()
        let reporter = Reporter(
            options: try OutputOptions(.plainPull),
            isDryRun: false,
            screen: recording.screen(canDraw: true)
        )
        func report(_ key: String, at seconds: Double) {
            recording.clock.withLock { $0 = .seconds(seconds) }
            var progress = Self.progress
            progress.active = [
                ActiveTransfer(
                    action: .download,
                    key: key,
                    size: 100,
                    bytesFinished: 50,
                    bytesResumed: 0
                )
            ]
            recording.written.withLock { $0 = "" }
            reporter.handle(.progress(progress))
            reporter.tick()
        }
        report("a.jpg", at: 0)
        report("a.jpg", at: 0.9)
        #expect(!recording.text.contains("a.jpg"))
        report("a.jpg", at: 1)
        #expect(recording.text.contains("  < a.jpg   50%     100 B"))
        report("b.jpg", at: 1.25)
        #expect(!recording.text.contains("b.jpg"))
    }

    @Test func `JSON has no more progress than was asked for`() throws {
        guard
            case .run(let arguments) = try ArgumentParser.parse(
                ["pull", "D", "--json", "--json-interval", "10s"]
            )
        else { return }
        let recording = Recording()
        let reporter = Reporter(
            options: try OutputOptions(arguments),
            isDryRun: false,
            screen: recording.screen(canDraw: false)
        )
        for second in 0...25 {
            recording.clock.withLock { $0 = .seconds(second) }
            var progress = Self.progress
            (progress.bytesFinished, progress.failed) = (Int64(second * 3), 3)
            // The store's own work is none of the line's speed.
            progress.bytesCopied = Int64(second * 2)
            reporter.handle(.progress(progress))
        }
        let lines = recording.text.split(separator: "\n").filter { $0.contains(#""progress""#) }
        #expect(lines.count == 3)
        let figures = #""failed":3,"rate":1,"eta":14,"elapsed":20"#
        #expect(lines.last?.contains(figures) == true, "\(lines)")
        // What came since is written even if nothing more comes.
        recording.written.withLock { $0 = "" }
        reporter.tick()
        #expect(recording.text.isEmpty)
        recording.clock.withLock { $0 = .seconds(31) }
        reporter.tick()
        reporter.tick()
        #expect(recording.text.contains(#""bytes_finished":75"#))
        #expect(recording.text.split(separator: "\n").count { $0.contains("progress") } == 1)
    }

    @Test func `what fails in one way is told ten times and then counted`() throws {
        for (flags, told) in [([], 12), (["-v"], 40)] as [([String], Int)] {
            guard case .run(let arguments) = try ArgumentParser.parse(["pull", "D"] + flags) else {
                return
            }
            let recording = Recording()
            let reporter = Reporter(
                options: try OutputOptions(arguments),
                isDryRun: false,
                screen: recording.screen(canDraw: false)
            )
            for number in 1...40 {
                let key = "dir/\(number).jpg"
                let reason = number == 7 ? "another" : "PutObject of 'p/\(key)' failed: 503 Slow"
                reporter.handle(
                    .item(
                        ItemEvent(
                            action: .upload,
                            state: .failed,
                            key: key,
                            size: 1,
                            bytesTransferred: 0,
                            bytesResumed: 0,
                            message: reason,
                            requestID: "R\(number)"
                        )
                    )
                )
            }
            var summary = RunSummary(direction: .push)
            (summary.failed, summary.runID) = (40, 9)
            reporter.handle(.finished(summary))
            let lines = recording.text.split(separator: "\n").filter { $0.hasPrefix("err|") }
            #expect(lines.count == told, "\(lines)")
            let rest = "err|osssync: and 29 more like 'dir/1.jpg'; 'osssync log DIR 9' shows them"
            #expect(lines.last?.hasPrefix(rest) == flags.isEmpty)
        }
    }

    @Test func `failures are red and warnings yellow where colours are wanted`() throws {
        let failure = "\u{1B}[31mosssync: failed: download a.jpg: the reason (request R1)\u{1B}[0m"
        let warning = "\u{1B}[33mosssync: warning: the clock is wrong\u{1B}[0m"
        let text = try report(["--color", "always"])
        #expect(text.contains(failure) && text.contains(warning))
        #expect(text.contains("\u{1B}[31mincomplete: "))
        #expect(try !report(["--color", "auto"]).contains("\u{1B}"))
        #expect(ColorChoice.auto.paint(true).isOn && !ColorChoice.never.paint(true).isOn)
    }

    @Test func `lines push the bar down and the end removes it`() throws {
        let recording = Recording()
        let options = try OutputOptions(.plainPull)
        let reporter = Reporter(
            options: options,
            isDryRun: false,
            screen: recording.screen(canDraw: true)
        )
        reporter.tick()
        #expect(recording.text == "")
        reporter.handle(.progress(Self.progress))
        reporter.tick()
        let fitting = "pull   50%      50 B of 100 B      ETA --        1/2 items"
        #expect(recording.text == "err|\(fitting)\u{1B}[K\n")
        reporter.handle(.warning(message: "w"))
        reporter.tick()
        reporter.finish()
        let expected =
            "err|\(fitting)\u{1B}[K\n" + "err|\r\u{1B}[1A\u{1B}[J" + "err|osssync: warning: w\n"
            + "err|\(fitting)\u{1B}[K\n" + "err|\r\u{1B}[1A\u{1B}[J"
        #expect(recording.text == expected)
    }

    @Test func `what is waited for is said in a line until there is a bar`() throws {
        let recording = Recording()
        let reporter = Reporter(
            options: try OutputOptions(.plainPull),
            isDryRun: false,
            screen: recording.screen(canDraw: true)
        )
        func retry(_ key: String?, isOutage: Bool) -> SyncEvent {
            .retry(
                RetryEvent(
                    operation: "HeadObject",
                    key: key,
                    attempt: 1,
                    limit: 7,
                    wait: .seconds(4),
                    cause: "no network",
                    isOutage: isOutage
                )
            )
        }
        reporter.handle(retry("a", isOutage: false))
        reporter.handle(retry(nil, isOutage: true))
        reporter.handle(.progress(Self.progress))
        reporter.handle(retry("a", isOutage: false))
        reporter.handle(retry(nil, isOutage: true))
        let expected = """
            err|osssync: HeadObject of a: no network: try 1 of 7 in 4.0 s
            err|osssync: no network: try 1 of 7 in 4.0 s

            """
        #expect(recording.text == expected)
    }

    @Test func `a report that cannot be written is remembered`() throws {
        let recording = Recording()
        let options = try OutputOptions(.plainPull)
        let reporter = Reporter(
            options: options,
            isDryRun: false,
            screen: recording.screen(canDraw: false)
        )
        recording.isFull.withLock { $0 = true }
        reporter.handle(.warning(message: "w"))
        #expect(reporter.hasLostOutput)
    }

    @Test(
        arguments: [
            ([], true, .bar), ([], false, .plain), (["--json"], true, .none), (["-q"], true, .none),
            (["--json", "--progress", "bar"], true, .bar), (["--progress", "bar"], false, .plain),
            (["--progress", "plain"], true, .plain), (["--progress", "none"], true, .none),
        ] as [([String], Bool, Reporter.Progress)]
    )
    func `progress takes the form that fits`(
        line: [String],
        canDraw: Bool,
        expected: Reporter.Progress
    ) throws {
        guard case .run(let arguments) = try ArgumentParser.parse(["pull", "D"] + line) else {
            Issue.record("no run")
            return
        }
        #expect(Reporter.choose(try OutputOptions(arguments), canDraw: canDraw) == expected)
    }
}
