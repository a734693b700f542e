import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Testing

/// Where the mobile guides are silent, or this library is deliberately another.
@Suite("What an app relies on")
struct GuideTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `a cancelled download that keeps its parts goes on`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let notices = Notices()
        let download = try fixture.resumable(.presigned(urls), notices: notices)
        let checkpoint = try #require(try await fixture.pause(download))
        // The whole object's, which the first answer states.
        #expect(checkpoint.crc64 == (try await fixture.client().head("key").value?.crc64))
        download.transfer.cancel(keepingParts: true)
        #expect(try await download.transfer.value == .cancelled)
        #expect(await download.checkpoint == checkpoint)
        _ = try await download.run()
        #expect(notices.all.last == .resumed(bytes: checkpoint.receivedLength))
        #expect(fixture.content("file") == Self.content)
    }

    @Test func `a loop over the progress ends with a pause`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let download = try fixture.resumable(.presigned(urls))
        async let watched: Void = {
            for await _ in download.transfer.progress {}
        }()
        _ = try await fixture.pause(download)
        await watched
        #expect(download.transfer.state == .paused)
    }

    @Test func `the progress of an empty object is 0 of 0`() async throws {
        let urls = try await fixture.presigned([])
        let download = try ResumableDownload(from: .presigned(urls), to: fixture.path("file"))
        var last: TransferProgress?
        let transfer = download.start()
        for await progress in transfer.progress { last = progress }
        #expect(last?.completedBytes == 0 && last?.totalBytes == 0)
        #expect(try await transfer.value.file?.info.size == 0)
    }

    @Test(
        arguments: [
            (nil, 16 << 20, nil), (nil, 16 << 20 + 1, 9), (2 << 20, 2 << 20, nil),
            (2 << 20, 2 << 20 + 1, 2), (32 << 20, 16 << 20 + 1, nil),
        ] as [(Int64?, Int, Int?)]
    )
    func `what has up to 16 MiB, or the size of a part that is set, goes in one request`(
        partSize: Int64?,
        size: Int,
        parts: Int?
    ) async throws {
        let content = StoreFixture.ramp(size)
        try fixture.write("file", content)
        var options = UploadOptions()
        options.partSize = partSize
        let expected =
            parts.map { count in
                ["InitiateMultipartUpload"] + Array(repeating: "UploadPart", count: count)
            } ?? ["PutObject"]
        func sent() -> [String] {
            fixture.server.requestLog.map(\.operation).filter { $0 != "CompleteMultipartUpload" }
        }
        fixture.server.clearRequestLog()
        _ = try await fixture.resumable(options).run()
        #expect(sent() == expected)
        fixture.server.clearRequestLog()
        let target = UploadTarget.object(try fixture.client(), key: "k")
        _ = try await target.write(content, options: options)
        #expect(sent() == expected)
    }

    /// Those that the guide gives to temporary keys.
    @Test func `five rights suffice to upload, pause, resume and cancel`() async throws {
        let granted: Set = [
            "PutObject", "InitiateMultipartUpload", "UploadPart", "CompleteMultipartUpload",
            "AbortMultipartUpload", "ListParts",
        ]
        let refused = ["HeadObject", "GetObject", "ListObjectsV2", "ListMultipartUploads"].map {
            """
            {"match": {"operation": "\($0)"},
             "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}
            """
        }.joined(separator: ",")
        let held = #"{"match": {"operation": "UploadPart", "from": 6}, "effect": {"hold": true}}"#
        try fixture.write("file", Self.content)
        var options = UploadOptions()
        options.partSize = 200_000
        options.recordDirectory = fixture.path("records")
        for cancels in [false, true] {
            let upload = try fixture.resumable(options)
            fixture.server.clearRequestLog()
            try fixture.setFaults("[\(refused),\(held)]")
            let transfer = upload.start()
            await fixture.server.untilHeld(1)
            transfer.pause()
            #expect(try await transfer.value == .paused)
            try fixture.setFaults("[\(refused)]")
            if cancels { transfer.cancel() } else { transfer.resume() }
            let outcome = try await transfer.value
            #expect(cancels ? outcome == .cancelled : outcome.object?.size == 3_000_000)
            #expect(Set(fixture.server.requestLog.map(\.operation)).isSubset(of: granted))
        }
        try fixture.setFaults("[]")
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
    }

    @Test func `an object has the name of its upload, and the file's time unless it is not wanted`()
        async throws
    {
        try fixture.write("file", [1, 2, 3])
        for keeps in [true, false] {
            var options = UploadOptions()
            options.keepsFileMetadata = keeps
            _ = try await fixture.resumable(options).run()
            let names = try await fixture.client().head("k").value?.metadata.keys.sorted()
            #expect(names == (keeps ? ["mode", "mtime"] : []) + ["osssync-upload"])
        }
    }
}
