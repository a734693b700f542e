import Foundation
import StorageServer
import SyncModel
import Testing

@testable import OSSSync

@Suite("The end of an attempt")
struct TransferEndTests {
    private static let content = StoreFixture.ramp(3_000_000)

    @Test(arguments: [true, false]) func `also of a cancelled upload ends its progress`(
        deletes: Bool
    ) async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        try fixture.write("file", Self.content)
        var options = UploadOptions()
        options.partSize = 200_000
        options.deletesUploadOnCancel = deletes
        let upload = try ResumableUpload(
            of: fixture.path("file"),
            to: fixture.client(),
            key: "k",
            options: options
        )
        let listening = Task { for await _ in upload.progress {} }
        _ = try await fixture.interrupt(upload) { try await $0.cancel() }
        await listening.value
        // One that rests and is kept is as it was, but nobody waits for it any more.
        let resting = Task { for await _ in upload.progress {} }
        try await upload.cancel()
        await resting.value
        #expect(upload.state == (deletes ? .cancelled : .paused))
        _ = try await upload.resume()
        try await upload.cancel()
        #expect(upload.state == (deletes ? .cancelled : .finished))
    }

    @Test func `whose store cannot be made ends its progress, and is a failure`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let refusal = SyncError(code: .configuration, message: "no store")
        let download = try ResumableDownload(
            from: DownloadSource(
                key: ObjectKey("k"),
                subject: "s",
                makeStore: { () throws(SyncError) in throw refusal }
            ),
            to: fixture.path("file")
        )
        let listening = Task { for await _ in download.progress {} }
        let error = await #expect(throws: SyncError.self) { try await download.resume() }
        await listening.value
        #expect(error?.code == .configuration)
        #expect(download.state == .failed)
        // What is on disk can be removed by whoever reaches no store.
        try await download.cancel()
        #expect(download.state == .cancelled)
    }

    @Test func `whose task is cancelled ends its progress`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let urls = try await fixture.presigned(Self.content)
        let download = try ResumableDownload(from: .presigned(urls), to: fixture.path("file"))
        let listening = Task { for await _ in download.progress {} }
        try fixture.setFaults(
            #"[{"match": {"operation": "GetObject"}, "effect": {"hold": true}}]"#
        )
        let attempt = Task { try await download.resume() }
        await fixture.server.untilHeld(1)
        attempt.cancel()
        let error = await #expect(throws: SyncError.self) { try await attempt.value }
        #expect(error?.code == .cancelled)
        await listening.value
        try fixture.setFaults("[]")
        #expect(try await download.resume().file?.info.size == 3_000_000)
    }
}
