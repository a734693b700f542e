import OSSBucket
import StorageServer
import StoreFixture
import SyncModel
import Synchronization
import Testing

@testable import OSSTransfer

/// Calls that come when the work has not begun, is ending, or is being stopped, again and again:
/// none is lost.
@Suite("Calls at any time", .timeLimit(.minutes(10)))
struct IntentRaceTests {
    private static let rounds = min(1_000, raceRounds * 10)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// A download by a signed URL, to a file of its own.
    private func download(
        _ fixture: StoreFixture,
        _ urls: PresignedURLs,
        _ number: Int
    ) throws -> ResumableDownload {
        try ResumableDownload(from: .presigned(urls), to: fixture.path("file\(number)"))
    }

    /// Makes the server answer nothing, so that a call after the start is never too late, even if
    /// this thread is interrupted between the two.
    private func holdAll(_ fixture: StoreFixture) async throws -> PresignedURLs {
        let urls = try await fixture.presigned([1, 2, 3])
        try fixture.hold("GetObject")
        return urls
    }

    @Test func `a pause right after the start is obeyed`() async throws {
        let urls = try await holdAll(fixture)
        for number in 0..<Self.rounds {
            let transfer = try download(fixture, urls, number).start()
            transfer.pause()
            #expect(try await transfer.value == .paused(nil))
            #expect(transfer.state == .paused)
        }
    }

    @Test func `a pause before the first answer does not wait for it`() async throws {
        let urls = try await holdAll(fixture)
        let transfer = try download(fixture, urls, 0).start()
        await fixture.server.untilHeld(1)
        transfer.pause()
        #expect(try await transfer.value == .paused(nil))
    }

    @Test func `a cancellation right after the start leaves nothing`() async throws {
        let urls = try await holdAll(fixture)
        for number in 0..<Self.rounds {
            let transfer = try download(fixture, urls, number).start()
            transfer.cancel()
            #expect(try await transfer.value == .cancelled)
        }
        #expect(fixture.names(in: ".").filter { $0 != "server" } == [])
    }

    @Test func `calls from elsewhere while the work begins are obeyed`() async throws {
        let urls = try await fixture.presigned(StoreFixture.ramp(200_000))
        var paused = 0
        for number in 0..<Self.rounds {
            let download = try download(fixture, urls, number)
            let isPause = number % 2 == 0
            async let told: Void = elsewhere(number % 7) {
                isPause ? download.transfer.pause() : download.transfer.cancel()
            }
            let transfer = download.start()
            let outcome = try await transfer.value
            await told
            switch outcome {
            case .finished: #expect(fixture.exists("file\(number)"))
            case .paused: #expect(isPause && !fixture.exists("file\(number)"))
            case .cancelled: #expect(!isPause && !fixture.exists("file\(number)"))
            }
            if case .finished = outcome {} else { paused += 1 }
            try await download.discard()
        }
        #expect(paused > 0)
        #expect(fixture.partials == 0)
    }

    @concurrent private func elsewhere(_ turns: Int, _ body: @Sendable () -> Void) async {
        for _ in 0..<turns { await Task.yield() }
        body()
    }

    @Test func `one that is resumed while it is being paused finishes`() async throws {
        let urls = try await fixture.presigned(StoreFixture.ramp(100_000))
        for number in 0..<Self.rounds {
            let transfer = try download(fixture, urls, number).start()
            for _ in 0..<number % 11 { await Task.yield() }
            transfer.pause()
            for _ in 0..<number % 5 { await Task.yield() }
            transfer.resume()
            #expect(try await transfer.value.file?.info.size == 100_000)
        }
    }

    /// Many wait, so that the first of them goes on while the others are still being told.
    @Test func `one that is resumed as soon as it is paused has one attempt at a time`()
        async throws
    {
        let work = EndlessWork()
        let transfer = Transfer(work)
        for _ in 0..<Self.rounds {
            let version = work.begun.version
            transfer.resume()
            await work.begun.wait(after: version)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        let outcome = try await transfer.value
                        transfer.resume()
                        return outcome
                    }
                }
                transfer.pause()
                // One that begins to wait late waits for another pause.
                for try await outcome in group {
                    #expect(outcome == 1)
                    transfer.pause()
                }
            }
            #expect(try await transfer.value == 1)
        }
        #expect(work.attemptCounts.withLock { $0.most } == 1)
    }

    @Test func `a manager resumes what is being paused`() async throws {
        try await fixture.client().put(StoreFixture.ramp(50_000), to: "a")
        let job = try await fixture.download("a")
        let manager = try await fixture.manager()
        let run = Task { try await manager.run() }
        for number in 0..<Self.rounds {
            let name = "n\(number)"
            try await manager.add(name, job: job)
            try await manager.start(name)
            for _ in 0..<number % 50 { await Task.yield() }
            async let paused: Void = manager.pause(name)
            while await !manager.isPausing(name) { await Task.yield() }
            try await manager.start(name)
            try await paused
            while await manager[name]?.state != .finished { await Task.yield() }
            try await manager.forget(name)
        }
        run.cancel()
        _ = await run.result
    }
}

extension TransferManager {
    /// True once a pause was asked for, or came too late.
    fileprivate func isPausing(_ id: String) -> Bool {
        let entry = entries[ObjectKey(id)]
        return entry?.wanted == .paused || entry?.transfer.state == .finished
    }
}

/// Moves nothing until it is stopped, and counts its attempts.
private final class EndlessWork: TransferWork {
    let begun = Condition()
    let attemptCounts = Mutex((running: 0, most: 0))
    let attempts = TransferAttempts(
        "a test",
        DownloadOptions(),
        "",
        nil,
        monitor: nil,
        onNotice: { _ in }
    )
    let cancelled = 2

    func attempt(_ gate: PauseGate) async throws(TransferError) -> Int {
        attemptCounts.withLock { counts in
            counts.running += 1
            counts.most = max(counts.most, counts.running)
        }
        begun.raise()
        await gate.untilRaised()
        attemptCounts.withLock { $0.running -= 1 }
        throw TransferError(code: .cancelled, message: "stopped")
    }

    func paused() -> Int { 1 }

    func discard() {}
}
