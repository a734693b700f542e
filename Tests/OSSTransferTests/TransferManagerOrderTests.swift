import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Synchronization
import Testing

@Suite("What a transfer manager tells, and in which order", .timeLimit(.minutes(30)))
struct TransferManagerOrderTests {
    private static let content = StoreFixture.ramp(1_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// Holds what follows the first bytes of a download.
    private static let holding =
        #"[{"match": {"operation": "GetObject", "from": 8}, "effect": {"hold": true}}]"#

    /// Returns when the latest that was told of the one transfer is that it has begun.
    private func untilStarted(_ events: inout TransferEvent.Updates.AsyncIterator) async {
        while let event = await events.next() {
            if case .started = event.kind { return }
        }
    }

    @Test func `a loop that comes during a run hears of progress`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let manager = try await fixture.manager()
        try await manager.add("a")
        try await manager.start("a")
        try fixture.setFaults(Self.holding)
        var listener: Listener?
        try await fixture.running(manager) {
            await fixture.server.untilHeld(1)
            listener = Listener(manager)
        }
        await listener?.untilTold("a", "finished")
        #expect(listener?.told == ["a": ["progress", "finished"]])
    }

    @Test func `one that is added while another of its name is forgotten stays`() async throws {
        let names = (0..<raceRounds).map { "n\($0)" }
        for name in names { try await fixture.client().put([1, 2, 3], to: name) }
        var manager: TransferManager? = try await fixture.manager()
        var added: [String] = []
        func removeAndAdd(_ manager: TransferManager?) async throws {
            let manager = try #require(manager)
            for name in names {
                try await manager.add(name)
                try await manager.start(name)
            }
            try await manager.runUntilIdle()
            for name in names {
                let job = try await fixture.download(name)
                async let removed: Void = manager.forget(name)
                try await manager.add(name, job: job)
                // It forgets the new one only if it came later, and none that is being added.
                do {
                    try await removed
                } catch {
                    #expect((error as? TransferError)?.code == .locked)
                }
                if await manager[name] != nil { added.append(name) }
                #expect(await manager[name].map { $0.state == .ready } != false)
            }
        }
        try await removeAndAdd(manager)
        manager = nil
        let next = try await fixture.nextManager { try await fixture.download($0) }
        #expect(await next.transfers.map(\.id).sorted() == added.sorted())
        #expect(await next.transfers.allSatisfy { $0.state == .ready })
    }

    /// A pause that is told after the start that followed would take the start's place, which
    /// nobody would hear of then.
    @Test func `one that is resumed at once is told of as started after it paused`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let manager = try await fixture.manager()
        try await manager.add("a")
        try await manager.start("a")
        try fixture.hold("GetObject")
        var events = manager.events.makeAsyncIterator()
        let run = Task { try await manager.run() }
        await untilStarted(&events)
        // Writing down that it rests takes its time when the disk has much to do before.
        let path = String(repeating: "x", count: 1 << 20)
        let job = TransferJob.upload(of: path, to: try fixture.client(), key: "k")
        for round in 0..<raceRounds {
            let others = round < 3 ? 8 : 0
            async let added: Void = withThrowingTaskGroup { group in
                for number in 0..<others {
                    group.addTask { try await manager.add("\(round).\(number)", job: job) }
                }
                try await group.waitForAll()
            }
            for _ in 0..<others * 25 { await Task.yield() }
            async let paused: Void = manager.pause("a")
            while await manager["a"]?.state != .paused { await Task.yield() }
            try await manager.start("a")
            try await paused
            await untilStarted(&events)
            try await added
        }
        run.cancel()
        _ = await run.result
        try fixture.setFaults("[]")
    }

    @Test func `all are paused, also if one of them cannot be written down`() async throws {
        var manager: TransferManager? = try await fixture.manager(limit: 1)
        for name in ["a", "b", "c"] { try await fixture.client().put(Self.content, to: name) }
        try await pauseAll(#require(manager), fixture)
        manager = nil
        let next = try await fixture.nextManager { try await fixture.download($0) }
        #expect(await next.transfers.map(\.id) == ["a", "c"])
        #expect(await next.transfers.allSatisfy { $0.state == .paused })
    }

    /// Pauses a while it runs, b whose record cannot be written, and c.
    private func pauseAll(_ manager: TransferManager, _ fixture: StoreFixture) async throws {
        for name in ["a", "b", "c"] {
            try await manager.add(name)
            try await manager.start(name)
        }
        let record = fixture.names(in: "transfers").first { name in
            let text = String(decoding: fixture.content("transfers/" + name) ?? [], as: UTF8.self)
            return text.contains(#""identifier":"b""#)
        }
        let path = fixture.path("transfers/" + (try #require(record)))
        try fixture.setFaults(Self.holding)
        try await fixture.running(manager) {
            await fixture.server.untilHeld(1)
            try FileManager.default.removeItem(atPath: path)
            try fixture.write("transfers/" + (path as NSString).lastPathComponent + "/full", [])
            await expectError(.localState) { try await manager.pauseAll() }
            #expect(await manager.transfers.allSatisfy { $0.state == .paused })
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func `of transfers that are gone only the latest are still told`() async throws {
        var manager: TransferManager? = try await fixture.manager()
        var events = try #require(manager?.events.makeAsyncIterator())
        for number in 0..<300 {
            try await manager?.add("n\(number)")
            try await manager?.cancel("n\(number)")
        }
        manager = nil
        var told: [String] = []
        while let event = await events.next() { told.append(event.id) }
        #expect(told == (44..<300).map { "n\($0)" })
    }
}
