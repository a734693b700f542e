import Testing

@testable import SyncEngine

@Suite("When a watch pushes what")
struct PushScheduleTests {
    private var schedule = PushSchedule(settling: .seconds(5), now: .zero)

    /// A schedule that has pushed everything at 0, and does so again after an hour.
    init() {
        schedule.setInterval(.seconds(3_600))
        #expect(schedule.next(at: .zero) == .push(.everything(.start)))
        #expect(finish(.everything(.start), .complete, at: 0) == nil)
    }

    @Test mutating func `a round knows whether other paths wait`() {
        #expect(note("a", at: 0))
        #expect(!note("b", at: 3))
        #expect(next(at: 5) == .push(Self.paths("a")))
        #expect(schedule.isWaiting)
        #expect(finish(Self.paths("a"), .complete, at: 5) == nil)
        #expect(next(at: 8) == .push(Self.paths("b")))
        #expect(!schedule.isWaiting)
    }

    private static func paths(_ texts: String...) -> PushSchedule.Work {
        .paths(texts.map { [UInt8]($0.utf8) })
    }

    private mutating func note(_ path: String, at seconds: Int) -> Bool {
        schedule.note([UInt8](path.utf8), at: .seconds(seconds))
    }

    private mutating func next(at seconds: Int) -> PushSchedule.Next {
        schedule.next(at: .seconds(seconds))
    }

    private mutating func finish(
        _ work: PushSchedule.Work,
        _ outcome: WatchOutcome,
        from began: Int? = nil,
        at seconds: Int
    ) -> Duration? {
        schedule.finish(
            work,
            outcome,
            began: .seconds(began ?? seconds),
            at: .seconds(seconds)
        )
    }

    @Test mutating func `a path waits until it is quiet, and others do not wait for it`() {
        #expect(note("a", at: 10))
        #expect(!note("b", at: 11))
        #expect(next(at: 11) == .wait(until: .seconds(15)))
        _ = note("a", at: 14)
        #expect(next(at: 16) == .push(Self.paths("b")))
        #expect(finish(Self.paths("b"), .complete, at: 16) == nil)
        #expect(next(at: 16) == .wait(until: .seconds(19)))
        #expect(next(at: 19) == .push(Self.paths("a")))
        #expect(next(at: 19) == .wait(until: .seconds(3_600)))
    }

    @Test mutating func `a change does not wait for what is tried again later`() {
        _ = note("a", at: 10)
        for (time, again) in [(15, 20), (20, 30)] {
            #expect(next(at: time) == .push(Self.paths("a")))
            #expect(finish(Self.paths("a"), .incomplete, at: time) == .seconds(again))
        }
        #expect(next(at: 20) == .wait(until: .seconds(30)))
        #expect(note("b", at: 21))
        #expect(!note("c", at: 22))
        #expect(next(at: 27) == .push(Self.paths("b", "c")))
        #expect(next(at: 27) == .wait(until: .seconds(30)))
    }

    @Test mutating func `what is due together is one round`() {
        for path in ["d/b", "a"] { _ = note(path, at: 10) }
        _ = note("d/a", at: 11)
        _ = note("later", at: 12)
        #expect(next(at: 15) == .push(Self.paths("a", "d/a", "d/b")))
        #expect(next(at: 15) == .wait(until: .seconds(17)))
    }

    @Test mutating func `a path that is never quiet is pushed in the end`() {
        for second in 10..<70 {
            _ = note("log", at: second)
            #expect(next(at: second) == .wait(until: .seconds(min(second + 5, 70))))
        }
        #expect(next(at: 70) == .push(Self.paths("log")))
        _ = note("log", at: 71)
        #expect(next(at: 71) == .wait(until: .seconds(76)))
    }

    @Test mutating func `a directory that waits has what is beneath it`() {
        _ = note("d", at: 10)
        _ = note("d/e/f", at: 13)
        _ = note("d-x", at: 13)
        #expect(next(at: 18) == .push(Self.paths("d", "d-x")))
    }

    @Test mutating func `many paths become their directories, and then everything`() {
        let limit = PushSchedule.maximumPaths
        _ = note("top", at: 10)
        for index in 0..<limit { _ = note("d/e/\(index)", at: 10) }
        #expect(next(at: 15) == .push(Self.paths("d/e", "top")))
        #expect(finish(Self.paths("d/e", "top"), .complete, at: 15) == nil)
        for index in 0...limit { _ = note("d/e/\(index)", at: 20) }
        // Those that come later are in it, too.
        for index in 0...limit { _ = note("d/e/\(index)/x", at: 22) }
        #expect(next(at: 27) == .push(Self.paths("d/e")))
        for index in 0...limit { _ = note("\(index)", at: 30) }
        #expect(next(at: 35) == .push(.everything(.changes)))
        #expect(finish(.everything(.changes), .complete, at: 35) == nil)
        #expect(next(at: 35) == .wait(until: .seconds(3_635)))
    }

    @Test mutating func `lost changes are found by a push of everything, once`() {
        schedule.noteLoss(.overflow, at: .seconds(10))
        schedule.noteLoss(.moved, at: .seconds(11))
        _ = note("a", at: 11)
        #expect(next(at: 15) == .push(.everything(.overflow)))
        #expect(finish(.everything(.overflow), .complete, at: 16) == nil)
        #expect(next(at: 16) == .wait(until: .seconds(3_616)))
        #expect(next(at: 3_616) == .push(.everything(.interval)))
    }

    @Test func `changes that are lost during the first push are not forgotten`() {
        var schedule = PushSchedule(settling: .seconds(5), now: .zero)
        let first = PushSchedule.Work.everything(.start)
        #expect(schedule.next(at: .zero) == .push(first))
        schedule.setInterval(.seconds(3_600))
        schedule.noteLoss(.overflow, at: .seconds(40))
        #expect(schedule.finish(first, .complete, began: .zero, at: .seconds(60)) == nil)
        #expect(schedule.next(at: .seconds(60)) == .push(.everything(.overflow)))
    }

    @Test mutating func `changes that are lost while everything is pushed are not forgotten`() {
        #expect(next(at: 3_600) == .push(.everything(.interval)))
        schedule.noteLoss(.overflow, at: .seconds(3_601))
        _ = note("a", at: 3_602)
        #expect(finish(.everything(.interval), .complete, from: 3_600, at: 3_603) == nil)
        #expect(next(at: 3_606) == .push(.everything(.overflow)))
    }

    @Test mutating func `what failed is tried again after growing pauses, beside other changes`() {
        _ = note("a", at: 10)
        var now = 15
        for pause in [5, 10, 20, 40] {
            #expect(next(at: now) == .push(Self.paths("a")))
            #expect(
                finish(Self.paths("a"), .incomplete, at: now) == .seconds(now + pause)
            )
            now += pause
        }
        _ = note("b", at: now - 20)
        #expect(next(at: now - 15) == .push(Self.paths("b")))
        #expect(finish(Self.paths("b"), .complete, at: now - 15) == nil)
        #expect(next(at: now) == .push(Self.paths("a")))
        #expect(finish(Self.paths("a"), .complete, at: now) == nil)
        // The next failure is the first again.
        _ = note("a", at: now)
        #expect(next(at: now + 5) == .push(Self.paths("a")))
        #expect(finish(Self.paths("a"), .incomplete, at: now + 5) == .seconds(now + 10))
    }

    @Test mutating func `a change of what failed need not wait as long as that`() {
        _ = note("a", at: 10)
        #expect(next(at: 15) == .push(Self.paths("a")))
        #expect(finish(Self.paths("a"), .incomplete, from: 15, at: 1_015) == .seconds(2_015))
        _ = note("a", at: 1_020)
        #expect(next(at: 1_025) == .push(Self.paths("a")))
    }

    @Test mutating func `while nothing can be pushed, all wait`() {
        _ = note("a", at: 10)
        #expect(next(at: 15) == .push(Self.paths("a")))
        _ = note("b", at: 16)
        #expect(finish(Self.paths("a"), .unavailable, at: 20) == .seconds(25))
        #expect(next(at: 24) == .wait(until: .seconds(25)))
        #expect(next(at: 25) == .push(Self.paths("a", "b")))
        #expect(finish(Self.paths("a", "b"), .unavailable, at: 25) == .seconds(35))
        #expect(next(at: 35) == .push(Self.paths("a", "b")))
        #expect(finish(Self.paths("a", "b"), .complete, at: 35) == nil)
    }

    @Test mutating func `a push of everything that fails is tried again`() {
        #expect(next(at: 3_600) == .push(.everything(.interval)))
        #expect(finish(.everything(.interval), .unavailable, at: 3_601) == .seconds(3_606))
        _ = note("a", at: 3_601)
        #expect(next(at: 3_605) == .wait(until: .seconds(3_606)))
        #expect(next(at: 3_606) == .push(.everything(.interval)))
        // One that takes long leaves time for others.
        let failed = finish(.everything(.interval), .incomplete, from: 3_606, at: 4_606)
        #expect(failed == .seconds(5_606))
        #expect(next(at: 5_606) == .push(.everything(.interval)))
    }

    @Test mutating func `what cannot be pushed by its paths is pushed with everything`() {
        _ = note("a", at: 10)
        #expect(next(at: 15) == .push(Self.paths("a")))
        #expect(finish(Self.paths("a"), .refused, at: 16) == nil)
        #expect(next(at: 16) == .push(.everything(.refused)))
    }
}
