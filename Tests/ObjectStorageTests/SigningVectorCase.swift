import SyncModel
import Testing

@testable import ObjectStorage

/// One case of `Vectors/oss-signing.json`.
struct SigningVectorCase: Decodable, Sendable, CustomTestStringConvertible {
    struct File: Decodable {
        let count: Int
        let cases: [SigningVectorCase]
    }

    struct Keys: Decodable, Sendable {
        let accessKeyId: String
        let accessKeySecret: String
        let securityToken: String?
    }

    struct Expected: Decodable, Sendable {
        let url: String
        let headersAdded: [String: String]?
        let canonicalRequest: String?
        let stringToSign: String
        let signingKeyHex: String?
        let signature: String
        let authorization: String?
        let queryParamsUnordered: [[String]]?
    }

    let name: String
    let dialect: String
    let method: String
    let region: String
    let bucket: String?
    let key: String?
    let addressStyle: String
    let query: [[String]]
    let headers: [[String]]
    let additionalHeaders: [String]
    let credentials: Keys
    let epoch: Int64
    let product: String?
    let signingRegion: String?
    let expiresSeconds: Int64?
    let payloadSigning: Bool?
    let bodyUtf8: String?
    let expected: Expected

    var testDescription: String { dialect + " " + name }

    static func all(_ dialect: String) -> [SigningVectorCase] {
        let file = try? Vectors.decode(File.self, from: "oss-signing.json")
        return (file?.cases ?? []).filter { $0.dialect == dialect }
    }

    var time: Timestamp { Timestamp(seconds: epoch) }

    var signer: V4Signer {
        V4Signer(
            parameters: V4Parameters(product: dialect.hasPrefix("s3") ? nil : product ?? "oss"),
            additionalHeaders: additionalHeaders
        )
    }

    var signingCredentials: Credentials {
        Credentials(
            accessKeyID: credentials.accessKeyId,
            accessKeySecret: Secret(credentials.accessKeySecret),
            securityToken: credentials.securityToken.map(Secret.init(_:))
        )
    }

    /// The endpoint in front of the expected URL, parsed as a user would give it.
    func endpoint() throws -> Endpoint {
        var origin = String(expected.url.prefix(upTo: originEnd))
        if addressStyle == "virtual", let bucket {
            origin.replace("://" + bucket + ".", with: "://")
        }
        return try Endpoint(
            parsing: origin,
            region: signingRegion ?? region,
            addressing: AddressingChoice(rawValue: addressStyle) ?? .auto
        )
    }

    func request() throws -> SignableRequest {
        SignableRequest(
            method: try #require(HTTPMethod(rawValue: method)),
            endpoint: try endpoint(),
            bucket: bucket,
            key: key.map { ObjectKey($0) },
            query: query.map { ($0[0], $0[1]) },
            headers: headers.map { ($0[0], $0[1]) },
            payloadDigest: payloadSigning == true
                ? hexadecimalText(Digest.sha256([UInt8]((bodyUtf8 ?? "").utf8))) : nil
        )
    }

    private var originEnd: String.Index {
        let rest = expected.url.firstRange(of: "://")?.upperBound ?? expected.url.startIndex
        return expected.url[rest...].firstIndex(of: "/") ?? expected.url.endIndex
    }
}

/// A URL whose query has no order: what comes before it, and its parameters, decoded and sorted.
struct UnorderedURL: Equatable {
    let base: String
    let query: [String]

    init(_ text: String) {
        let parts = text.split(separator: "?", maxSplits: 1)
        base = String(parts[0])
        query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { item in
            let item = item.hasSuffix("=") ? item.dropLast() : item
            let decoded = percentDecode([UInt8](item.utf8), style: .strict) ?? []
            return String(decoding: decoded, as: UTF8.self)
        }.sorted()
    }
}
