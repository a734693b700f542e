internal import SyncModel

extension Transaction {
    private static func object(_ row: borrowing Row) -> ObjectRecord {
        ObjectRecord(
            id: row.integer(0),
            key: ObjectKey(row.bytes(1)),
            versionID: row.text(2),
            isLatest: row.integer(3) == 1,
            isMarker: row.integer(4) == 1,
            content: ObjectContent(
                size: row.integer(5),
                etag: row.text(6),
                crc64: row.optionalInteger(7).map { CRC64(value: UInt64(bitPattern: $0)) },
                md5: row.optionalText(8)
            ),
            modifiedMilliseconds: row.integer(9),
            kind: ObjectKind(rawValue: row.text(10)) ?? .normal,
            storageClass: StorageClass(name: row.text(11)),
            headerText: row.text(12),
            symlinkTarget: row.isNull(13) ? nil : ObjectKey(row.bytes(13)),
            restore: row.isNull(14)
                ? nil
                : RestoreRecord(pollsLeft: row.integer(14), expiryMilliseconds: row.integer(15)),
            tagging: row.optionalText(16)
        )
    }

    /// The latest version or the given one, also if it is a delete marker.
    func object(_ bucket: String, _ key: ObjectKey, version: String?) throws -> ObjectRecord? {
        if let generated = generated[bucket] { return generated.object(key) }
        if let version {
            return try database.first(
                Statements.oneVersion,
                [.text(bucket), .blob(key.bytes), .text(version)],
                Self.object
            )
        }
        return try database.first(
            Statements.latest,
            [.text(bucket), .blob(key.bytes)],
            Self.object
        )
    }

    /// Latest versions with keys from `lower` on, in key order.
    func objects(_ bucket: String, from lower: [UInt8], limit: Int) throws -> [ObjectRecord] {
        if let generated = generated[bucket] {
            return generated.objects(from: lower, limit: limit)
        }
        return try database.query(
            Statements.objectsFrom,
            [.text(bucket), .blob(lower), .integer(Int64(limit))],
            Self.object
        )
    }

    /// All versions with keys from `lower` on, in key order, newest first; of `lower` itself only
    /// those below an id.
    func versions(
        _ bucket: String,
        from lower: [UInt8],
        belowID id: Int64,
        limit: Int
    ) throws -> [ObjectRecord] {
        try database.query(
            Statements.versionsFrom,
            [.text(bucket), .blob(lower), .integer(id), .integer(Int64(limit))],
            Self.object
        )
    }

    func segments(of object: ObjectRecord) throws -> [Segment] {
        guard object.id > 0 else { throw GeneratedBucket.unreadable }
        return try database.query(Statements.segments, [.integer(object.id)]) {
            Segment(blob: $0.text(0), offset: $0.integer(1), length: $0.integer(2))
        }
    }

    /// Protects the content of `object` from removal while it is read.
    func pin(_ object: ObjectRecord) throws -> PinnedContent {
        PinnedContent(try segments(of: object), in: blobs)
    }

    /// Writes a version as the bucket's versioning has it; returns its id.
    @discardableResult
    func publish(
        _ object: NewObject,
        in bucket: BucketRecord,
        isMarker: Bool = false,
        nowMilliseconds: Int64
    ) throws -> String {
        guard generated[bucket.name] == nil else { throw GeneratedBucket.unwritable }
        let versionID = bucket.keepsVersions ? makeVersionID() : "null"
        if !bucket.keepsVersions {
            try remove(bucket.name, object.key, version: "null")
        }
        try database.run(Statements.notLatest, .text(bucket.name), .blob(object.key.bytes))
        try database.run(
            Statements.insertObject,
            .text(bucket.name),
            .blob(object.key.bytes),
            .text(versionID),
            .integer(isMarker ? 1 : 0),
            .integer(object.content.size),
            .text(object.content.etag),
            .optional(object.content.crc64.map { Int64(bitPattern: $0.value) }),
            .optional(object.content.md5),
            .integer(nowMilliseconds),
            .text(object.kind.rawValue),
            .text(object.storageClass.name),
            .text(HeaderText.encode(object.headers)),
            object.symlinkTarget.map { .blob($0.bytes) } ?? .null,
            .optional(object.tagging)
        )
        let id = database.lastInsertedID
        for (position, segment) in object.segments.enumerated() {
            try database.run(
                Statements.insertSegment,
                .integer(id),
                .integer(Int64(position)),
                .text(segment.blob),
                .integer(segment.offset),
                .integer(segment.length)
            )
        }
        return versionID
    }

    /// Removes one version for good; the newest of the others becomes the latest.
    ///
    /// Nil if there is no such version.
    @discardableResult
    func remove(_ bucket: String, _ key: ObjectKey, version: String) throws -> ObjectRecord? {
        guard let found = try object(bucket, key, version: version) else { return nil }
        guard generated[bucket] == nil else { throw GeneratedBucket.unwritable }
        release(try segments(of: found).map(\.blob))
        try database.run(Statements.deleteObject, .integer(found.id))
        if found.isLatest,
            let next = try database.first(
                Statements.newestVersion,
                [.text(bucket), .blob(key.bytes)],
                Self.object
            )
        {
            try database.run(Statements.makeLatest, .integer(next.id))
        }
        return found
    }

    func setRestore(_ restore: RestoreRecord, of object: ObjectRecord) throws {
        try database.run(
            Statements.setRestore,
            .integer(object.id),
            .integer(restore.pollsLeft),
            .integer(restore.expiryMilliseconds)
        )
    }

    func setTagging(_ tagging: String?, of object: ObjectRecord) throws {
        try database.run(Statements.setTagging, .integer(object.id), .optional(tagging))
    }

    private func makeVersionID() -> String {
        "CAE" + hexadecimal(randomBytes(30), uppercase: false)
    }
}
