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
