import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Testing

@Suite("An upload in trouble")
struct UploadFaultTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func upload(
        _ fixture: StoreFixture,
        _ bytes: [UInt8],
        _ change: (inout UploadOptions) -> Void = { _ in }
    ) throws -> ResumableUpload {
        try fixture.write("file", bytes)
        var options = UploadOptions()
        options.partSize = 200_000
        change(&options)
        return try ResumableUpload(
            of: fixture.path("file"),
            to: fixture.client { $0.connection.longestRetryPause = .milliseconds(10) },
            key: "k",
            options: options
        )
    }

    @Test(arguments: [1_000, 450_000]) func `does not replace an object if it must not`(
        size: Int
    ) async throws {
        try await fixture.client().put([9], to: "k")
        let upload = try upload(fixture, StoreFixture.ramp(size)) { $0.ifExists = .fail }
        await expectError(.alreadyExists) { try await upload.run() }
        #expect(try await fixture.client().get("k", maxBytes: 1).value?.bytes == [9])
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
    }

    @Test func `whose beginning the store refuses leaves no record, and starts nothing over`()
        async throws
    {
        try fixture.write("file", StoreFixture.ramp(450_000))
        var options = UploadOptions()
        options.partSize = 200_000
        options.recordDirectory = fixture.path("records")
        options.properties.storageClass = "NoSuchClass"
        let refused = try fixture.resumable(options)
        await expectError(.configuration) { try await refused.run() }
        #expect(fixture.names(in: "records") == [])
        // Nor does one whose answer never came.
        options.properties.storageClass = nil
        options.startsOver = false
        let connection = #"{"operation": "InitiateMultipartUpload"}"#
        try fixture.setFaults(#"[{"match": \#(connection), "effect": {"hold": true}}]"#)
        let notices = Notices()
        let cut = try fixture.resumable(options, onNotice: notices.add)
        let attempt = Task { try await cut.run() }
        await fixture.server.untilHeld(1)
        attempt.cancel()
        _ = await attempt.result
        try fixture.setFaults("[]")
        #expect(try await cut.run().object?.size == 450_000)
        #expect(notices.all == [])
    }

    @Test func `that would be refused at its end sends nothing, and leaves no record`() async throws
    {
        for dialect in [StoreDialect.oss, .s3] {
            let client = try BucketClient(
                StoreFixture.bucket,
                dialect: dialect,
                configuration: fixture.configuration
            )
            try await client.put([9], to: "k")
            try fixture.write("file", StoreFixture.ramp(6 << 20))
            var options = UploadOptions()
            options.ifExists = .fail
            options.recordDirectory = fixture.path("records")
            let upload = try ResumableUpload(
                of: fixture.path("file"),
                to: client,
                key: "k",
                options: options
            )
            let error = await expectError(.alreadyExists) { try await upload.run() }
            #expect(error?.message.hasSuffix("already exists and is not replaced") == true)
            #expect(!fixture.server.requestLog.contains { $0.operation == "UploadPart" })
            #expect(fixture.names(in: "records") == [])
        }
    }

    @Test(
        arguments: [
            #""set": {"x-oss-hash-crc64ecma": "1"}"#,
            #""set": {"ETag": "\"00000000000000000000000000000000\""}, "#
                + #""remove": ["x-oss-hash-crc64ecma"]"#,
        ]
    )
    func `is refused if a part's CRC-64, or else its MD5, is another one at the store`(
        wrong: String
    ) async throws {
        for (faults, isRight) in [("first", true), ("from", false)] {
            try fixture.setFaults(
                """
                [{"match": {"operation": "UploadPart", "part": 2, "\(faults)": 1},
                  "effect": {"headers": {\(wrong)}}}]
                """
            )
            let upload = try upload(fixture, StoreFixture.ramp(450_000))
            if isRight {
                #expect(try await upload.run().object?.size == 450_000)
            } else {
                await expectError(.corrupt) { try await upload.run() }
            }
        }
    }

    @Test func `is refused if the object's CRC-64 is another one at the store`() async throws {
        try fixture.setFaults(
            """
            [{"match": {"operation": "CompleteMultipartUpload"},
              "effect": {"headers": {"set": {"x-oss-hash-crc64ecma": "1"}}}}]
            """
        )
        let upload = try upload(fixture, StoreFixture.ramp(450_000))
        await expectError(.corrupt) { try await upload.run() }
    }

    @Test func `goes on by itself when the connection was lost, if it is asked to`() async throws {
        try fixture.setFaults(
            """
            [{"match": {"operation": "UploadPart", "part": 2, "first": 9},
              "effect": {"cutUpload": {"at": 1000, "how": "rst"}}}]
            """
        )
        let upload = try upload(fixture, StoreFixture.ramp(450_000)) { options in
            options.reconnects = ConnectionSettings.ReconnectPolicy(
                firstPause: .milliseconds(1),
                longestPause: .milliseconds(1),
                attempts: 3
            )
        }
        #expect(try await upload.run().object?.size == 450_000)
        let parts = fixture.server.requestLog.filter { $0.operation == "UploadPart" }
        #expect(parts.filter { $0.partNumber == 1 }.count == 1)
    }

    @Test func `follows a link, and misses a file that is not there`() async throws {
        try fixture.write("real", [1, 2])
        try FileManager.default.createSymbolicLink(
            atPath: fixture.path("link"),
            withDestinationPath: "real"
        )
        let client = try fixture.client()
        let link = try ResumableUpload(of: fixture.path("link"), to: client, key: "k")
        #expect(try await link.run().object?.size == 2)
        let absent = try ResumableUpload(of: fixture.path("absent"), to: client, key: "k")
        await expectError(.sourceMissing) { try await absent.run() }
        let directory = try ResumableUpload(of: fixture.path("server"), to: client, key: "k")
        await expectError(.localState) { try await directory.run() }
    }

    @Test func `that cannot be aborted keeps its record for another try`() async throws {
        let upload = try upload(fixture, StoreFixture.ramp(2_000_000)) { options in
            options.recordDirectory = fixture.path("records")
        }
        _ = try await fixture.interrupt(upload) { $0.transfer.pause() }
        try fixture.setFaults(
            """
            [{"match": {"operation": "AbortMultipartUpload", "first": 1},
              "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
            """
        )
        let error = await expectError(.forbidden) { try await upload.discard() }
        #expect(error?.status == 403 && error?.serviceCode == "AccessDenied")
        #expect(fixture.names(in: "records").count == 1)
        try await upload.discard()
        #expect(fixture.names(in: "records") == [])
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
    }

    /// The first request's answer is lost with the process, and the store carries it out later.
    @Test func `that was killed while it began leaves no other one at the store`() async throws {
        let begin = #"{"operation": "InitiateMultipartUpload"}"#
        try fixture.setFaults(#"[{"match": \#(begin), "effect": {"hold": true}}]"#)
        func options(_ options: inout UploadOptions) {
            options.recordDirectory = fixture.path("records")
        }
        let killed = try upload(fixture, StoreFixture.ramp(2_000_000), options)
        let attempt = Task { try await killed.run() }
        await fixture.server.untilHeld(1)
        let name = try #require(fixture.names(in: "records").first { $0.hasSuffix(".upload") })
        let record = try #require(fixture.content("records/" + name))
        attempt.cancel()
        _ = await attempt.result
        try fixture.setFaults("[]")
        let client = try fixture.client()
        while try await client.incompleteUploads(prefix: "").isEmpty { await Task.yield() }
        try fixture.write("records/" + name, record)

        let next = try upload(fixture, StoreFixture.ramp(2_000_000), options)
        #expect(try await next.run().object?.size == 2_000_000)
        #expect(try await client.incompleteUploads(prefix: "") == [])
        #expect(fixture.names(in: "records") == [])
    }
}
