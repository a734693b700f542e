import Foundation
import OSSBucket
import OSSTransfer
import OSSTransferTesting
import StoreFixture
import Testing

@Suite("A bucket in memory", .timeLimit(.minutes(5)))
struct InMemoryBucketTests {
    @Test func `keeps what is put, and says so like a store`() async throws {
        let bucket = InMemoryBucket()
        let client = bucket.client
        var options = PutOptions.none
        options.properties.contentType = "text/x"
        options.properties.metadata = ["owner": "me"]
        let receipt = try await client.put([1, 2, 3], to: "a/b c+%", options: options)
        #expect(bucket["a/b c+%"] == [1, 2, 3])
        let info = try #require(try await client.head("a/b c+%").value)
        #expect(info.etag == receipt.etag && info.crc64 == receipt.crc64)
        #expect(info.contentType == "text/x")
        #expect(info.metadata["owner"] == "me")
        #expect(try await client.get("a/b c+%", range: .last(2)).value?.bytes == [2, 3])
        let same = ObjectConditions(ifNoneMatch: info.etag)
        #expect(try await client.get("a/b c+%", conditions: same) == .notModified)
        #expect(try await client.get("a/b c+%", range: .from(3)) == .rangeNotSatisfiable)
        await expectError(.alreadyExists) {
            try await client.put([4], to: "a/b c+%", options: PutOptions(ifExists: .fail))
        }
        try await client.copy("a/b c+%", etag: info.etag, to: "copy")
        #expect(try await client.delete(["a/b c+%", "<&>"]).isEmpty)
        #expect(bucket.keys == ["copy"])
        try await client.delete("copy")
        await expectError(.notFound) { try await client.head("copy") }
    }

    @Test func `is listed by pages and by levels`() async throws {
        let bucket = InMemoryBucket()
        let names = (0..<2_345).map { "p/\($0 % 3)/\(String(10_000 + $0))" } + ["p/é&<", "q"]
        for name in names { bucket[name] = [] }
        var keys: [String] = []
        for try await object in bucket.client.objects(prefix: "p/") { keys.append(object.key) }
        #expect(keys == names.dropLast().sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        var level: [String] = []
        for try await entry in bucket.client.level(prefix: "p/") { level.append(entry.key) }
        #expect(level == ["p/0/", "p/1/", "p/2/", "p/é&<"])
    }

    @Test func `is downloaded from and uploaded to, with a pause`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let bucket = InMemoryBucket()
        let bytes = StoreFixture.ramp(12 << 20)
        bucket["film"] = bytes
        let download = try ResumableDownload(
            from: .object(bucket.client, key: "film"),
            to: fixture.path("film")
        )
        let transfer = download.start()
        for await progress in transfer.progress where progress.completedBytes > 1 << 20 {
            transfer.pause()
        }
        transfer.resume()
        guard case .finished(let file) = try await transfer.value else {
            Issue.record("it did not finish")
            return
        }
        #expect(file.isVerified)
        #expect(fixture.content("film") == bytes)

        var options = UploadOptions()
        options.partSize = 1 << 20
        let upload = try ResumableUpload(
            of: fixture.path("film"),
            to: bucket.client,
            key: "copy",
            options: options
        )
        guard case .finished(let object) = try await upload.run() else {
            Issue.record("it did not finish")
            return
        }
        #expect(object.crc64 == file.crc64)
        #expect(bucket["copy"] == bytes)
        #expect(try await bucket.client.incompleteUploads() == [])
    }

    @Test func `has signed URLs that are refused at once`() async throws {
        let bucket = InMemoryBucket()
        let url = try await bucket.client.presignedURL(.get, key: "k", lifetime: .seconds(60))
        let error = #expect(throws: TransferError.self) {
            try DownloadSource.presigned(PresignedURLs(get: url))
        }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains("a bucket in memory leads nowhere") == true)
    }

    @Test func `comes with what a preview of a list shows`() {
        let progress = TransferProgress(stepBytes: 1, completedBytes: 5, totalBytes: 10)
        let info = ObjectInfo(key: "k", size: 10, etag: "e")
        let file = DownloadedFile(path: "film", info: info, crc64: 1, isVerified: true)
        let row = ManagedTransfer(
            id: "film",
            kind: .download,
            path: "film",
            state: .running,
            completedBytes: progress.completedBytes,
            totalBytes: progress.totalBytes
        )
        #expect(row.state == .running && row.totalBytes == 10 && row.allowsExpensiveNetwork)
        let object = UploadedObject(key: "k", size: 10, etag: "e")
        let outcomes: [TransferJob.Outcome] = [.downloaded(file), .uploaded(object)]
        let events = outcomes.map { TransferEvent(id: row.id, kind: .finished($0)) }
        #expect(events.map(\.id) == ["film", "film"])
    }

    @Test func `fails as it is told to`() async throws {
        let bucket = InMemoryBucket()
        bucket["k"] = [1]
        bucket.failNextRequests(3)
        #expect(try await bucket.client.get("k").value?.bytes == [1])
        bucket.failNextRequests(1, status: 403, code: "AccessDenied")
        let error = await expectError(.forbidden) { try await bucket.client.get("k") }
        #expect(error?.serviceCode == "AccessDenied")
    }
}
