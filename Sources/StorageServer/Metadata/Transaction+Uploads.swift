internal import SyncModel

extension Transaction {
    private static func upload(_ row: borrowing Row) -> UploadRecord {
        UploadRecord(
            id: row.text(0),
            key: ObjectKey(row.bytes(1)),
            initiatedMilliseconds: row.integer(2),
            storageClass: StorageClass(name: row.text(3)),
            headers: HeaderText.decode(row.text(4)),
            tagging: row.optionalText(5),
            isSequential: row.integer(6) == 1,
            sequence: row.integer(7)
        )
    }

    private static func part(_ row: borrowing Row) -> PartRecord {
        PartRecord(
            number: Int(row.integer(0)),
            size: row.integer(1),
            etag: row.text(2),
            crc64: CRC64(value: UInt64(bitPattern: row.integer(3))),
            modifiedMilliseconds: row.integer(4),
            blob: row.text(5),
            checksum: row.optionalText(6).flatMap(Checksum.init)
        )
    }

    func upload(_ bucket: String, _ key: ObjectKey, id: String) throws -> UploadRecord? {
        try database.first(
            Statements.upload,
            [.text(bucket), .blob(key.bytes), .text(id)],
            Self.upload
        )
    }

    /// In the order of keys, then of initiation, after the given position.
    func uploads(
        _ bucket: String,
        after key: [UInt8],
        sequence: Int64,
        limit: Int
    ) throws -> [UploadRecord] {
        try database.query(
            Statements.uploadsFrom,
            [.text(bucket), .blob(key), .integer(sequence), .integer(Int64(limit))],
            Self.upload
        )
    }

    func createUpload(
        _ id: String,
        in bucket: String,
        _ object: NewObject,
        isSequential: Bool,
        nowMilliseconds: Int64
    ) throws {
        try database.run(
            Statements.insertUpload,
            .text(id),
            .text(bucket),
            .blob(object.key.bytes),
            .integer(nowMilliseconds),
            .text(object.storageClass.name),
            .text(HeaderText.encode(object.headers)),
            .optional(object.tagging),
            .integer(isSequential ? 1 : 0)
        )
    }

    /// Parts with numbers after `number`, ascending.
    func parts(_ upload: String, after number: Int, limit: Int) throws -> [PartRecord] {
        try database.query(
            Statements.partsAfter,
            [.text(upload), .integer(Int64(number)), .integer(Int64(limit))],
            Self.part
        )
    }

    func storePart(
        _ number: Int,
        _ blob: StoredBlob,
        checksum: Checksum?,
        of upload: String,
        nowMilliseconds: Int64
    ) throws {
        let old = try database.first(
            Statements.part,
            [.text(upload), .integer(Int64(number))],
            Self.part
        )
        if let old { release([old.blob]) }
        try database.run(
            Statements.insertPart,
            .text(upload),
            .integer(Int64(number)),
            .integer(blob.size),
            .text(hexadecimal(blob.md5, uppercase: true)),
            .integer(Int64(bitPattern: blob.crc64.value)),
            .integer(nowMilliseconds),
            .text(blob.id),
            .optional(checksum?.storedText)
        )
    }

    /// Ends an upload; parts that no object took over are removed.
    func deleteUpload(_ id: String) throws {
        release(try parts(id, after: 0, limit: PartLayout.maximumPartCount).map(\.blob))
        try database.run(Statements.deleteUpload, .text(id))
    }
}
