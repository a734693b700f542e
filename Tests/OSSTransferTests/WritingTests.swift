import OSSBucket
import OSSTransfer
import ObjectStorage
import StoreFixture
import Testing

@Suite("Writes of one object")
struct WritingTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `keep type, metadata and checksum`() async throws {
        let client = try fixture.client()
        var options = PutOptions.none
        options.properties.contentType = "text/x"
        options.properties.metadata = ["Owner": "me", "b-2": "x"]
        let receipt = try await client.put([1, 2, 3], to: "a/b c", options: options)
        let info = try #require(try await client.head("a/b c").value)
        #expect(info.key == "a/b c")
        #expect(info.size == 3)
        #expect(info.etag == receipt.etag)
        #expect(info.crc64 == receipt.crc64 && info.crc64 != nil)
        #expect(info.contentType == "text/x")
        #expect(info.metadata == ["owner": "me", "b-2": "x"])
        #expect(info.storageClass == "Standard")
        #expect(receipt.callback == nil)
        var keys: [String] = []
        for try await object in client.objects() { keys.append(object.key) }
        #expect(keys == ["a/b c"])
    }

    @Test func `that must not replace an object leave it`() async throws {
        let client = try fixture.client()
        try await client.put([1], to: "key", options: PutOptions(ifExists: .fail))
        await expectError(.alreadyExists) {
            try await client.put([2], to: "key", options: PutOptions(ifExists: .fail))
        }
        #expect(try await client.get("key", maxBytes: 1).value?.bytes == [1])
    }

    @Test func `copy what is meant and delete what is named`() async throws {
        let client = try fixture.client()
        let made = try await client.put([1, 2], to: "from")
        try await client.copy("from", etag: made.etag, to: "to")
        #expect(try await client.get("to", maxBytes: 2).value?.bytes == [1, 2])
        await expectError(.objectChanged) {
            try await client.copy("from", etag: "other", to: "to")
        }
        await expectError(.notFound) {
            try await client.copy("absent", to: "to")
        }
        try await client.delete("from")
        try await client.delete("from")
        #expect(try await client.delete(["to", "never"]).isEmpty)
        var count = 0
        for try await _ in client.objects() { count += 1 }
        #expect(count == 0)
    }

    @Test func `by a signed address need no key`() async throws {
        let client = try fixture.client()
        let requests = PlainRequests()
        func send(_ method: BucketClient.Method, as sent: HTTPMethod) async throws -> Int {
            let url = try await client.presignedURL(method, key: "k", lifetime: .seconds(60))
            return try await requests.send(url, sent, [], []).status
        }
        #expect(try await send(.put, as: .put) == 200)
        #expect(try await send(.get, as: .get) == 200)
        #expect(try await send(.head, as: .head) == 200)
        #expect(try await send(.get, as: .head) == 403)
        #expect(try await send(.delete, as: .delete) == 204)
        #expect(try await send(.get, as: .get) == 404)
        for lifetime in [Duration.zero, .seconds(604_801)] {
            await expectError(.configuration) {
                try await client.presignedURL(.get, key: "k", lifetime: lifetime)
            }
        }
    }

    @Test func `in parts are listed, completed and aborted`() async throws {
        let client = try fixture.client()
        let bytes = StoreFixture.ramp(250_000)
        let upload = try await client.multipartUpload(of: "big")
        var parts: [ObjectPart] = []
        for (index, start) in stride(from: 0, to: bytes.count, by: 102_400).enumerated() {
            parts.append(
                try await upload.send(
                    Array(bytes[start..<min(start + 102_400, bytes.count)]),
                    number: index + 1
                )
            )
        }
        // As another process that knows only its name.
        let same = client.multipartUpload(of: "big", uploadID: upload.uploadID)
        let listed = try await same.parts()
        #expect(listed.map(\.number) == [1, 2, 3])
        #expect(listed.map(\.size) == [102_400, 102_400, 45_200])
        #expect(listed.map(\.etag) == parts.map(\.etag))
        #expect(try await client.incompleteUploads(prefix: "").map(\.uploadID) == [upload.uploadID])
        let receipt = try await same.complete(parts)
        let read = try #require(try await client.get("big", maxBytes: 1 << 20).value)
        #expect(read.bytes == bytes)
        #expect(read.info.etag == receipt.etag)
        await expectError(.cannotResume) {
            try await upload.parts()
        }

        let second = try await client.multipartUpload(of: "big")
        try await second.abort()
        #expect(try await client.incompleteUploads(prefix: "") == [])
        await expectError(.configuration) { try await second.send([1], number: 10_001) }
    }

    @Test func `of a part are refused if the store has another MD5`() async throws {
        let client = try fixture.client()
        let upload = try await client.multipartUpload(of: "big")
        try fixture.setFaults(
            """
            [{"match": {"operation": "UploadPart"},
              "effect": {"headers": {"set": {"ETag": "\\"00000000000000000000000000000000\\""},
                                     "remove": ["x-oss-hash-crc64ecma"]}}}]
            """
        )
        let error = await #expect(throws: TransferError.self) {
            try await upload.send([1, 2], number: 1)
        }
        #expect(
            error?.message == "UploadPart of 'big' failed: the MD5 that the server computed is not "
                + "that of what was sent"
        )
    }
}
