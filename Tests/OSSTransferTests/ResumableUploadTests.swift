import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import SyncTestSupport
import Testing

@Suite("Resumable upload")
struct ResumableUploadTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `goes on in another process where it was paused`() async throws {
        let client = try fixture.client()
        try fixture.write("film", Self.content)
        let options = UploadOptions.inParts(fixture.path("records"))
        let first = try ResumableUpload(
            of: fixture.path("film"),
            to: client,
            key: "a/film.mov",
            options: options
        )
        #expect(try await fixture.interrupt(first) { $0.transfer.pause() } == .paused)
        #expect(first.transfer.state == .paused)
        #expect(fixture.names(in: "records").count == 1)
        let pending = try #require(try await client.incompleteUploads(prefix: "").first)
        let sent = try await client.multipartUpload(of: "a/film.mov", uploadID: pending.uploadID)
            .parts()
        #expect(sent.count == 5)

        let notices = Notices()
        let second = try ResumableUpload(
            of: fixture.path("film"),
            to: client,
            key: "a/film.mov",
            options: options,
            onNotice: notices.add
        )
        let object = try #require(try await second.run().object)
        #expect(notices.all == [.resumed(bytes: 1_000_000)])
        #expect(fixture.storedParts == Array(1...15))
        let read = try #require(try await client.get("a/film.mov", maxBytes: 1 << 22).value)
        #expect(read.bytes == Self.content)
        #expect(read.info.crc64 == object.crc64)
        #expect(read.info.etag == object.etag)
        #expect(read.info.contentType == "video/quicktime")
        #expect(object.size == 3_000_000)
        #expect(fixture.names(in: "records") == [])
        #expect(try await client.incompleteUploads(prefix: "") == [])
    }

    @Test(arguments: [0, 1_000, 450_000]) func `brings the callback's answer`(size: Int)
        async throws
    {
        let answer = #"{"filename":"k.jpg","ok":true}"#
        let receiver = ScriptedServer { _, _ in [.response("200 OK", body: Array(answer.utf8))] }
        try fixture.write("file", StoreFixture.ramp(size))
        var options = UploadOptions.inParts()
        options.properties.metadata = ["owner": "me"]
        options.properties.storageClass = "IA"
        options.properties.contentType = "text/x"
        options.callback = UploadCallback(
            url: receiver.url + "/done",
            host: "app.example",
            body: #"{"object":${object},"size":${size},"who":${x:who}}"#,
            bodyType: .json,
            variables: ["x:who": "a \"b\""]
        )
        let client = try fixture.client()
        let upload = try fixture.resumable(options)
        let object = try #require(try await upload.run().object)
        #expect(object.callback == .answered(json: answer))
        let request = try #require(receiver.requests.first)
        #expect(request.target == "/done")
        #expect(request["host"] == "app.example")
        #expect(request["content-type"] == "application/json")
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == #"{"object":"k","size":\#(size),"who":"a \"b\""}"#
        )
        let info = try #require(try await client.head("k").value)
        #expect(info.metadata["owner"] == "me")
        #expect(info.metadata["mtime"] != nil)
        #expect(info.storageClass == "IA")
        #expect(info.contentType == "text/x")
        #expect(info.etag == object.etag)
        #expect(receiver.requests.count == 1)
    }

    @Test func `of which the callback failed is stored and says so`() async throws {
        let receiver = ScriptedServer { _, _ in [.response("500 No")] }
        try fixture.write("file", Self.content)
        var options = UploadOptions.inParts()
        options.callback = UploadCallback(url: receiver.url, body: "size=${size}")
        let upload = try fixture.resumable(options)
        let object = try #require(try await upload.run().object)
        #expect(object.callback == .failed(message: "Error status : 500."))
        #expect(try await fixture.client().head("k").value?.size == 3_000_000)
    }

    @Test func `whose last answer was lost is settled without sending again`() async throws {
        let receiver = ScriptedServer { _, _ in [.response("200 OK", body: Array("{}".utf8))] }
        try fixture.write("file", Self.content)
        try fixture.setFaults(
            """
            [{"match": {"operation": "CompleteMultipartUpload"},
              "effect": {"close": {"when": "after", "how": "rst"}}}]
            """
        )
        var options = UploadOptions.inParts()
        options.callback = UploadCallback(url: receiver.url, body: "x=1")
        let upload = try fixture.resumable(options)
        let object = try #require(try await upload.run().object)
        #expect(object.callback == .unknown)
        let log = fixture.server.requestLog
        #expect(log.count { $0.operation == "CompleteMultipartUpload" } == 1)
        #expect(log.count { $0.operation == "UploadPart" } == 15)
        #expect(receiver.requests.count == 1)
    }

    /// URLSession holds what it sends in memory.
    @Test func `whose parts may be large sends parts for which there is memory`() async throws {
        let content = StoreFixture.ramp(20_000_000)
        try fixture.write("file", content)
        for streams in [1, 4, 64] {
            fixture.server.clearRequestLog()
            var options = UploadOptions()
            options.partSize = 5 << 30
            options.streams = streams
            _ = try await fixture.resumable(options).run()
            let sent = fixture.server.requestLog.map(\.bytesReceived)
            #expect(sent.reduce(0, +) >= 20_000_000)
            let largest = try #require(sent.max())
            if usesLibcurl {
                #expect(largest == 20_000_000)
            } else {
                #expect(largest == (streams == 1 ? 4 << 20 : streams == 4 ? 2 << 20 : 1 << 20))
            }
            try await fixture.client().delete("key")
        }
    }

    @Test func `cancelled deletes what was sent, or keeps it if it is told to`() async throws {
        let client = try fixture.client()
        try fixture.write("file", Self.content)
        for deletes in [false, true] {
            let upload = try fixture.resumable(.inParts(fixture.path("records")))
            let outcome = try await fixture.interrupt(upload) {
                $0.transfer.cancel(keepingParts: !deletes)
            }
            #expect(outcome == .cancelled)
            #expect(try await client.incompleteUploads(prefix: "").isEmpty == deletes)
            #expect(fixture.names(in: "records").isEmpty == deletes)
            #expect(upload.transfer.state == .cancelled)
            fixture.server.clearRequestLog()
            #expect(try await upload.run().object?.size == 3_000_000)
            #expect(fixture.storedParts.count == (deletes ? 15 : 10))
            try await client.delete("k")
        }
    }

    @Test func `of a file that changed since starts over, or says that it cannot resume`()
        async throws
    {
        let client = try fixture.client()
        for startsOver in [true, false] {
            try fixture.write("file", Self.content)
            var options = UploadOptions.inParts()
            options.startsOver = startsOver
            let notices = Notices()
            let upload = try fixture.resumable(options, onNotice: notices.add)
            _ = try await fixture.interrupt(upload) { $0.transfer.pause() }
            let other = StoreFixture.ramp(2_000_000, 5)
            try fixture.write("file", other)
            if !startsOver {
                await expectError(.cannotResume) { try await upload.run() }
                #expect(try await client.incompleteUploads(prefix: "") == [])
            }
            _ = try await upload.run()
            #expect(notices.all == (startsOver ? [.startedOver(.fileChanged)] : []))
            #expect(try await client.get("k", maxBytes: 1 << 22).value?.bytes == other)
        }
    }

    @Test func `of a file that changes meanwhile begins again, or says that it cannot resume`()
        async throws
    {
        let client = try fixture.client()
        let other = StoreFixture.ramp(2_000_000, 5)
        for startsOver in [true, false] {
            try fixture.write("file", Self.content)
            var options = UploadOptions.inParts(fixture.path("records"))
            options.startsOver = startsOver
            let notices = Notices()
            let upload = try fixture.resumable(options, onNotice: notices.add)
            try fixture.hold("UploadPart", from: 6)
            let transfer = upload.start()
            await fixture.server.untilHeld(4)
            try fixture.write("file", other)
            try fixture.setFaults("[]")
            if !startsOver {
                await expectError(.cannotResume) { try await transfer.value }
            }
            #expect(try await upload.run().object?.size == 2_000_000)
            #expect(notices.all == (startsOver ? [.startedOver(.fileChanged)] : []))
            #expect(try await client.get("k", maxBytes: 1 << 22).value?.bytes == other)
            #expect(try await client.incompleteUploads(prefix: "") == [])
        }
    }

    @Test func `of a file that changes all the time can be tried again`() async throws {
        try fixture.write("file", Self.content)
        try fixture.setFaults(
            #"[{"match": {"operation": "UploadPart"}, "effect": {"delay": 0.05}}]"#
        )
        let path = fixture.path("file")
        let writing = Task {
            var byte: UInt8 = 0
            while !Task.isCancelled {
                let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
                byte &+= 1
                // One that only grows is sent as it was at first.
                try file.write(contentsOf: [byte])
                try file.close()
                await Task.yield()
            }
        }
        let upload = try fixture.resumable(.inParts())
        let error = await expectError(.sourceChanged) { try await upload.run() }
        #expect(error?.isRetryable == true)
        #expect(error?.message.contains("the file changed") == true)
        writing.cancel()
        _ = await writing.result
        try fixture.setFaults("[]")
        #expect(try await upload.run().object != nil)
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
    }

    @Test func `whose earlier parts cannot be deleted says so and goes on`() async throws {
        try fixture.write("file", Self.content)
        let notices = Notices()
        let upload = try fixture.resumable(.inParts(), onNotice: notices.add)
        _ = try await fixture.interrupt(upload) { $0.transfer.pause() }
        try fixture.write("file", StoreFixture.ramp(2_000_000, 5))
        try fixture.setFaults(
            """
            [{"match": {"operation": "AbortMultipartUpload"},
              "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
            """
        )
        _ = try await upload.run()
        let messages = notices.all.compactMap { notice in
            if case .warning(let message) = notice { message } else { nil }
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("could not be aborted") == true)
        #expect(notices.all.contains(.startedOver(.fileChanged)))
    }

    @Test func `that the store has forgotten starts over, or says that it cannot resume`()
        async throws
    {
        let client = try fixture.client()
        try fixture.write("file", Self.content)
        for startsOver in [true, false] {
            var options = UploadOptions.inParts()
            options.startsOver = startsOver
            let notices = Notices()
            let upload = try fixture.resumable(options, onNotice: notices.add)
            _ = try await fixture.interrupt(upload) { $0.transfer.pause() }
            let pending = try #require(try await client.incompleteUploads(prefix: "").first)
            try await client.multipartUpload(of: "k", uploadID: pending.uploadID).abort()
            if !startsOver {
                await expectError(.cannotResume) { try await upload.run() }
            }
            _ = try await upload.run()
            #expect(notices.all == (startsOver ? [.startedOver(.uploadVanished)] : []))
            #expect(try await client.get("k", maxBytes: 1 << 22).value?.bytes == Self.content)
            try await client.delete("k")
        }
    }
}
