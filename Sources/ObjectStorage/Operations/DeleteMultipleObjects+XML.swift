package import SyncModel

/// The answer to DeleteMultipleObjects.
package struct DeleteDocument: Sendable, Hashable {
    package struct Deleted: Sendable, Hashable {
        package let key: ObjectKey
        package let versionID: VersionID?
    }

    /// S3 only: OSS leaves out what it did not delete.
    package struct Failed: Sendable, Hashable {
        package let key: ObjectKey
        package let code: String
        package let serviceMessage: String?
    }

    package let deleted: [Deleted]
    package let failed: [Failed]
}

/// Decodes the verbose answer to DeleteMultipleObjects; `style` is the dialect's.
package func decodeDelete(
    _ bytes: [UInt8],
    style: PercentEncodingStyle
) throws(XMLFailure) -> DeleteDocument {
    try decodeXML(bytes, DeleteDecoder(style: style))
}

private struct DeleteDecoder: XMLDecoder {
    private struct Fields {
        var key: [UInt8]?
        var versionID: String?
        var code: String?
        var message: String?
    }

    let root = XMLElement.deleteResult
    private var encoding: XMLKeyEncoding
    private var deleted: [Fields] = []
    private var failed: [Fields] = []
    private var current = Fields()

    init(style: PercentEncodingStyle) {
        encoding = XMLKeyEncoding(style: style)
    }

    mutating func open(_ element: XMLElement, parent: XMLElement) throws(XMLFailure) {
        if parent == root { current = Fields() }
    }

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        switch (field.parent, field.element) {
        case (.deleted, .key), (.error, .key): try setOnce(&current.key, try field.keyBytes(), .key)
        case (.deleted, .versionID): current.versionID = try field.optionalText()
        case (.error, .code): current.code = try field.optionalText()
        case (.error, .message): current.message = try field.optionalText()
        case (.deleteResult, .deleted): deleted.append(current)
        case (.deleteResult, .error): failed.append(current)
        case (.deleteResult, .encodingType): try encoding.set(field)
        default: break
        }
    }

    func value() throws(XMLFailure) -> DeleteDocument {
        var done: [DeleteDocument.Deleted] = []
        for fields in deleted {
            done.append(
                DeleteDocument.Deleted(
                    key: try encoding.key(try require(fields.key, .key), .key),
                    versionID: fields.versionID.map(VersionID.init(_:))
                )
            )
        }
        var refused: [DeleteDocument.Failed] = []
        for fields in failed {
            refused.append(
                DeleteDocument.Failed(
                    key: try encoding.key(try require(fields.key, .key), .key),
                    code: try require(fields.code, .code),
                    serviceMessage: fields.message
                )
            )
        }
        return DeleteDocument(deleted: done, failed: refused)
    }
}
