import Foundation
import OSSTransfer
import ObjectStorage
import StoreFixture
import SyncTestSupport
import Testing

@Suite("An object in parts that is written to a stream")
struct StreamedPartsTests {
    private static let content = Array("0123456789abcdefghij".utf8)

    /// The tag of parts of seven bytes, a size that nobody guesses.
    private static let tag: String = {
        let digests = [content[..<7], content[7..<14], content[14...]].flatMap {
            Digest.md5(Array($0))
        }
        return "\"\(hexadecimalText(Digest.md5(digests)))-3\""
    }()

    private static func answer(_ request: ScriptedRequest, _ lines: [String]) -> ScriptedAction {
        let lines = ["ETag: " + tag] + lines
        guard request.method == "HEAD" else {
            let range = "Content-Range: bytes 0-19/20"
            return .response("206 Partial Content", headers: lines + [range], body: content)
        }
        let isPart = request.target.hasSuffix("?partNumber=1")
        let head =
            isPart
            ? ["HTTP/1.1 206 Partial Content", "Content-Length: 7", "x-amz-mp-parts-count: 3"]
            : ["HTTP/1.1 200 OK", "Content-Length: 20"]
        return .text((head + lines).joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// A proof of the whole makes the request for the size of the parts needless.
    @Test(arguments: [false, true]) func `is verified, whatever the size of its parts`(
        hasDigest: Bool
    ) async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let digest = Data(Digest.md5(Self.content)).base64EncodedString()
        let lines = hasDigest ? ["x-amz-meta-md5chksum: " + digest] : []
        let server = ScriptedServer { request, _ in [Self.answer(request, lines)] }
        var configuration = fixture.configuration
        configuration.endpoint = server.url
        let client = try BucketClient("bucket", dialect: .s3, configuration: configuration)
        try fixture.write("out", [])
        let out = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path("out")))
        let object = try await DownloadSource.object(client, key: "key")
            .write(to: out.fileDescriptor, name: "out")
        #expect(object?.isVerified == true)
        #expect(fixture.content("out") == Self.content)
        #expect(server.requests.map(\.method) == ["HEAD"] + (hasDigest ? [] : ["HEAD"]) + ["GET"])
    }
}
