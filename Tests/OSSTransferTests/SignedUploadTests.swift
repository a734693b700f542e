import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Synchronization
import Testing

/// The server refuses what is not signed, and the device has nothing to sign with.
@Suite("An upload by signed requests")
struct SignedUploadTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    struct Case: Sendable, CustomTestStringConvertible {
        let dialect: StoreDialect
        let signature: StoreConfiguration.Signature
        let size: Int

        var testDescription: String { "\(dialect) \(signature) \(size)" }
    }

    private static let cases = [
        Case(dialect: .oss, signature: .v4, size: 0),
        Case(dialect: .oss, signature: .v4, size: 1_000),
        Case(dialect: .oss, signature: .v4, size: 3_000_000),
        Case(dialect: .oss, signature: .v1, size: 1_000),
        Case(dialect: .oss, signature: .v1, size: 3_000_000),
        Case(dialect: .s3, signature: .v4, size: 1_000),
        Case(dialect: .s3, signature: .v4, size: 12 << 20),
    ]

    @Test(arguments: cases) func `makes the object and needs no key`(_ tested: Case) async throws {
        let signer = try SigningServer(fixture, tested.dialect, tested.signature)
        let content = StoreFixture.ramp(tested.size)
        try fixture.write("file", content)
        var options = UploadOptions.inParts()
        options.properties.contentType = "text/x"
        options.properties.contentHeaders = ["cache-control": "max-age=60"]
        options.properties.metadata = ["owner": "me"]
        options.properties.tags = ["a b": "c/d"]
        let upload = try ResumableUpload(
            of: fixture.path("file"),
            to: signer.target(tested.dialect, key: "a b/ü?acl"),
            options: options
        )
        let object = try #require(try await upload.run().object)
        let read = try await fixture.client().get("a b/ü?acl", maxBytes: tested.size).value
        #expect(read?.bytes == content)
        #expect(read?.info.contentType == "text/x")
        #expect(read?.info.metadata["owner"] == "me")
        #expect(object.size == Int64(tested.size))
        #expect(Set(signer.asked.map(\.key)) == ["a b/ü?acl"])
        #expect(signer.asked.allSatisfy { !$0.isRenewal })
        let refused = fixture.server.requestLog.filter { $0.status == 403 }
        #expect(refused.map(\.operation) == [])
        guard tested.size > 200_000 else {
            #expect(signer.asked.map(\.operation) == [.put])
            #expect(signer.asked.map(\.contentLength) == [Int64(tested.size)])
            return
        }
        let operations: Set<UploadRequest.Operation> = [.initiate, .uploadPart, .complete]
        #expect(Set(signer.asked.map(\.operation)) == operations)
        let parts = signer.asked(.uploadPart).sorted { ($0.partNumber ?? 0) < ($1.partNumber ?? 0) }
        let sizes = parts.map(\.contentLength).filter { $0 > 1 }
        let least: Int64 = tested.dialect == .s3 ? 5 << 20 : 200_000
        #expect(sizes.dropLast().allSatisfy { $0 == least })
        #expect(sizes.reduce(0, +) == Int64(tested.size))
    }

    @Test func `goes on in another process, also with keys, where it was paused`() async throws {
        for isSigned in [true, false] {
            fixture.server.clearRequestLog()
            let signer = try SigningServer(fixture)
            try fixture.write("file", Self.content)
            let options = UploadOptions.inParts(fixture.path("records"))
            let first = try fixture.signedUpload(signer, options)
            #expect(try await fixture.interrupt(first) { $0.transfer.pause() } == .paused)
            #expect(fixture.names(in: "records").count == 1)
            #expect(!fixture.hasSecrets(in: "records"))

            let stored = fixture.storedParts
            fixture.server.clearRequestLog()
            let notices = Notices()
            let second =
                isSigned
                ? try fixture.signedUpload(signer, options, onNotice: notices.add)
                : try fixture.resumable(options, onNotice: notices.add)
            #expect(try await second.run().object?.size == 3_000_000)
            #expect(notices.all == [.resumed(bytes: 1_000_000)])
            #expect((stored + fixture.storedParts).sorted() == Array(1...15))
            #expect(signer.asked(.listParts).count == (isSigned ? 1 : 0))
            let read = try await fixture.client().get("k", maxBytes: 1 << 22).value
            #expect(read?.bytes == Self.content)
            #expect(fixture.names(in: "records") == [])
        }
    }

    @Test func `goes on after a kill from what its record says`() async throws {
        let signer = try SigningServer(fixture)
        try fixture.write("file", Self.content)
        let options = UploadOptions.inParts(fixture.path("records"))
        let killed = try fixture.signedUpload(signer, options)
        var left: [String: [UInt8]] = [:]
        _ = try await fixture.interrupt(killed) { upload in
            // What is on the disk in this moment is what a kill leaves.
            for name in fixture.names(in: "records") where name.hasSuffix(".upload") {
                left[name] = fixture.content("records/" + name)
            }
            upload.transfer.cancel(keepingParts: true)
        }
        #expect(left.count == 1)
        for (name, bytes) in left { try fixture.write("records/" + name, bytes) }
        let next = try fixture.signedUpload(signer, options)
        #expect(try await next.run().object?.size == 3_000_000)
        #expect(fixture.storedParts == Array(1...15))
        #expect(try await fixture.client().get("k", maxBytes: 1 << 22).value?.bytes == Self.content)
    }

    @Test func `is signed once more when a signature has expired on the way`() async throws {
        let signer = try SigningServer(fixture)
        try fixture.write("file", Self.content)
        let expired =
            #""effect": {"fail": {"status": 403, "code": "AccessDenied", "#
            + #""message": "Request has expired."}}"#
        try fixture.setFaults(
            """
            [{"match": {"operation": "InitiateMultipartUpload", "occurrence": 1}, \(expired)},
             {"match": {"operation": "UploadPart", "part": 7, "occurrence": 1}, \(expired)},
             {"match": {"operation": "CompleteMultipartUpload", "occurrence": 1}, \(expired)}]
            """
        )
        let upload = try fixture.signedUpload(signer, .inParts())
        #expect(try await upload.run().object?.size == 3_000_000)
        let renewals = signer.asked.filter(\.isRenewal)
        #expect(renewals.map(\.operation) == [.initiate, .uploadPart, .complete])
        #expect(renewals.map(\.partNumber) == [nil, 7, nil])
        #expect(fixture.storedParts == Array(1...15))
    }

    @Test(arguments: cases.filter { $0.size > 0 })
    func `whose signatures have always expired says so`(_ tested: Case) async throws {
        // Signed for ten minutes.
        let fixture = try StoreFixture(clockOffset: 700)
        defer { fixture.stop() }
        let signer = try SigningServer(fixture, tested.dialect, tested.signature)
        try fixture.write("file", StoreFixture.ramp(tested.size))
        let upload = try ResumableUpload(
            of: fixture.path("file"),
            to: signer.target(tested.dialect),
            options: .inParts()
        )
        await expectError(.expired) { try await upload.run() }
        #expect(signer.asked.map(\.isRenewal) == [false, true])
    }

    @Test(arguments: [1, 3_000_000]) func `that is signed wrongly is forbidden, and not repeated`(
        size: Int
    ) async throws {
        let signer = try SigningServer(fixture)
        signer.setAnswer { _, signed in
            let url = signed.url.replacing("x-oss-signature=", with: "x-oss-signature=0")
            return SignedRequest(url: url, headers: signed.headers)
        }
        try fixture.write("file", StoreFixture.ramp(size))
        let upload = try fixture.signedUpload(signer, .inParts(fixture.path("records")))
        let error = await expectError(.forbidden) { try await upload.run() }
        #expect(error?.serviceCode == "SignatureDoesNotMatch")
        let advice = "Check what signs the requests, its key, and the key's permissions"
        #expect(error?.message.hasSuffix(advice) == true)
        #expect(error?.isRetryable == false)
        let text = String(reflecting: error)
        #expect(!text.contains("x-oss-signature=") && !text.contains("Credential="))
        #expect(signer.asked.map(\.isRenewal) == [false, true])
        #expect(fixture.names(in: "records") == [])
    }

    @Test func `cancelled deletes what was sent`() async throws {
        let signer = try SigningServer(fixture)
        try fixture.write("file", Self.content)
        let upload = try fixture.signedUpload(signer, .inParts(fixture.path("records")))
        #expect(try await fixture.interrupt(upload) { $0.transfer.cancel() } == .cancelled)
        #expect(signer.asked(.abort).count == 1)
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
        #expect(fixture.names(in: "records") == [])
    }

    @Test func `of a stream goes in parts, and is aborted if the stream fails`() async throws {
        let signer = try SigningServer(fixture)
        let (chunks, input) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        input.yield(Self.content)
        input.finish()
        let target = try signer.target()
        #expect(try await target.write(chunks, options: .inParts()).size == 3_000_000)
        #expect(try await fixture.client().get("k", maxBytes: 1 << 22).value?.bytes == Self.content)
        #expect(try await target.write([1, 2], options: .inParts()).size == 2)
        let (broken, end) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        end.yield(Self.content)
        end.finish(throwing: CocoaError(.fileReadUnknown))
        let error = await #expect(throws: TransferError.self) {
            try await target.write(broken, options: .inParts())
        }
        #expect(error?.underlying is CocoaError)
        #expect(signer.asked(.abort).count == 1)
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
        #expect(try await fixture.client().get("k", maxBytes: 1 << 22).value?.bytes == [1, 2])
    }

    /// Ends while the transfer `k` has four parts under way.
    private func firstProcess(
        _ fixture: StoreFixture,
        _ provider: @escaping TransferManager.Provider
    ) async throws {
        let manager = try await fixture.nextManager(provider: provider)
        try await manager.add("k", kind: .upload, path: fixture.path("file"))
        try await manager.start("k")
        try fixture.hold("UploadPart", from: 6)
        let run = Task { try await manager.run() }
        await fixture.server.untilHeld(4)
        run.cancel()
        _ = await run.result
        try fixture.setFaults("[]")
    }

    @Test func `of a manager asks the provider again in the next process`() async throws {
        let signer = try SigningServer(fixture)
        let questions = Questions()
        let provider: TransferManager.Provider = { name in
            questions.add(name)
            return .upload(
                of: fixture.path("file"),
                to: try signer.target(key: name),
                options: .inParts()
            )
        }
        try fixture.write("file", Self.content)
        try await firstProcess(fixture, provider)
        #expect(!fixture.hasSecrets(in: "transfers"))
        let second = try await fixture.nextManager(provider: provider)
        #expect(await second["k"]?.state == .waiting)
        try await second.runUntilIdle()
        #expect(await second["k"]?.state == .finished)
        #expect(questions.count(of: "k") == 2)
        // Of the parts that were under way when the first process ended some may have arrived.
        #expect(Set(fixture.storedParts) == Set(1...15) && fixture.storedParts.count <= 19)
        #expect(try await fixture.client().get("k", maxBytes: 1 << 22).value?.bytes == Self.content)
        #expect(fixture.names(in: "transfers").filter { $0.hasSuffix(".upload") } == [])
    }
}
