import Foundation
import OSSBucket
import OSSTransfer
import OSSTransferFoundation
import OSSTransferTesting
import StorageServer
import StoreFixture
import Testing

@Suite("Foundation's types", .timeLimit(.minutes(5)))
struct FoundationTests {
    @Test func `files by their URLs go both ways`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let content = StoreFixture.ramp(300_000)
        try fixture.write("a b+ü", content)
        let client = try fixture.client()
        let source = fixture.folder.appendingPathComponent("a b+ü")
        let upload = try ResumableUpload(of: source, to: client, key: "k")
        #expect(upload.file == source)
        guard case .finished = try await upload.run() else { throw Unfinished() }
        let target = fixture.folder.appendingPathComponent("c d")
        let urls = PresignedURLs(
            get: try await client.signedURL(.get, key: "k", lifetime: .seconds(600))
        )
        let download = try ResumableDownload(from: .presigned(urls), to: target)
        guard case .finished = try await download.run() else { throw Unfinished() }
        #expect(try Data(contentsOf: target) == Data(content))
        let job = try TransferJob.download(.presigned(urls), to: target)
        #expect(job.path == target.path)
        #expect(try TransferJob.upload(of: source, to: client, key: "k").path == source.path)
        let object = UploadTarget.object(client, key: "l")
        #expect(try TransferJob.upload(of: source, to: object).path == source.path)
        guard case .finished = try await ResumableUpload(of: source, to: object).run() else {
            throw Unfinished()
        }
        #expect(try await client.get("l").value?.bytes == content)
    }

    private struct Unfinished: Error {}

    @Test func `other URLs are no files`() throws {
        let web = try #require(URL(string: "https://example.com/file"))
        let urls = PresignedURLs(get: web)
        let error = #expect(throws: TransferError.self) {
            try ResumableDownload(from: .presigned(urls), to: web)
        }
        #expect(error?.code == .configuration)
        let errors = [
            #expect(throws: TransferError.self) { try DownloadOptions(recordDirectory: web) },
            #expect(throws: TransferError.self) { try UploadOptions(recordDirectory: web) },
            #expect(throws: TransferError.self) { try TransferRecords(directory: web) },
        ]
        #expect(errors.allSatisfy { $0?.code == .configuration })
    }

    @Test func `directories of records are named by URLs, too`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let client = try fixture.client()
        try await client.put(Data("letter".utf8), to: "k")
        let (base, records) = (fixture.folder, fixture.folder.appendingPathComponent("a b"))
        let file = base.appendingPathComponent("file")
        let options = try DownloadOptions(recordDirectory: records, base: base)
        #expect(options.recordDirectory == records.path && options.base == base.path)
        let sending = try UploadOptions(recordDirectory: records, base: base)
        #expect(sending.recordDirectory == records.path && sending.base == base.path)
        #expect(try TransferRecords(directory: records).directory == records.path)
        let manager = try await TransferManager(directory: records, base: base) { _ in
            try .download(.object(client, key: "k"), to: file)
        }
        try await manager.add("letter", kind: .download, file: file)
        try await manager.start("letter")
        try await manager.runUntilIdle()
        #expect(await manager["letter"]?.state == .finished)
        #expect(fixture.names(in: "a b").contains("manager.lock"))
    }

    @Test func `data is written and read`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let client = try fixture.client()
        let data = Data("letter".utf8)
        try await client.put(data, to: "k")
        #expect(try await client.get("k", maxBytes: 10).value?.data == data)
        try await UploadTarget.object(client, key: "l").write(data)
        #expect(try await client.get("l", maxBytes: 10).value?.data == data)
    }

    @Test func `dates are instants of the store`() async throws {
        let date = Date(timeIntervalSince1970: 1_767_323_045.75)
        #expect(StoreTime(date).secondsSince1970 == 1_767_323_045)
        #expect(StoreTime(date).nanoseconds == 750_000_000)
        #expect(StoreTime(date).date == date)
        #expect(StoreTime(Date(timeIntervalSince1970: -0.25)).text == "1969-12-31T23:59:59.750Z")
        #expect(StoreTime(secondsSince1970: 12).date == Date(timeIntervalSince1970: 12))
        #expect(StoreTime(.distantFuture) > StoreTime(.distantPast))
        #expect(StoreTime(Date(timeIntervalSince1970: .infinity)).secondsSince1970 == .max)
        #expect(StoreTime(Date(timeIntervalSince1970: -.infinity)).secondsSince1970 == .min)
        let ever = ObjectConditions(
            ifModifiedSince: StoreTime(Date(timeIntervalSince1970: -.infinity))
        )
        let memory = InMemoryBucket()
        memory["k"] = [1]
        #expect(try await memory.client.get("k", conditions: ever).value?.bytes == [1])
        let key = AccessKey(id: "i", secret: "s", securityToken: "t", expiration: date)
        #expect(key.expiration?.date == date)
        #expect(AccessKey(id: "i", secret: "s").expiration == nil)
    }

    @Test func `errors are told by their messages`() {
        let error: any Error = TransferError(code: .notFound, message: "there is no 'k'")
        #expect(error.localizedDescription == "there is no 'k'")
    }
}

@Suite("Progress of a transfer", .timeLimit(.minutes(5)))
struct TransferProgressTests {
    @Test func `finishes with the transfer`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let client = try fixture.client()
        try await client.put(StoreFixture.ramp(200_000), to: "k")
        let download = try ResumableDownload(
            from: .object(client, key: "k"),
            to: fixture.path("file")
        )
        let progress = download.transfer.makeProgress()
        #expect(progress.isIndeterminate)
        _ = try await download.run()
        while !progress.isFinished { await Task.yield() }
        #expect(progress.totalUnitCount == 200_000)
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `finishes with a transfer of no bytes`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let client = try fixture.client()
        try await client.put([], to: "k")
        let download = try ResumableDownload(
            from: .object(client, key: "k"),
            to: fixture.path("file")
        )
        let progress = download.transfer.makeProgress()
        _ = try await download.run()
        while !progress.isFinished { await Task.yield() }
        #expect(progress.completedUnitCount == 1 && progress.totalUnitCount == 1)
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `pauses, resumes and cancels it`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let client = try fixture.client()
        try await client.put(StoreFixture.ramp(200_000), to: "k")
        try fixture.setFaults(
            "[{\"match\": {\"operation\": \"GetObject\"}, \"effect\": {\"hold\": true}}]"
        )
        let download = try ResumableDownload(
            from: .object(client, key: "k"),
            to: fixture.path("file")
        )
        let transfer = download.start()
        let progress = transfer.makeProgress()
        await fixture.server.untilHeld(1)
        progress.pause()
        guard case .paused = try await transfer.value else { throw NotPaused() }
        #expect(progress.isPaused)
        // Foundation calls the handlers elsewhere.
        progress.resume()
        while transfer.state == .paused { await Task.yield() }
        progress.cancel()
        while transfer.state == .running { await Task.yield() }
        #expect(try await transfer.value == .cancelled)
        #expect(progress.isCancelled)
    }

    private struct NotPaused: Error {}
}
