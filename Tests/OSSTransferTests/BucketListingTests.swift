import OSSBucket
import OSSTransfer
import OSSTransferTesting
import StoreFixture
import Synchronization
import Testing

@Suite("Listings", .timeLimit(.minutes(5)))
struct BucketListingTests {
    private func fill(_ fixture: StoreFixture, _ names: [String]) async throws {
        for name in names { try await fixture.client().put([1], to: name) }
    }

    @Test func `have exact keys, and keys that are safe to print`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let key = "a\u{1B}[2J\\b/c"
        try await fill(fixture, [key])
        let client = try fixture.client()
        var found: [ListedObject] = []
        for try await object in client.objects() { found.append(object) }
        #expect(found.map(\.key) == [key])
        #expect(found.first?.displayKey == "a\\x1B[2J\\\\b/c")
        #expect(found.first?.displayKey == String(terminalSafe: key))
        let first = try #require(found.first)
        let info = try #require(try await client.head(first.key).value)
        #expect(info.etag == found.first?.etag)
        #expect(info.lastModified?.secondsSince1970 == found.first?.lastModified?.secondsSince1970)
        var level: [LevelEntry] = []
        for try await entry in client.level() { level.append(entry) }
        let directory = LevelEntry.directory(
            key: "a\u{1B}[2J\\b/",
            displayKey: "a\\x1B[2J\\\\b/"
        )
        #expect(level == [directory])
    }

    @Test func `request a page when the one before is used up, and none after the loop`()
        async throws
    {
        let requests = Mutex(0)
        let monitor = TransferMonitor()
        let bucket = InMemoryBucket(monitor: monitor)
        for number in 0..<2_500 { bucket[String(10_000 + number)] = [] }
        var count = 0
        for try await _ in bucket.client.objects() {
            count += 1
            if count == 1_000 { requests.withLock { $0 = monitor.counters.requests } }
            if count == 1_001 { break }
        }
        #expect(requests.withLock { $0 } == 1)
        #expect(monitor.counters.requests == 2)
        var rest = 0
        for try await _ in bucket.client.objects() { rest += 1 }
        #expect(rest == 2_500)
        #expect(monitor.counters.requests == 5)
    }

    @Test func `end with an error, and nothing follows it`() async throws {
        let bucket = InMemoryBucket()
        for number in 0..<1_500 { bucket[String(10_000 + number)] = [] }
        var iterator = bucket.client.objects().makeAsyncIterator()
        for _ in 0..<1_000 { _ = try await iterator.next() }
        bucket.failNextRequests(1, status: 403, code: "AccessDenied")
        await expectError(.forbidden) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test func `end with their task`() async throws {
        let bucket = InMemoryBucket()
        for number in 0..<1_500 { bucket[String(10_000 + number)] = [] }
        let task = Task {
            var count = 0
            for try await _ in bucket.client.objects() {
                count += 1
                if count == 1_000 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            }
            return count
        }
        await expectError(.cancelled) { try await task.value }
    }
}
