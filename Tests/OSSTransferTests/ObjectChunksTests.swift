import OSSBucket
import StorageServer
import StoreFixture
import SyncModel
import Synchronization
import Testing

@testable import OSSTransfer

@Suite("The content of an object in chunks", .timeLimit(.minutes(5)))
struct ObjectChunksTests {
    private func stored(_ count: Int) async throws -> (StoreFixture, DownloadSource) {
        let fixture = try StoreFixture()
        let client = try fixture.client()
        try await client.put(StoreFixture.ramp(count), to: "k")
        fixture.server.clearRequestLog()
        return (fixture, .object(client, key: "k"))
    }

    private func reads(_ fixture: StoreFixture) -> Int {
        fixture.server.requestLog.count { $0.operation == "GetObject" }
    }

    @Test(arguments: [0, 1, 99, 100, 101, 1_000], [1, 4])
    func `come in order, of one version`(count: Int, streams: Int) async throws {
        let (fixture, source) = try await stored(count)
        defer { fixture.stop() }
        var chunks: [[UInt8]] = []
        for try await chunk in source.chunks(of: 100, streams: streams) { chunks.append(chunk) }
        #expect(chunks.flatMap { $0 } == StoreFixture.ramp(count))
        #expect(chunks.dropLast().allSatisfy { $0.count == 100 } && chunks.last?.isEmpty != true)
        #expect(reads(fixture) == max(1, (count + 99) / 100))
        var bytes: [UInt8] = []
        for try await byte in source.chunks(of: 100, streams: streams).bytes { bytes.append(byte) }
        #expect(bytes == StoreFixture.ramp(count))
    }

    @Test func `come by a signed address`() async throws {
        let (fixture, _) = try await stored(1_000)
        defer { fixture.stop() }
        let url = try await fixture.client().presignedURL(.get, key: "k", lifetime: .seconds(60))
        let source = try DownloadSource.presigned(
            PresignedURLs(get: url),
            connection: ConnectionSettings()
        )
        var bytes: [UInt8] = []
        for try await chunk in source.chunks(of: 300) { bytes += chunk }
        #expect(bytes == StoreFixture.ramp(1_000))
    }

    @Test func `are fetched as they are read`() async throws {
        let (fixture, source) = try await stored(10_000)
        defer { fixture.stop() }
        var chunks = source.chunks(of: 100, streams: 2).makeAsyncIterator()
        let content = StoreFixture.ramp(10_000)
        for number in 0..<20 {
            let chunk = content[number * 100..<number * 100 + 100]
            #expect(try await chunks.next() == [UInt8](chunk))
            // One waits to be taken, one to be handed over, and two are fetched.
            #expect(reads(fixture) <= number + 5)
        }
    }

    @Test func `of another version are an error`() async throws {
        let (fixture, source) = try await stored(1_000)
        defer { fixture.stop() }
        var chunks = source.chunks(of: 100, streams: 1).makeAsyncIterator()
        #expect(try await chunks.next() != nil)
        try await fixture.client().put(StoreFixture.ramp(1_000, 7), to: "k")
        let error = await #expect(throws: TransferError.self) {
            while try await chunks.next() != nil {}
        }
        #expect(error?.code == .objectChanged)
    }

    @Test func `that came wrong are told before the last one`() async throws {
        let (fixture, source) = try await stored(1_000)
        defer { fixture.stop() }
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "rangeStart": 100}, "effect": {"flip": 5}}]
            """
        )
        var count = 0
        let error = await #expect(throws: TransferError.self) {
            for try await _ in source.chunks(of: 100) { count += 1 }
        }
        #expect(error?.code == .corrupt)
        #expect(count == 9)
    }

    @Test func `end with the task that reads them, and with its loop`() async throws {
        let (fixture, source) = try await stored(100_000)
        defer { fixture.stop() }
        let begun = Condition()
        let version = begun.version
        let reader = Task {
            for try await _ in source.chunks(of: 100, streams: 1) {
                begun.raise()
                while !Task.isCancelled { await Task.yield() }
            }
        }
        await begun.wait(after: version)
        reader.cancel()
        await #expect(throws: TransferError.self) { try await reader.value }
        for try await _ in source.chunks(of: 100, streams: 1) { break }
        let error = await #expect(throws: TransferError.self) {
            for try await _ in source.chunks(of: 0) {}
        }
        #expect(error?.code == .configuration)
        #expect(reads(fixture) < 50)
    }
}
