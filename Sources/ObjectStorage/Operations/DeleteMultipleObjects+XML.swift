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
    let document = try decodeFields(bytes, .deleteResult, [.deleted, .error], style: style)
    var deleted: [DeleteDocument.Deleted] = []
    var failed: [DeleteDocument.Failed] = []
    for fields in document.entries {
        let key = try fields.key()
        if fields.element == .deleted {
            let version = fields.text(.versionID).map { VersionID($0) }
            deleted.append(DeleteDocument.Deleted(key: key, versionID: version))
        } else {
            failed.append(
                DeleteDocument.Failed(
                    key: key,
                    code: try require(fields.text(.code), .code),
                    serviceMessage: fields.text(.message)
                )
            )
        }
    }
    return DeleteDocument(deleted: deleted, failed: failed)
}
