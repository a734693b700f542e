import Foundation
import OSSBucket
import StorageServer
import StoreFixture
import Testing

@testable import OSSTransfer

@Suite("When a manager starts a transfer", .timeLimit(.minutes(5)))
struct TransferPolicyTests {
    private static let content = StoreFixture.ramp(300_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `one of a higher priority comes first, also in the next process`() async throws {
        for name in ["a", "b", "c", "d"] {
            try await fixture.client().put(Self.content, to: name)
        }
        func firstProcess() async throws {
            let manager = try await fixture.manager()
            try await manager.add("a")
            try await manager.add("b", priority: 5)
            try await manager.add("c", kind: .download, path: fixture.path("c"), priority: -1)
            try await manager.add("d")
            try await manager.startAll()
            try await manager.setPriority(9, of: "d")
        }
        try await firstProcess()
        let questions = Questions()
        let second = try await fixture.nextManager(limit: 1) { name in
            questions.add(name)
            return try await fixture.download(name)
        }
        #expect(await second.transfers.map(\.priority) == [0, 5, -1, 9])
        try await second.setPriority(7, of: "a")
        try await second.runUntilIdle()
        #expect(questions.all == ["d", "a", "b", "c"])
        await expectError(.notFound) {
            try await second.setPriority(1, of: "none")
        }
    }

    @Test func `one waits for a network that suits it`() async throws {
        for name in ["a", "b"] { try await fixture.client().put(Self.content, to: name) }
        func firstProcess() async throws {
            let manager = try await fixture.manager()
            try await manager.add("a", allowsExpensiveNetwork: false)
            try await manager.add("b")
            try await manager.startAll()
        }
        try await firstProcess()
        let second = try await fixture.nextManager { try await fixture.download($0) }
        await second.networkChanged(isExpensive: true, isConstrained: true)
        try await second.runUntilIdle()
        #expect(await second.transfers.map(\.state) == [.waiting, .finished])
        await second.networkChanged(isExpensive: true, isConstrained: false)
        try await second.runUntilIdle()
        #expect(await second["a"]?.state == .waiting)
        try await second.setNetworks(
            allowsExpensive: true,
            allowsConstrained: false,
            of: "a"
        )
        #expect(await second["a"]?.allowsExpensiveNetwork == true)
        #expect(await second["a"]?.allowsConstrainedNetwork == false)
        try await second.runUntilIdle()
        #expect(await second["a"]?.state == .finished)
        #expect(fixture.content("a") == Self.content)
    }

    @Test func `one that runs stops when the network does not suit it any more, and goes on`()
        async throws
    {
        try await fixture.client().put(Self.content, to: "a")
        let manager = try await fixture.manager()
        try await manager.add(
            "a",
            allowsExpensiveNetwork: false,
            allowsConstrainedNetwork: false
        )
        try await manager.start("a")
        try fixture.hold("GetObject", from: 8)
        try await fixture.running(manager) {
            await fixture.server.untilHeld(1)
            await manager.networkChanged(isExpensive: true, isConstrained: false)
        }
        #expect(await manager["a"]?.state == .waiting)
        #expect(!fixture.exists("a"))
        let before = fixture.bytesSent
        await manager.networkChanged(isExpensive: false, isConstrained: false)
        try await manager.runUntilIdle()
        #expect(fixture.content("a") == Self.content)
        #expect(fixture.bytesSent - before < Int64(Self.content.count))
    }
}
