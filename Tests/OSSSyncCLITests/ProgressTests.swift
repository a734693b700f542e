import Foundation
import OSSSync
import Testing

@testable import OSSSyncCLI

@Suite("Progress")
struct ProgressTests {
    private static let progress = RunProgress(
        isPlanComplete: true,
        itemsPlanned: 10,
        itemsFinished: 3,
        bytesPlanned: 2 << 30,
        bytesFinished: 1 << 30,
        bytesResumed: 100 << 20,
        active: [
            ActiveTransfer(
                action: .download,
                key: "films/sea.mov",
                size: 1 << 30,
                bytesFinished: 512 << 20,
                bytesResumed: 100 << 20
            ),
            ActiveTransfer(
                action: .upload,
                key: "照片/a-rather-long-name-for-a-picture-of-the-sea.jpg",
                size: 5 << 20,
                bytesFinished: 0,
                bytesResumed: 0
            ),
        ]
    )

    private func view(_ progress: RunProgress = progress, rate: Double? = 10_485_760)
        -> ProgressView
    {
        ProgressView(
            title: "pull",
            progress: progress,
            rate: rate,
            steadyRate: rate,
            active: progress.active,
            activeRates: ["films/sea.mov": 4_194_304],
            nameWidth: 50,
            elapsed: .seconds(95)
        )
    }

    @Test(arguments: [40, 60, 100, 200])
    func `a wider terminal shows more`(width: Int) throws {
        let lines = view().bar(width: width, height: 24)
        try expectGolden(lines.map { $0 + "|\n" }.joined(), "bar-\(width).txt")
    }

    @Test(arguments: 0...130)
    func `no line is wider than the terminal`(width: Int) {
        for height in [0, 1, 2, 3, 24] {
            let lines = view().bar(width: width, height: height)
            #expect(lines.count <= height)
            for line in lines { #expect(displayWidth(line) <= width, "\(line)") }
        }
    }

    @Test func `transfers that find no line are counted`() {
        #expect(view().bar(width: 40, height: 2).last == "  and 2 more")
        #expect(view().bar(width: 40, height: 1).count == 1)
    }

    @Test func `a plan that still grows has no percentage and no ETA`() {
        var progress = Self.progress
        progress.isPlanComplete = false
        let expected =
            "pull: 1.0 GiB of 2.0 GiB+, 10.0 MiB/s, ETA --, 3/10+ items, 100 MiB resumed, "
            + "1:35 elapsed"
        #expect(view(progress).plain == expected)
    }

    @Test func `while a plan grows the total is estimated by the keys that are recorded`() {
        var progress = Self.progress
        progress.isPlanComplete = false
        (progress.keysCompared, progress.keysRecorded) = (250, 1_000)
        let expected =
            "pull: 1.0 GiB of ~8.0 GiB, 10.0 MiB/s, ETA --, 3/10+ items, 100 MiB resumed, "
            + "250/~1000 compared, 1:35 elapsed"
        #expect(view(progress).plain == expected)
    }

    @Test func `failures stay in view and a stalled transfer has no ETA`() {
        var progress = Self.progress
        progress.failed = 2
        var view = view(progress)
        view.steadyRate = nil
        #expect(view.plain.contains(", ETA --, 3/10 items, 2 failed, "))
        #expect(view.bar(width: 40, height: 5)[0].contains("2 failed"))
    }

    @Test func `columns stand still while figures change`() {
        func percentColumn(_ bytes: Int64, _ rate: Double) -> Int? {
            var progress = Self.progress
            progress.active[0].bytesFinished = bytes
            var view = view(progress)
            view.activeRates["films/sea.mov"] = rate
            let line = view.bar(width: 100, height: 5)[1]
            return line.firstIndex(of: "%").map { line.distance(from: line.startIndex, to: $0) }
        }
        let columns = [(0, 1.0), (5 << 20, 9e6), (1 << 30, 5e9)].map(percentColumn)
        #expect(Set(columns).count == 1 && columns[0] != nil)
    }

    @Test func `what has all its bytes is finishing`() {
        var progress = Self.progress
        progress.active[0].bytesFinished = progress.active[0].size
        #expect(view(progress).bar(width: 100, height: 5)[1].hasSuffix("finishing   "))
    }

    @Test func `what waits says what for, in the place of its rate`() {
        var view = view()
        view.activeWaits = ["films/sea.mov": "retry 0:05"]
        let line = view.bar(width: 100, height: 5)[1]
        #expect(line.hasSuffix("  1.0 GiB              retry 0:05  "), "\(line)")
    }

    @Test(arguments: [49, 79])
    func `episodes of one series can be told apart`(width: Int) {
        func names(_ keys: [String]) -> [String] {
            var progress = Self.progress
            progress.active = keys.map {
                ActiveTransfer(
                    action: .download,
                    key: $0,
                    size: 1 << 30,
                    bytesFinished: 0,
                    bytesResumed: 0
                )
            }
            var view = view(progress)
            view.nameWidth = keys.map { displayWidth($0) }.max() ?? 0
            return view.bar(width: width, height: 24).dropFirst().map { line in
                String(line.dropFirst(4)).components(separatedBy: "  ")[0]
            }
        }
        let numbers = ["S01E03", "S01E04", "S01E05", "S02E03", "S02E10", "S11E01"]
        let short = names(
            numbers.map { "Serien/Die lange Serie/\($0) - Titel (1080p).mkv" }
        )
        let long = names(
            numbers.map {
                "Serien/Serie/Die lange Serie mit Namen und Jahr (2019) - \($0) - Folge 1080p.mkv"
            }
        )
        for (number, (short, long)) in zip(numbers, zip(short, long)) {
            #expect(short.contains(number) && long.contains(number), "\(short), \(long)")
        }
        let years = names([
            "Fotos/2023/Ein langer Urlaub in den Bergen/IMG_0001.jpg",
            "Fotos/2024/Ein langer Urlaub in den Bergen/IMG_0001.jpg",
        ])
        #expect(years[0].contains("2023") && years[1].contains("2024"), "\(years)")
    }

    @Test func `of names that do not fit, directories are left out first`() {
        func name(_ path: String, _ width: Int) -> String {
            distinctNames([path], width: width)[0]
        }
        #expect(name("a/b/c/file.txt", 14) == "a/b/c/file.txt")
        #expect(name("a/b/c/file.txt", 13) == ".../file.txt")
        #expect(name("a/long-directory/c/file.txt", 16) == ".../c/file.txt")
        #expect(name("a/b/c/file.txt", 8) == "file.txt")
        #expect(name("a/b/c/file.txt", 7) == "fi...xt")
        #expect(distinctNames(["a/same", "a/same"], width: 4) == ["same", "same"])
    }

    @Test func `why requests wait is readable on a narrow terminal`() {
        var view = view()
        view.waiting = "the service is slowing requests down: try 1 of 7 in 0.4 s"
        let lines = view.bar(width: 49, height: 5)
        let text = lines[1...2].map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(text.joined(separator: " ") == "waiting: " + (view.waiting ?? ""))
        #expect(lines.count == 5)
    }

    @Test func `the time left is that of the timetable`() throws {
        let night = try #require(parseTimetable("08:00,1M 20:00,off"))
        func hours(_ mebibytes: Int64, at minute: Double, _ rate: Double?) -> Double? {
            TransferTime(timetable: night, minute: minute)
                .duration(of: mebibytes << 20, at: rate).map { ($0 / .seconds(3_600)) }
        }
        // From 19:00 an hour at 1 MiB/s, and then at what is possible without.
        #expect(hours(3_600 * 5, at: 1_140, 524_288) == 10)
        #expect(hours(3_600 * 5, at: 1_200, 4 * 1_048_576) == 1.25)
        // From 7:00 on.
        #expect(hours(3_600 * 5, at: 420, 4 * 1_048_576) == 2)
        #expect(hours(1, at: 0, nil) == nil)
        let slow = try #require(parseTimetable("2M"))
        let time = TransferTime(timetable: slow, minute: 0.5)
        #expect(time.text(of: 700 << 30) == "about 4 days at 2.0 MiB/s")
        #expect(time.text(of: 0) == nil)
        let two = try #require(parseTimetable("08:00,1M 20:00,3M"))
        #expect(
            TransferTime(timetable: two, minute: 0).text(of: 1 << 30)
                == "about 5 min by the timetable of --bwlimit"
        )
    }

    @Test func `a pause is not in the rate`() {
        var meter = RateMeter(over: .seconds(30))
        for second in 0...10 { meter.record(bytes: Int64(second) * 100, at: .seconds(second)) }
        // Nothing moves any more, which is known 4 s later.
        for second in 11...14 { meter.record(bytes: 1_000, at: .seconds(second)) }
        for second in 15...75 { meter.pause(at: .seconds(second)) }
        meter.record(bytes: 1_100, at: .seconds(76))
        #expect(meter.bytesPerSecond == 100)
    }

    @Test func `a transfer says what it waits for once it has moved nothing for a while`() {
        func transfer(_ bytes: Int64) -> ActiveTransfer {
            ActiveTransfer(
                action: .upload,
                key: "a",
                size: 100,
                bytesFinished: bytes,
                bytesResumed: 0
            )
        }
        var activity = TransferActivity(since: .zero)
        func waits(_ bytes: Int64, _ second: Int, _ othersMove: Bool = true) -> String? {
            activity.record(bytes, at: .seconds(second), isPaused: false)
            return activity.waiting(transfer(bytes), at: .seconds(second), othersMove: othersMove)
        }
        #expect(waits(0, 1) == nil)
        #expect(waits(0, 3) == "queued")
        #expect(waits(0, 3, false) == "waiting")
        #expect(waits(50, 4) == nil)
        #expect(waits(50, 8) == nil)
        #expect(waits(50, 9) == "waiting")
        activity.note(retryAt: .seconds(15))
        #expect(waits(50, 10) == "retry 0:05")
        #expect(waits(100, 12) == nil)
        #expect(waits(100, 20) == "no answer")
    }

    @Test func `nothing measured is nothing claimed`() {
        #expect(
            view(rate: nil).plain
                == "pull: 50%, 1.0 GiB of 2.0 GiB, ETA --, 3/10 items, 100 MiB resumed, "
                + "1:35 elapsed"
        )
        #expect(view(rate: 0).plain.contains("ETA --"))
    }

    @Test func `a run without bytes counts items`() {
        var progress = Self.progress
        progress.bytesPlanned = 0
        progress.bytesFinished = 0
        #expect(view(progress).plain.contains("30%"))
        progress.itemsPlanned = 0
        progress.itemsFinished = 0
        #expect(view(progress).plain.contains("100%"))
    }

    @Test func `99.9 percent is not 100`() {
        var progress = Self.progress
        progress.bytesFinished = progress.bytesPlanned - 1
        #expect(view(progress).plain.contains(" 99%,"))
    }

    @Test func `the rate is that of the last seconds`() {
        var meter = RateMeter()
        #expect(meter.bytesPerSecond == nil)
        meter.record(bytes: 0, at: .zero)
        #expect(meter.bytesPerSecond == nil)
        for second in 1...20 {
            meter.record(bytes: Int64(second) * 100, at: .seconds(second))
        }
        #expect(meter.bytesPerSecond == 100)
        for second in 21...40 { meter.record(bytes: 2_000, at: .seconds(second)) }
        #expect(meter.bytesPerSecond == 0)
    }

    @Test func `a transfer that begins again is measured again`() {
        var meter = RateMeter()
        meter.record(bytes: 1_000, at: .seconds(1))
        meter.record(bytes: 0, at: .seconds(2))
        #expect(meter.bytesPerSecond == nil)
        meter.record(bytes: 50, at: .seconds(3))
        #expect(meter.bytesPerSecond == 50)
    }

    @Test func `a frame is drawn over the one before`() {
        #expect(BarFrame.draw(["a", "b"], over: 0) == "a\u{1B}[K\nb\u{1B}[K\n")
        #expect(BarFrame.draw(["a"], over: 2) == "\r\u{1B}[2Aa\u{1B}[K\n\u{1B}[J")
        #expect(BarFrame.erase(2) == "\r\u{1B}[2A\u{1B}[J")
        #expect(BarFrame.erase(0) == "")
    }
}
