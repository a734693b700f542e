import Foundation
import Testing

@testable import StorageServer

/// One signed request as the official SDKs make it.
struct ServerVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Expected: Decodable {
        let url: String
        let headersAdded: [String: String]?
        let canonicalRequest: String?
        let stringToSign: String
        let authorization: String?

        enum CodingKeys: String, CodingKey {
            case url, authorization
            case headersAdded = "headers_added"
            case canonicalRequest = "canonical_request"
            case stringToSign = "string_to_sign"
        }
    }

    let name: String
    let dialect: String
    let method: String
    let headers: [[String]]
    let expected: Expected

    enum CodingKeys: String, CodingKey {
        case name, dialect, method, headers, expected
    }

    var testDescription: String { dialect + " " + name }

    /// The request as it would arrive.
    var request: Request {
        let rest = expected.url.split(separator: "//", maxSplits: 1)[1]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var sent = headers.map { (name: $0[0].lowercased(), value: $0[1]) }
        for (name, value) in expected.headersAdded ?? [:] {
            sent.append((name.lowercased(), value))
        }
        if !sent.contains(where: { $0.name == "host" }) {
            sent.append(("host", String(rest[..<slash])))
        }
        return Request(
            method: Method(rawValue: method) ?? .get,
            target: String(rest[slash...]),
            headers: sent
        )
    }

    static func all(_ dialect: String) -> [ServerVector] {
        struct File: Decodable { let cases: [ServerVector] }
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Vectors/oss-signing.json")
        do {
            let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: path))
            return file.cases.filter { $0.dialect == dialect }
        } catch {
            preconditionFailure("the vectors can't be read: \(error)")
        }
    }
}

@Suite("The server's side of signatures")
struct SigningVectorTests {
    /// A custom domain does not name its bucket, so the server can't know it.
    private static func isAddressable(_ vector: ServerVector) -> Bool {
        !vector.name.contains("cname")
    }

    @Test func `the vectors are there`() {
        #expect(ServerVector.all("oss-v4-header").count == 41)
        #expect(ServerVector.all("oss-v1-header").count == 11)
    }

    @Test(arguments: ServerVector.all("oss-v4-header").filter(isAddressable))
    func `builds the canonical request of the official SDKs`(vector: ServerVector) {
        // The server goes by what the request itself names.
        let named =
            vector.expected.authorization?.split(separator: ",")
            .first { $0.hasPrefix("AdditionalHeaders=") }
            .map { $0.dropFirst("AdditionalHeaders=".count).split(separator: ";") } ?? []
        let canonical = CanonicalRequest.v4(
            vector.request,
            additionalHeaders: named.map(String.init),
            leavingOut: nil
        )
        #expect(canonical == vector.expected.canonicalRequest)
    }

    @Test(arguments: ServerVector.all("oss-v1-header").filter(isAddressable))
    func `builds the first version's string to sign`(vector: ServerVector) {
        let request = vector.request
        let text = CanonicalRequest.v1(request, date: request.header("date") ?? "")
        #expect(String(decoding: text, as: UTF8.self) == vector.expected.stringToSign)
    }
}
