import Foundation
import OSSBucket
import StorageServer
import StoreFixture
import SyncModel
import Testing

@testable import OSSTransfer

@Suite("The end of an attempt")
struct TransferEndTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test(arguments: [true, false]) func `also of a cancelled upload ends its progress`(
        deletes: Bool
    ) async throws {
        try fixture.write("file", Self.content)
        var options = UploadOptions()
        options.partSize = 200_000
        let upload = try ResumableUpload(
            of: fixture.path("file"),
            to: fixture.client(),
            key: "k",
            options: options
        )
        let listening = Task { for await _ in upload.transfer.progress {} }
        let outcome = try await fixture.interrupt(upload) {
            $0.transfer.cancel(keepingParts: !deletes)
        }
        #expect(outcome == .cancelled)
        await listening.value
        // Of one that has stopped, there is nothing to wait for.
        for await _ in upload.transfer.progress {}
        #expect(upload.transfer.state == .cancelled)
        fixture.server.clearRequestLog()
        _ = try await upload.run()
        #expect(fixture.storedParts.count == (deletes ? 15 : 10))
        // What has finished stays so, and is not made again.
        upload.transfer.cancel()
        #expect(try await upload.start().value.object?.size == 3_000_000)
        #expect(upload.transfer.state == .finished)
        #expect(fixture.storedParts.count == (deletes ? 15 : 10))
    }

    @Test func `is not waited for by a task that is cancelled`() async throws {
        try await fixture.client().put(Self.content, to: "key")
        let download = try fixture.resumable(.object(fixture.client(), key: "key"))
        // Of one that was never started, too.
        let early = Task { try await download.transfer.value }
        early.cancel()
        let refusal = await #expect(throws: TransferError.self) { _ = try await early.value }
        #expect(refusal?.code == .cancelled)
        try fixture.hold("GetObject")
        download.start()
        await fixture.server.untilHeld(1)
        let waiting = Task { try await download.transfer.value }
        waiting.cancel()
        let error = await #expect(throws: TransferError.self) { _ = try await waiting.value }
        #expect(error?.code == .cancelled)
        #expect(download.transfer.state == .running)
        try fixture.setFaults("[]")
        #expect(try await download.transfer.value.file != nil)
    }

    /// A screen that is left and entered again has another object.
    @Test(arguments: [nil, "records"]) func `is waited for by the next download of the file`(
        records: String?
    ) async throws {
        let urls = try await fixture.presigned(Self.content)
        var options = DownloadOptions.inPieces
        options.recordDirectory = records.map { fixture.path($0) }
        for round in 0..<raceRounds {
            let first = try fixture.resumable(.presigned(urls), options)
            let second = try fixture.resumable(.presigned(urls), options)
            try fixture.hold("GetObject", from: 3)
            first.start()
            await fixture.server.untilHeld(1)
            let isCancelled = round % 2 == 0
            if isCancelled { first.transfer.cancel() } else { first.transfer.pause() }
            let transfer = second.start()
            try fixture.setFaults("[]")
            #expect(try await transfer.value.file != nil)
            let outcome = try await first.transfer.value
            #expect((outcome == .cancelled) == isCancelled)
            #expect(fixture.content("file") == Self.content)
            #expect(fixture.partials == 0)
            #expect(fixture.names(in: "records") == [])
            try FileManager.default.removeItem(atPath: fixture.path("file"))
        }
    }

    @Test func `is waited for by the next upload of the file`() async throws {
        try fixture.write("file", Self.content)
        let client = try fixture.client()
        for _ in 0..<raceRounds / 4 {
            let first = try fixture.resumable(.inParts(fixture.path("records")))
            let second = try fixture.resumable(.inParts(fixture.path("records")))
            try fixture.hold("UploadPart", from: 6)
            first.start()
            await fixture.server.untilHeld(4)
            first.transfer.cancel()
            let transfer = second.start()
            try fixture.setFaults("[]")
            #expect(try await transfer.value.object != nil)
            #expect(try await first.transfer.value == .cancelled)
            #expect(try await client.get("k", maxBytes: 1 << 22).value?.bytes == Self.content)
            #expect(try await client.incompleteUploads(prefix: "") == [])
            #expect(fixture.names(in: "records") == [])
        }
    }

    @Test func `whose store cannot be made ends its progress, and is a failure`() async throws {
        let refusal = TransferError(code: .configuration, message: "no store")
        let download = try ResumableDownload(
            from: DownloadSource(
                key: ObjectKey("k"),
                subject: "s",
                makeStore: { () throws(TransferError) in throw refusal }
            ),
            to: fixture.path("file")
        )
        let listening = Task { for await _ in download.transfer.progress {} }
        let error = await #expect(throws: TransferError.self) { try await download.run() }
        await listening.value
        #expect(error?.code == .configuration)
        #expect(download.transfer.state == .failed)
        // What is on disk can be removed by whoever reaches no store.
        try await download.discard()
        #expect(download.transfer.state == .cancelled)
    }

    @Test func `whose task is cancelled ends its progress`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let download = try ResumableDownload(from: .presigned(urls), to: fixture.path("file"))
        let listening = Task { for await _ in download.transfer.progress {} }
        try fixture.hold("GetObject")
        let attempt = Task { try await download.run() }
        await fixture.server.untilHeld(1)
        #expect(download.transfer.state == .running)
        attempt.cancel()
        await expectError(.cancelled) { try await attempt.value }
        await listening.value
        try fixture.setFaults("[]")
        #expect(try await download.run().file?.info.size == 3_000_000)
    }
}
