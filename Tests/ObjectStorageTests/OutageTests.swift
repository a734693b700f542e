import SyncModel
import Synchronization
import Testing

@testable import ObjectStorage

/// A network that is away until so many requests failed.
private final class ComingNetwork: HTTPSending {
    private struct State {
        var sent: [String] = []
        var failures: Int
    }
    private let error: TransportError
    private let state: Mutex<State>
    private let always: String?

    /// `always` is in the address of the one object that is never fetched.
    init(failures: Int, _ error: TransportError, always: String? = nil) {
        self.error = error
        self.always = always
        state = Mutex(State(failures: failures))
    }

    var sent: [String] { state.withLock { $0.sent } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let fails = state.withLock { state in
            state.sent.append(request.url)
            if let always, request.url.contains(always) { return true }
            guard state.failures > 0 else { return false }
            state.failures -= 1
            return true
        }
        if fails { throw error }
        return HTTPResponse(head: ResponseHead(status: 204, headers: []), body: [], sent: nil)
    }
}

/// What the client said, and pauses that take no time.
private final class Notices: Sendable {
    private let heard = Mutex<[RetryNotice]>([])
    var all: [RetryNotice] { heard.withLock { $0 } }

    func observe(_ observation: StorageObservation) {
        if case .retrying(let notice) = observation { heard.withLock { $0.append(notice) } }
    }
}

@Suite("Without a connection")
struct OutageTests {
    private let refused = TransportError.connectFailed(reason: "refused")

    private func client(
        _ network: ComingNetwork,
        _ notices: Notices,
        firstAttempts: Int? = nil,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in await Task.yield() }
    ) throws -> StorageClient {
        try StorageClient.over(
            network,
            firstAttempts: firstAttempts,
            runBudget: 5,
            sleep: sleep,
            observe: { notices.observe($0) }
        )
    }

    /// Deletes so many objects at once; the errors.
    private func deleteAll(_ client: StorageClient, _ count: Int) async -> [StorageError] {
        await withTaskGroup(of: StorageError?.self) { group in
            for number in 0..<count {
                group.addTask {
                    do throws(StorageError) {
                        try await client.delete(
                            ObjectKey([UInt8]("key-\(number)".utf8)),
                            versionID: nil
                        )
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
        }
    }

    @Test func `what waits for the one that tries gives up with it`() async throws {
        let (network, notices) = (ComingNetwork(failures: .max, refused), Notices())
        let isHeld = Mutex(true)
        let client = try client(network, notices) { _ in
            while isHeld.withLock(\.self) { await Task.yield() }
        }
        async let first = deleteAll(client, 1)
        while notices.all.isEmpty { await Task.yield() }
        async let second = deleteAll(client, 1)
        while client.outage.waitingCount == 0 { await Task.yield() }
        isHeld.withLock { $0 = false }
        let errors = await first + second
        #expect(errors.count == 2 && errors.allSatisfy { $0.isOutage })
        #expect(notices.all.map(\.attempt) == Array(1...7))
        #expect(network.sent.count == 8)
        let expected =
            "there is no connection: refused. Check the endpoint's name and the network"
        #expect(errors.allSatisfy { $0.message == expected })
    }

    @Test func `a pause is told, and ends when there may be a network again`() async throws {
        let network = ComingNetwork(failures: 3, refused)
        // A pause that ends only with its task.
        let client = try client(network, Notices()) { _ in
            let never = Condition()
            await never.wait(after: never.version)
            try Task.checkCancellation()
        }
        let back = Condition()
        let told = Mutex<[ConnectionWatch.Wait]>([])
        let watch = ConnectionWatch(network: back) { wait in
            told.withLock { $0.append(wait) }
            back.raise()
        }
        let errors = await ConnectionWatch.$current.withValue(watch) {
            await deleteAll(client, 1)
        }
        #expect(errors == [])
        let waits = told.withLock(\.self)
        #expect(waits.count == 3 && waits.allSatisfy { $0.error.kind == .transport(refused) })
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0.pause < $1.pause })
    }

    @Test func `a lost connection is told from its second failure`() async throws {
        for (error, failures, expected) in [
            (TransportError.connectionLost, 1, 0), (.connectionLost, 3, 2), (.stalled, 1, 1),
        ] {
            let network = ComingNetwork(failures: failures, error)
            let told = Mutex(0)
            let watch = ConnectionWatch(network: Condition()) { _ in told.withLock { $0 += 1 } }
            let client = try client(network, Notices())
            let errors = await ConnectionWatch.$current.withValue(watch) {
                await deleteAll(client, 1)
            }
            #expect(errors == [] && told.withLock(\.self) == expected)
        }
    }

    @Test func `a thousand requests wait together and go on when it is back`() async throws {
        let (network, notices) = (ComingNetwork(failures: 5, refused), Notices())
        let client = try client(network, notices)
        #expect(await deleteAll(client, 1_000) == [])
        // Nobody but the one that tries for all spends tries.
        #expect(network.sent.count == 1_005)
        #expect(notices.all.count <= 7)
        #expect(notices.all.allSatisfy { $0.isOutage && $0.limit == 7 })
        #expect(notices.all.map(\.attempt) == Array(1...notices.all.count))
    }

    @Test func `after the last try all that wait end, and say why`() async throws {
        let (network, notices) = (ComingNetwork(failures: .max, .dnsFailed), Notices())
        let client = try client(network, notices)
        let errors = await deleteAll(client, 50)
        #expect(errors.count == 50)
        #expect(errors.allSatisfy { $0.isOutage })
        #expect(network.sent.count >= 8)
        #expect(notices.all.count { $0.attempt == 7 } >= 1)
    }

    @Test func `the first request may be given up sooner, and no later one`() async throws {
        let (network, notices) = (ComingNetwork(failures: .max, refused), Notices())
        let hasty = try client(network, notices, firstAttempts: 3)
        #expect(await deleteAll(hasty, 1).count == 1)
        #expect(network.sent.count == 3)
        let (later, heard) = (ComingNetwork(failures: 6, refused, always: "no-such"), Notices())
        let patient = try client(later, heard, firstAttempts: 8)
        #expect(await deleteAll(patient, 1) == [])
        #expect(heard.all.map(\.pause) == [1.75, 3.5, 7, 14, 26.25, 26.25].map { .seconds($0) })
    }

    @Test func `connections that are lost one after the other are an outage, too`() async throws {
        let (network, notices) = (ComingNetwork(failures: .max, .connectionLost), Notices())
        let client = try client(network, notices)
        let errors = await deleteAll(client, 20)
        #expect(errors.count == 20)
        #expect(errors.contains { $0.isOutage })
        #expect(network.sent.count < 100)
    }

    @Test func `one object whose connection is always lost stops no other one`() async throws {
        let network = ComingNetwork(failures: 0, .connectionLost, always: "key-7")
        let notices = Notices()
        let client = try client(network, notices)
        _ = await deleteAll(client, 1)
        let errors = await deleteAll(client, 20)
        #expect(errors.count == 1)
        #expect(errors.allSatisfy { !$0.isOutage })
        #expect(notices.all.allSatisfy { !$0.isOutage })
    }

    @Test func `a task that is cancelled in the pause ends at once, and another one tries`()
        async throws
    {
        let (network, notices) = (ComingNetwork(failures: 2, refused), Notices())
        let isPausing = Atomic(false)
        let client = try client(network, notices) { _ in
            let isFirst = isPausing.exchange(true, ordering: .relaxed) == false
            while isFirst, !Task.isCancelled { await Task.yield() }
            try Task.checkCancellation()
        }
        let first = Task { await deleteAll(client, 1) }
        while !isPausing.load(ordering: .relaxed) { await Task.yield() }
        let second = Task { await deleteAll(client, 1) }
        while network.sent.count < 1 { await Task.yield() }
        first.cancel()
        let ends = await first.value
        #expect(ends.map(\.kind) == [.cancelled])
        #expect(await second.value == [])
    }
}
