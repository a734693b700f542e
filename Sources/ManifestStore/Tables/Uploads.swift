package import SyncModel

/// The row of `upload`: its parts are added where it is read.
extension UploadCheckpoint: Row {
    static var table: Table { .upload }

    static func code(
        _ upload: Self?,
        _ columns: inout RowCoder
    ) throws(ManifestError) -> Self {
        let key = try columns.key(upload?.key, limit: ManifestLimits.key)
        let uploadID = try columns.optionalText(
            upload?.uploadID?.text,
            "its upload ID",
            limit: ManifestLimits.uploadID
        )
        let partSize = try columns.count(upload?.partSize, "its part size")
        guard partSize > 0 else { throw columns.failure("its part size is 0") }
        return UploadCheckpoint(
            key: key,
            uploadID: uploadID.map { UploadID($0) },
            partSize: partSize,
            source: try columns.identity(upload?.source, "its source"),
            token: try columns.text(upload?.token, "its token", limit: ManifestLimits.token),
            started: try columns.timestamp(upload?.started, "its start"),
            parts: []
        )
    }
}

struct PartRow: Row {
    static var table: Table { .uploadPart }

    let key: ObjectKey
    let part: UploadedPart

    static func code(_ row: Self?, _ columns: inout RowCoder) throws(ManifestError) -> Self {
        let key = try columns.key(row?.key, limit: ManifestLimits.key)
        let value = try columns.count(row.map { Int64($0.part.number.value) }, "its number")
        guard let number = PartNumber(Int(value)) else {
            throw columns.failure("its number is \(value)")
        }
        return PartRow(
            key: key,
            part: UploadedPart(
                number: number,
                size: try columns.count(row?.part.size, "its size"),
                etag: try columns.etag(row?.part.etag),
                crc64: try columns.checksum(row?.part.crc64)
            )
        )
    }
}

extension RowSelection<UploadCheckpoint> {
    /// Unfinished uploads in key order, with their parts.
    package static var uploads: Self {
        Self(.selectUploads, from: "", key: { $0.key }, complete)
    }

    package static func upload(_ key: ObjectKey) -> Self {
        Self(.selectUpload, from: key, key: { $0.key }, complete)
    }

    @Sendable private static func complete(
        _ connection: Connection,
        _ upload: inout UploadCheckpoint
    ) throws(ManifestError) {
        let key = SQLValue.blob(upload.key.bytes)
        let parts: [PartRow] = try connection.rows(.selectParts, [key])
        upload.parts = parts.map(\.part)
    }
}

extension Connection {
    /// The key's upload if `isExpected`; without its parts.
    fileprivate func upload(
        _ key: ObjectKey,
        where isExpected: (UploadCheckpoint) -> Bool
    ) throws(ManifestError) -> UploadCheckpoint {
        let found: UploadCheckpoint? = try row(.selectUpload, [.blob(key.bytes)])
        guard let found, isExpected(found) else { throw .checkpointGone(key) }
        return found
    }
}

extension [WriteStep] {
    mutating func append(beginning upload: UploadCheckpoint) throws(ManifestError) {
        append(.run(.deleteUpload, [.blob(upload.key.bytes)]))
        append(try .upsert(upload))
        for part in upload.parts { append(try .upsert(PartRow(key: upload.key, part: part))) }
    }

    mutating func append(_ uploadID: UploadID, of key: ObjectKey, token: String) {
        append(
            .perform { connection throws(ManifestError) in
                var upload = try connection.upload(key) { $0.token == token }
                upload.uploadID = uploadID
                try connection.upsert(upload)
            }
        )
    }

    mutating func append(
        _ part: UploadedPart,
        of key: ObjectKey,
        _ uploadID: UploadID
    ) throws(ManifestError) {
        append(
            .perform { connection throws(ManifestError) in
                _ = try connection.upload(key) { $0.uploadID == uploadID }
            }
        )
        append(try .upsert(PartRow(key: key, part: part)))
    }
}
