import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Synchronization
import Testing

@Suite("An upload of a stream")
struct WrittenStreamTests {
    private static let partSize = 102_400
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static var options: UploadOptions {
        var options = UploadOptions()
        options.partSize = Int64(partSize)
        options.streams = 2
        return options
    }

    private func target(_ fixture: StoreFixture) throws -> UploadTarget {
        .object(try fixture.client(), key: "k")
    }

    private struct Broken: Error {}

    /// Chunks of a content that are made when they are asked for.
    private struct Chunks: AsyncSequence, Sendable {
        let content: [UInt8]
        var size = 7_777
        var isBroken = false
        var onNext: @Sendable (_ before: Int) -> Void = { _ in }

        struct AsyncIterator: AsyncIteratorProtocol {
            let chunks: Chunks
            var position = 0

            mutating func next() async throws -> ArraySlice<UInt8>? {
                chunks.onNext(position)
                guard position < chunks.content.count else {
                    if chunks.isBroken { throw Broken() }
                    return nil
                }
                let end = Swift.min(chunks.content.count, position + chunks.size)
                defer { position = end }
                return chunks.content[position..<end]
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self) }
    }

    @Test(
        arguments: [0, 10, partSize - 1, partSize, partSize + 1, 2 * partSize, 1_000_000],
        [1_000, partSize, 700_000]
    )
    func `is the object, whatever the chunks are`(size: Int, chunk: Int) async throws {
        let content = StoreFixture.ramp(size)
        let sent = Mutex(0)
        for length in [nil, Int64(size)] {
            let object = try await target(fixture).write(
                Chunks(content: content, size: chunk),
                length: length,
                options: Self.options,
                onProgress: { count in sent.withLock { $0 += count } }
            )
            #expect(object.size == Int64(size))
            let read = try #require(try await fixture.client().get("k", maxBytes: size).value)
            #expect(read.bytes == content)
            #expect(read.info.etag == object.etag && read.info.crc64 == object.crc64)
        }
        #expect(sent.withLock { $0 } == 2 * size)
        let isWhole = size <= Self.partSize
        #expect(fixture.server.requestLog.contains { $0.operation == "PutObject" } == isWhole)
    }

    @Test func `from memory goes in parts, too`() async throws {
        let content = StoreFixture.ramp(1_000_000)
        let object = try await target(fixture).write(content, options: Self.options)
        #expect(object.size == 1_000_000)
        #expect(fixture.storedParts == Array(1...10))
        #expect(try await fixture.client().get("k", maxBytes: 1 << 20).value?.bytes == content)
    }

    @Test(arguments: [(500_000, 0), (500_000, 499_999), (50_000, 49_999), (500_000, 500_001)])
    func `of another length than was said makes no object`(said: Int, found: Int) async throws {
        let chunks = Chunks(content: StoreFixture.ramp(found))
        let error = await expectError(.localState) {
            try await target(fixture).write(chunks, length: Int64(said), options: Self.options)
        }
        let reason = found > said ? "has more than \(said)" : "ended after \(found) of \(said)"
        #expect(error?.message == "'k': the stream \(reason) bytes; nothing was stored")
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
        await expectError(.notFound) { try await fixture.client().head("k") }
    }

    @Test func `that fails aborts the upload and says why`() async throws {
        let chunks = Chunks(content: StoreFixture.ramp(500_000), isBroken: true)
        let error = await expectError(.localState) {
            try await target(fixture).write(chunks, options: Self.options)
        }
        #expect(error?.underlying is Broken)
        #expect(
            error?.message
                == "'k': reading what is to be sent failed, and nothing was stored: Broken()"
        )
        #expect(fixture.server.requestLog.contains { $0.operation == "AbortMultipartUpload" })
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
    }

    @Test func `that waits for ever ends when its task is cancelled`() async throws {
        let (chunks, input) = AsyncStream.makeStream(of: [UInt8].self)
        input.yield(StoreFixture.ramp(500_000))
        let target = try target(fixture)
        try fixture.hold("UploadPart", from: 3)
        let upload = Task { try await target.write(chunks, options: Self.options) }
        await fixture.server.untilHeld(1)
        upload.cancel()
        try fixture.setFaults("[]")
        await expectError(.cancelled) { try await upload.value }
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
    }

    @Test func `is asked for no more than is being sent`() async throws {
        let content = StoreFixture.ramp(64 * Self.partSize)
        let asked = Mutex(0)
        let chunks = Chunks(content: content, size: 10_000) { position in
            asked.withLock { $0 = position }
        }
        let target = try target(fixture)
        try fixture.hold("UploadPart")
        async let object = fixture.lettingGo {
            try await target.write(chunks, options: Self.options)
        }
        await fixture.server.untilHeld(2)
        // Whoever reads on has time for it.
        for _ in 0..<10_000 { await Task.yield() }
        let held = asked.withLock { $0 }
        try fixture.setFaults("[]")
        #expect(try await object.size == Int64(content.count))
        #expect(held <= 3 * Self.partSize)
        #expect(try await fixture.client().get("k", maxBytes: 1 << 24).value?.bytes == content)
    }
}
