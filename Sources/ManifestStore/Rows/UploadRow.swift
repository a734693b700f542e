internal import SyncModel

/// Rows of the tables `upload` and `upload_part`.
enum UploadRow {
    static func values(of checkpoint: UploadCheckpoint) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(checkpoint.key)
        values.append(checkpoint.uploadID?.text)
        values.append(checkpoint.partSize)
        values.append(checkpoint.source)
        values.append(checkpoint.token)
        values.append(checkpoint.started)
        return RowDigest.sealing(values, table: .upload)
    }

    static func values(of part: UploadedPart, key: ObjectKey) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(key)
        values.append(Int64(part.number.value))
        values.append(part.size)
        values.append(part.etag.text)
        values.append(part.crc64)
        return RowDigest.sealing(values, table: .uploadPart)
    }

    static func check(_ checkpoint: UploadCheckpoint) throws(ManifestError) {
        try Requirement.key(checkpoint.key)
        try Requirement.positive(checkpoint.partSize, "a part size")
        try Requirement.notNegative(checkpoint.source.size, "an upload's size")
        try Requirement.length(checkpoint.token, "a token", limit: ManifestLimits.token)
        try check(checkpoint.uploadID)
        for part in checkpoint.parts { try check(part) }
    }

    static func check(_ uploadID: UploadID?) throws(ManifestError) {
        let limit = ManifestLimits.uploadID
        try Requirement.length(uploadID?.text, "an upload ID", limit: limit)
    }

    static func check(_ part: UploadedPart) throws(ManifestError) {
        try Requirement.notNegative(part.size, "a part's size")
        try Requirement.length(part.etag.text, "an ETag", limit: ManifestLimits.etag)
    }

    /// The row of `upload`, with the parts that `parts` gives for its key.
    static func read(
        _ statement: PreparedStatement,
        parts: (ObjectKey) throws(ManifestError) -> [UploadedPart]
    ) throws(ManifestError) -> UploadCheckpoint {
        var row = RowReader(statement, table: .upload)
        let key = try row.key(limit: ManifestLimits.key)
        let uploadID = try row.optionalText("its upload ID", limit: ManifestLimits.uploadID)
        let partSize = try row.count("its part size")
        let source = try row.identity("its source")
        let token = try row.text("its token", limit: ManifestLimits.token)
        let started = try row.timestamp("its start")
        try row.finish()
        guard partSize > 0 else { throw row.failure("its part size is 0") }
        return UploadCheckpoint(
            key: key,
            uploadID: uploadID.map { UploadID($0) },
            partSize: partSize,
            source: source,
            token: token,
            started: started,
            parts: try parts(key)
        )
    }

    static func readPart(
        _ statement: PreparedStatement
    ) throws(ManifestError) -> UploadedPart {
        var row = RowReader(statement, table: .uploadPart)
        _ = try row.key(limit: ManifestLimits.key)
        let value = try row.count("its number")
        guard let number = PartNumber(Int(value)) else {
            throw row.failure("its number is \(value)")
        }
        let part = UploadedPart(
            number: number,
            size: try row.count("its size"),
            etag: ETag(stored: try row.text("its ETag", limit: ManifestLimits.etag)),
            crc64: try row.checksum("its CRC-64")
        )
        try row.finish()
        return part
    }
}
