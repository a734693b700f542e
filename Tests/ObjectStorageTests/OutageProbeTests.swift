import SyncModel
import Synchronization
import Testing

@testable import ObjectStorage

/// A network whose answers are made by hand; `number` counts its requests from 1.
private final class ScriptedNetwork: HTTPSending {
    typealias Script =
        @Sendable (_ number: Int, _ request: HTTPRequest) async throws(TransportError) -> Int
    private let script: Script
    private let sent = Mutex<[String]>([])

    /// `script` returns the status of the answer.
    init(_ script: @escaping Script) { self.script = script }

    func hasSent(_ part: String) -> Bool {
        sent.withLock { $0.contains { $0.contains(part) } }
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let number = sent.withLock { sent in
            sent.append("\(request.method) \(request.url)")
            return sent.count
        }
        let status = try await script(number, request)
        return HTTPResponse(head: ResponseHead(status: status, headers: []), body: [], sent: nil)
    }
}

@Suite("The request that tries for all", .timeLimit(.minutes(10)))
struct OutageProbeTests {
    private static let refused = TransportError.connectFailed(reason: "refused")

    private static func letOthersRun() async {
        for _ in 0..<1_000 { await Task.yield() }
    }

    private func client(_ network: ScriptedNetwork) throws -> StorageClient {
        try StorageClient.over(
            network,
            runBudget: 100,
            sleep: { _ in await Self.letOthersRun() }
        )
    }

    private func error(
        _ body: () async throws(StorageError) -> Void
    ) async -> StorageError? {
        do throws(StorageError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    private func delete(_ client: StorageClient, _ key: String) async -> StorageError? {
        await error { () throws(StorageError) in
            try await client.delete(ObjectKey(key), versionID: nil)
        }
    }

    private func put(
        _ client: StorageClient,
        _ key: String,
        replacing etag: ETag? = nil
    ) async -> StorageError? {
        await error { () throws(StorageError) in
            let request = PutRequest(key: ObjectKey(key), replaced: etag)
            _ = try await client.put(request, body: .bytes(.init(repeating: 7, count: 100_000))) {
                _ in
            }
        }
    }

    @Test(arguments: ["put", "initiate", "complete"])
    func `a request that asks something else on its way never waits for itself`(
        operation: String
    ) async throws {
        let network = ScriptedNetwork { number, _ throws(TransportError) in
            if number == 1 { throw Self.refused }
            return 403
        }
        let (client, key) = (try client(network), ObjectKey("k"))
        let etag = ETag(wire: "\"5d41402abc4b2a76b9719d911017c592\"")
        let request = Task {
            switch operation {
            case "put": return await put(client, "k", replacing: etag)
            case "initiate":
                return await error { () throws(StorageError) in
                    _ = try await client.initiateMultipartUpload(
                        PutRequest(key: key, replaced: etag)
                    )
                }
            default:
                return await error { () throws(StorageError) in
                    _ = try await client.completeMultipartUpload(
                        CompleteRequest(
                            key: key,
                            upload: UploadID("u"),
                            parts: [
                                UploadedPart(
                                    number: PartNumber(index: 0),
                                    size: 1,
                                    etag: etag,
                                    crc64: nil
                                )
                            ],
                            replaced: etag
                        )
                    )
                }
            }
        }
        #expect(await request.value?.status == 403)
        #expect(network.hasSent("list-type"), "the listing was never asked")
    }

    @Test func `the others do not wait for a large body`() async throws {
        let didWait = Atomic(false)
        let box = Mutex<ScriptedNetwork?>(nil)
        let network = ScriptedNetwork { number, request throws(TransportError) in
            if number == 1 { throw Self.refused }
            guard request.url.contains("large") else { return 204 }
            request.onSent(70_000)
            for _ in 0..<1_000 where box.withLock({ $0 })?.hasSent("small") != true {
                await Self.letOthersRun()
            }
            if box.withLock({ $0 })?.hasSent("small") != true {
                didWait.store(true, ordering: .relaxed)
            }
            return 403
        }
        box.withLock { $0 = network }
        let client = try client(network)
        let large = Task { await put(client, "large") }
        while !network.hasSent("large") { await Task.yield() }
        #expect(await delete(client, "small") == nil)
        _ = await large.value
        let waited = didWait.load(ordering: .relaxed)
        #expect(!waited)
        box.withLock { $0 = nil }
    }

    @Test(arguments: [0, 70_000])
    func `an object whose connection is always lost ends no run, though it tried for all`(
        sent: Int
    ) async throws {
        let network = ScriptedNetwork { number, request throws(TransportError) in
            if number == 1 { throw Self.refused }
            guard request.url.contains("poison") else { return 204 }
            if sent > 0 { request.onSent(sent) }
            await Self.letOthersRun()
            throw .connectionLost
        }
        let client = try client(network)
        let poison = Task { await put(client, "poison") }
        while !network.hasSent("poison") { await Task.yield() }
        let errors = await withTaskGroup(of: StorageError?.self) { group in
            for number in 0..<20 {
                group.addTask { await delete(client, "key-\(number)") }
            }
            return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
        }
        #expect(errors.isEmpty)
        let error = try #require(await poison.value)
        #expect(!error.isOutage)
    }
}
