import SyncTestSupport
import Testing

@testable import OSSTransfer

/// An intent whose changes can be expected.
private final class Intent {
    private var value = TransferIntent()

    var state: TransferState { value.state }
    var isActive: Bool { value.isActive }
    var stopsAttempt: Bool { value.stopsAttempt }

    func accept(_ command: TransferCommand) -> Bool { value.accept(command) }
    func next() -> TransferIntent.Step? { value.next() }
    func ended(_ ending: TransferIntent.Ending) -> Bool { value.ended(ending) }
}

@Suite("What is wanted of a transfer")
struct TransferIntentTests {
    @Test func `one that is paused before its task begins makes no attempt`() {
        let intent = Intent()
        #expect(intent.accept(.run))
        #expect(!intent.accept(.pause))
        #expect(intent.next() == .pause)
        #expect(intent.ended(.done) && intent.state == .paused && !intent.isActive)
    }

    @Test func `one that is resumed while it is being paused makes another attempt`() {
        let intent = Intent()
        #expect(intent.accept(.run))
        #expect(intent.next() == .attempt)
        #expect(!intent.accept(.pause) && intent.stopsAttempt)
        #expect(!intent.accept(.run) && intent.stopsAttempt)
        #expect(!intent.ended(.stopped) && intent.next() == .attempt)
        #expect(intent.ended(.done) && intent.state == .finished)
    }

    @Test func `a running one needs no second start`() {
        let intent = Intent()
        #expect(intent.accept(.run))
        #expect(intent.next() == .attempt)
        #expect(!intent.accept(.run) && !intent.stopsAttempt)
        #expect(intent.ended(.failed) && intent.state == .failed)
    }

    @Test func `what is to be deleted is deleted also after a failure`() {
        let intent = Intent()
        #expect(intent.accept(.run))
        #expect(intent.next() == .attempt)
        #expect(!intent.accept(.cancel(keepsParts: false)))
        #expect(!intent.ended(.failed) && intent.next() == .discard)
        #expect(intent.ended(.done) && intent.state == .cancelled)
    }

    @Test func `a finished one stays finished`() {
        let intent = Intent()
        #expect(intent.accept(.run))
        #expect(intent.next() == .attempt)
        #expect(!intent.accept(.cancel(keepsParts: false)))
        #expect(intent.ended(.done) && intent.state == .finished)
        for command in [.run, .pause, .cancel(keepsParts: true)] as [TransferCommand] {
            #expect(!intent.accept(command))
        }
    }

    @Test func `one that has stopped has nothing to pause`() {
        let intent = Intent()
        #expect(!intent.accept(.pause) && intent.state == .ready)
        #expect(intent.accept(.cancel(keepsParts: true)))
        #expect(intent.next() == .stop)
        #expect(intent.ended(.done) && intent.state == .cancelled)
        #expect(!intent.accept(.cancel(keepsParts: true)) && !intent.accept(.pause))
    }

    /// Whatever is asked and whenever: in the end, the last command has been carried out, or the
    /// transfer had finished or failed before.
    @Test(arguments: UInt64(0)..<500) func `the last command counts`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let intent = Intent()
        var last: TransferCommand?
        var (isRunning, hasFailed) = (false, false)
        for _ in 0..<40 {
            if Bool.random(using: &generator) {
                let commands: [TransferCommand] = [
                    .run, .pause, .cancel(keepsParts: true), .cancel(keepsParts: false),
                ]
                let command = commands[Int.random(in: 0..<4, using: &generator)]
                if intent.state != .finished { (last, hasFailed) = (command, false) }
                if intent.accept(command) {
                    #expect(!isRunning)
                    isRunning = intent.next() != nil
                }
            } else if isRunning {
                let isStopped = intent.stopsAttempt && Bool.random(using: &generator)
                let isFailed = !isStopped && Int.random(in: 0..<4, using: &generator) == 0
                hasFailed = isFailed
                if intent.ended(isStopped ? .stopped : isFailed ? .failed : .done) {
                    isRunning = false
                } else {
                    #expect(intent.next() != nil)
                }
            }
        }
        while isRunning {
            // What is under way ends as it was told to.
            if intent.ended(intent.stopsAttempt ? .stopped : .done) {
                isRunning = false
            } else {
                #expect(intent.next() != nil)
            }
        }
        let state = intent.state
        guard state != .finished, !hasFailed, let last else { return }
        switch last {
        case .run: #expect(state == .failed)
        case .pause: #expect([.paused, .ready, .cancelled, .failed].contains(state))
        case .cancel: #expect(state == .cancelled)
        }
    }
}
