package import SyncModel

/// What a store says of a request that failed.
///
/// Texts are the store's own and are escaped before anyone sees them; ``code`` decides what
/// happens.
package struct ServiceErrorDocument: Sendable, Hashable {
    /// All leaves below the root, in order; one of a nested element is named `Parent.Name`.
    package let fields: [Field]

    package struct Field: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    /// Reads the body of an answer; nil if it is no error document.
    package init?(body: [UInt8]) {
        guard let fields = try? decodeXML(body, ErrorDecoder(), limits: .error) else { return nil }
        self.fields = fields
        guard !code.isEmpty else { return nil }
    }

    /// Reads the `x-oss-err` header, which has the document of an answer to HEAD in base64.
    package init?(headerValue: String) {
        guard let body = Base64.decode(headerValue.utf8) else { return nil }
        self.init(body: body)
    }

    /// The value of the first field of that name.
    package subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    package var code: String { self["Code"] ?? "" }
    package var serviceMessage: String? { self["Message"] }
    package var requestID: String? { self["RequestId"] }
    /// OSS's precise cause, `0026-00000001`.
    package var ec: String? { self["EC"] }
    /// The host that the bucket should be asked at.
    package var endpoint: String? { self["Endpoint"] }
    /// The region that S3 wants in the signature.
    package var region: String? { self["Region"] }
    /// The server's clock, in an answer about a wrong one.
    package var serverTime: Timestamp? {
        self["ServerTime"].flatMap { Timestamp(extendedText: $0) }
    }
}

private struct ErrorDecoder: XMLDecoder {
    typealias Value = [ServiceErrorDocument.Field]

    let root = XMLElement.error
    private var fields: [ServiceErrorDocument.Field] = []
    private static let maximumFieldCount = 256

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        if field.depth == 2, !field.isLeaf {
            // The names of a container's leaves are completed when its own name is known.
            fields = fields.map { leaf in
                leaf.name.utf8.first == UInt8(ascii: ".")
                    ? ServiceErrorDocument.Field(name: field.name + leaf.name, value: leaf.value)
                    : leaf
            }
        }
        guard field.isLeaf, field.depth == 2 || field.depth == 3,
            fields.count < Self.maximumFieldCount
        else { return }
        let name = field.depth == 2 ? field.name : "." + field.name
        fields.append(ServiceErrorDocument.Field(name: name, value: field.text))
    }

    func value() throws(XMLFailure) -> Value { fields }
}
