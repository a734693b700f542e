import Foundation
import OSSBucket
import StorageServer
import StoreFixture
import Testing

@testable import OSSTransfer

@Suite("The rows of a transfer manager", .timeLimit(.minutes(5)))
struct TransferRowsTests {
    private static let content = StoreFixture.ramp(300_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// The first rows that match; nil if there are none.
    private func first(
        _ manager: TransferManager,
        _ matches: ([ManagedTransfer]) -> Bool
    ) async -> [ManagedTransfer]? {
        for await rows in manager.rows where matches(rows) { return rows }
        return nil
    }

    @Test func `come as they change, from the first to the end of the manager`() async throws {
        for name in ["a", "b"] { try await fixture.client().put(Self.content, to: name) }
        var manager: TransferManager? = try await fixture.manager(limit: 1)
        let rows = try #require(manager).rows
        let watching = Task {
            var told: [[ManagedTransfer]] = []
            for await transfers in rows { told.append(transfers) }
            return told
        }
        func run(_ manager: TransferManager?) async throws {
            let manager = try #require(manager)
            for name in ["a", "b"] { try await manager.add(name) }
            try await manager.startAll()
            try fixture.hold("GetObject", from: 8)
            try await fixture.running(manager) {
                await fixture.server.untilHeld(1)
                let now = await first(manager) { $0[0].completedBytes > 0 }
                #expect(now?.map(\.state) == [.running, .waiting])
                #expect(now?.map(\.waitingFor) == [nil, .turn])
                #expect(now?[0].fraction.map { $0 > 0 && $0 < 1 } == true)
                #expect(now?[1].fraction == nil)
            }
            let done = await first(manager) { $0.allSatisfy { $0.state == .finished } }
            #expect(done?.map(\.fraction) == [1, 1])
            #expect(done?.map(\.bytesPerSecond) == [nil, nil])
        }
        try await run(manager)
        manager = nil
        let told = await watching.value
        #expect(told.first == [])
        #expect(told.last?.count == 2)
        // Each tells something new.
        #expect(zip(told, told.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func `come at most ten times a second, with the pace and the time left`() async throws {
        try await fixture.client().put(StoreFixture.ramp(900_000), to: "a")
        let client = try fixture.client()
        let path = fixture.path("a")
        let manager = try await fixture.nextManager { _ in
            .download(.object(client, key: "a"), to: path)
        }
        try await manager.add("a")
        try await manager.start("a")
        try fixture.setFaults(
            #"[{"match": {"operation": "GetObject"}, "effect": {"slow": 300000}}]"#
        )
        let start = ContinuousClock.now
        let rows = manager.rows
        async let run: Void = manager.runUntilIdle()
        var (count, paces, times) = (0, [Int64](), [Duration]())
        for await transfers in rows {
            count += 1
            if let pace = transfers[0].bytesPerSecond { paces.append(pace) }
            if let time = transfers[0].timeLeft { times.append(time) }
            if transfers[0].state == .finished { break }
        }
        try await run
        #expect(Double(count) <= (ContinuousClock.now - start) / .milliseconds(100) + 1)
        #expect(count > 5)
        #expect(paces.contains { (100_000...600_000).contains($0) })
        #expect(times.contains { $0 < .seconds(9) })
    }

    @Test func `tell which transfer waits for which network`() async throws {
        for name in ["a", "b"] { try await fixture.client().put(Self.content, to: name) }
        let dead = try fixture.client { $0.endpoint = StoreFixture.deadEndpoint }
        let manager = try await fixture.nextManager(reconnects: .standard) { name in
            switch name {
            case "lost": .download(.object(dead, key: "key"), to: fixture.path(name))
            case "away": throw TransferError(code: .remoteUnreachable, message: "no server")
            default: try await fixture.download(name)
            }
        }
        for name in ["lost", "away"] {
            try await manager.add(name, kind: .download, path: fixture.path(name))
        }
        try await manager.add("a", allowsExpensiveNetwork: false)
        await manager.networkChanged(isExpensive: true, isConstrained: false)
        #expect(await manager.transfers.map(\.waitingFor) == [nil, nil, nil])
        try await manager.startAll()
        let run = Task { try await manager.run() }
        let waits: [ManagedTransfer.Wait?] = [.network, .network, .allowedNetwork]
        let rows = await first(manager) { $0.map(\.waitingFor) == waits }
        #expect(rows?.map(\.state) == [.running, .running, .waiting])
        run.cancel()
        try await run.value
        #expect(await manager.transfers.map(\.waitingFor) == [.turn, .turn, .allowedNetwork])
    }

    @Test func `say why a transfer failed, also in the next process`() async throws {
        try await fixture.client().put(Self.content, to: "late")
        func firstProcess() async throws {
            let manager = try await fixture.nextManager { name in
                guard name != "late" else {
                    throw TransferError(code: .remoteUnreachable, message: "no server")
                }
                return try await fixture.download(name)
            }
            for name in ["absent", "late"] {
                try await manager.add(name, kind: .download, path: fixture.path(name))
            }
            try await manager.startAll()
            try await manager.runUntilIdle()
            #expect(await manager.transfers.map(\.state) == [.failed, .failed])
        }
        try await firstProcess()
        let second = try await fixture.nextManager { try await fixture.download($0) }
        let failed = await second.transfers
        #expect(failed.map(\.errorCode) == [.notFound, .remoteUnreachable])
        #expect(failed.map(\.isRetryable) == [false, true])
        #expect(failed[0].errorMessage?.contains("there is no such object") == true)
        #expect(failed[1].errorMessage?.contains("no server") == true)
        try await second.start("late")
        #expect(await second["late"]?.errorCode == nil)
        try await second.runUntilIdle()
        #expect(await second["late"]?.state == .finished)
        #expect(await second["late"]?.errorMessage == nil)
    }

    @Test func `of another limit are as many as that, at once`() async throws {
        for name in ["a", "b", "c"] { try await fixture.client().put(Self.content, to: name) }
        let manager = try await fixture.manager(limit: 1)
        for name in ["a", "b", "c"] { try await manager.add(name) }
        try await manager.startAll()
        try fixture.setFaults(
            #"[{"match": {"operation": "GetObject", "key": "a"}, "effect": {"hold": true}}]"#
        )
        await expectError(.configuration) { try await manager.setLimit(0) }
        try await fixture.running(manager) {
            await fixture.server.untilHeld(1)
            #expect(await manager["b"]?.state == .waiting)
            try await manager.setLimit(2)
            // One after the other, beside the one that is held.
            let rows = await first(manager) { $0[2].state == .finished }
            #expect(rows?.map(\.state) == [.running, .finished, .finished])
        }
        #expect(await manager.limit == 2)
    }

    @Test func `have a pace that is that of the last seconds`() {
        var pace = TransferPace()
        #expect(pace.bytesPerSecond(0, at: .zero) == nil)
        pace.note(0, at: .zero)
        #expect(pace.bytesPerSecond(100, at: .milliseconds(100)) == nil)
        for second in 1...20 { pace.note(Int64(second) * 1_000, at: .seconds(second)) }
        #expect(pace.bytesPerSecond(20_000, at: .seconds(20)) == 1_000)
        // Nothing comes any more.
        #expect(pace.bytesPerSecond(20_000, at: .seconds(22)) == 600)
        #expect(pace.bytesPerSecond(20_000, at: .seconds(30)) == 0)
        pace.note(20_000, at: .seconds(40))
        #expect(pace.bytesPerSecond(22_000, at: .seconds(41)) == 2_000)
    }
}

@Suite("A transfer in its process", .timeLimit(.minutes(5)))
struct RunningTransferTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `is found by its file while it runs`() async throws {
        let urls = try await fixture.presigned(StoreFixture.ramp(300_000))
        let other = fixture.path("./server/../file")
        try fixture.hold("GetObject")
        func start() async throws -> Transfer<ResumableDownload.Outcome> {
            #expect(await ResumableDownload.running(at: other) == nil)
            // Nobody keeps the object.
            return try fixture.resumable(.presigned(urls)).start()
        }
        let transfer = try await start()
        await fixture.server.untilHeld(1)
        #expect(await ResumableDownload.running(at: other) === transfer)
        #expect(await ResumableDownload.running(at: fixture.path("none")) == nil)
        let client = try fixture.client()
        let target = UploadTarget.object(client, key: "k")
        #expect(await ResumableUpload.running(of: other, to: target) == nil)
        try fixture.setFaults("[]")
        _ = try await transfer.value
        #expect(await ResumableDownload.running(at: other) == nil)

        try fixture.hold("PutObject")
        let upload = try ResumableUpload(of: fixture.path("file"), to: target)
        upload.start()
        #expect(await ResumableUpload.running(of: other, to: target) === upload.transfer)
        let elsewhere = UploadTarget.object(client, key: "other")
        #expect(await ResumableUpload.running(of: other, to: elsewhere) == nil)
        try fixture.setFaults("[]")
        _ = try await upload.run()
        #expect(await ResumableUpload.running(of: other, to: target) == nil)
    }

    @Test(arguments: [true, false]) func `takes the room of the whole if it is to`(
        reserves: Bool
    ) async throws {
        let content = StoreFixture.ramp(8 << 20)
        let urls = try await fixture.presigned(content)
        var options = DownloadOptions.inPieces
        options.reservesSpace = reserves
        let download = try fixture.resumable(.presigned(urls), options)
        _ = try await fixture.pause(download)
        let partial = try #require(fixture.names(in: ".").first { $0.hasPrefix(".osssync-") })
        var status = stat()
        #expect(unsafe stat(fixture.path(partial), &status) == 0)
        #expect(status.st_size == 8 << 20)
        #expect((status.st_blocks * 512 >= 8 << 20) == reserves)
        _ = try await download.run()
        #expect(fixture.content("file") == content)
    }
}
