import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Synchronization
import Testing

@Suite("Transfer manager")
struct TransferManagerTests {
    private static let names = ["a", "b", "c", "d", "e"]
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static func content(_ name: String) -> [UInt8] {
        StoreFixture.ramp(600_000, name == "a" ? 0 : Int(name.utf8.first ?? 0))
    }

    @Test func `runs a few at once, in the order in which they were started`() async throws {
        let manager = try await fixture.manager(limit: 2)
        for name in Self.names {
            try await fixture.client().put(Self.content(name), to: name)
            try await manager.add(name)
        }
        for name in Self.names.reversed() { try await manager.start(name) }
        try fixture.hold("GetObject")
        async let end: Void = manager.runUntilIdle()
        await fixture.server.untilHeld(2)
        let states = await manager.transfers.map(\.state)
        #expect(states == [.waiting, .waiting, .waiting, .running, .running])
        try fixture.setFaults("[]")
        try await end
        for name in Self.names { #expect(fixture.content(name) == Self.content(name)) }
        let done = await manager.transfers
        #expect(done.map(\.id) == Self.names)
        #expect(done.allSatisfy { $0.state == .finished && $0.completedBytes == 600_000 })
        for name in Self.names { try await manager.forget(name) }
        #expect(fixture.names(in: "transfers") == ["manager.lock"])
    }

    /// a finishes, b is paused in its midst, c while it waits, d runs at the end, and e waits.
    private func firstProcess(_ fixture: StoreFixture, _ questions: Questions) async throws {
        let manager = try await fixture.manager(limit: 1, questions: questions)
        for name in Self.names {
            try await fixture.client().put(Self.content(name), to: name)
            try await manager.add(name)
            try await manager.start(name)
        }
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "key": "b", "from": 8}, "effect": {"hold": true}},
             {"match": {"operation": "GetObject", "key": "d"}, "effect": {"hold": true}}]
            """
        )
        let run = Task { try await manager.run() }
        await fixture.server.untilHeld(1)
        for name in ["c", "b"] { try await manager.pause(name) }
        await fixture.server.untilHeld(2)
        run.cancel()
        _ = await run.result
        try fixture.setFaults("[]")
    }

    @Test func `goes on in the next process where it was`() async throws {
        let questions = Questions()
        try await firstProcess(fixture, questions)
        #expect(!fixture.hasSecrets(in: "transfers"))

        let second = try await fixture.nextManager { name in
            questions.add(name)
            return try await fixture.download(name)
        }
        let found = await second.transfers
        #expect(found.map(\.id) == Self.names)
        #expect(found.map(\.state) == [.finished, .paused, .paused, .waiting, .waiting])
        #expect(found[1].completedBytes > 0 && found[1].completedBytes < 600_000)
        #expect(found[1].totalBytes == 600_000)
        try await second.runUntilIdle()
        let states = await second.transfers.map(\.state)
        #expect(states == [.finished, .paused, .paused, .finished, .finished])
        #expect(!fixture.exists("b"))
        for name in ["b", "c"] { try await second.start(name) }
        try await second.runUntilIdle()
        for name in Self.names { #expect(fixture.content(name) == Self.content(name)) }
        #expect(questions.count(of: "a") == 1 && questions.count(of: "b") == 2)
        #expect(fixture.bytesSent <= 5 * 600_000 + 65_536)
    }

    @Test func `tells how each transfer goes, and how it ends`() async throws {
        let manager = try await fixture.manager(limit: 1)
        let listener = Listener(manager)
        for name in ["a", "b"] { try await fixture.client().put(Self.content(name), to: name) }
        for name in ["a", "b", "absent"] {
            try await manager.add(name)
            try await manager.start(name)
        }
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "key": "a", "from": 8},
              "effect": {"hold": true}}]
            """
        )
        try await fixture.running(manager) {
            await fixture.server.untilHeld(1)
            try await manager.pause("a")
            await listener.untilTold("a", "paused")
            try await manager.cancel("a")
        }
        await listener.untilTold("a", "cancelled")
        await listener.untilTold("b", "finished")
        await listener.untilTold("absent", "failed notFound")
        #expect(listener.told["a"] == ["progress", "paused", "cancelled"])
        #expect(listener.told["b"] == ["progress", "finished"])
        #expect(listener.told["absent"] == ["failed notFound"])
        #expect(await manager["a"] == nil)
        #expect(await manager["absent"]?.state == .failed)
    }

    @Test func `keeps the latest events of each transfer for a slow listener`() async throws {
        var manager: TransferManager? = try await fixture.manager()
        var events = try #require(manager?.events.makeAsyncIterator())
        for name in Self.names {
            try await fixture.client().put(Self.content(name), to: name)
            try await manager?.add(name)
            try await manager?.start(name)
        }
        try await manager?.runUntilIdle()
        manager = nil
        var told: [String: [TransferEvent]] = [:]
        while let event = await events.next() { told[event.id, default: []].append(event) }
        #expect(told.keys.sorted() == Self.names)
        for events in told.values {
            #expect(events.count == 2)
            if case .progress(let progress)? = events.first?.kind {
                #expect(progress.stepBytes == 600_000 && progress.completedBytes == 600_000)
            } else {
                Issue.record("no progress")
            }
            guard case .finished(.downloaded(let file))? = events.last?.kind else {
                Issue.record("it has not finished")
                continue
            }
            #expect(file.isVerified)
        }
    }

    @Test func `pauses all, those that wait first`() async throws {
        let manager = try await fixture.manager(limit: 2)
        for name in Self.names {
            try await fixture.client().put(Self.content(name), to: name)
            try await manager.add(name)
            try await manager.start(name)
        }
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "from": 8, "eachKey": true},
              "effect": {"hold": true}}]
            """
        )
        async let end: Void = manager.runUntilIdle()
        await fixture.server.untilHeld(2)
        try await manager.pauseAll()
        try await end
        #expect(await manager.transfers.allSatisfy { $0.state == .paused })
        let bytes = await manager.transfers.map(\.completedBytes)
        #expect(bytes[0] > 0 && bytes[1] > 0 && bytes[2...] == [0, 0, 0])
    }

    @Test func `a finished one that is cancelled is forgotten, keeps its file, and tells nothing`()
        async throws
    {
        let manager = try await fixture.manager()
        let listener = Listener(manager)
        try await fixture.client().put(Self.content("a"), to: "a")
        for _ in 0..<2 {
            try await manager.add("a")
            try await manager.start("a")
            try await manager.runUntilIdle()
            await listener.untilTold("a", "finished")
            try await manager.cancel("a")
            #expect(await manager["a"] == nil)
            #expect(fixture.content("a") == Self.content("a"))
        }
        // What the first cancellation told would come before what the second transfer told.
        #expect(Set(listener.told["a"] ?? []) == ["progress", "finished"])
    }
}
