package import SyncModel

extension ManifestStore {
    package func uploadCheckpoint(_ key: ObjectKey) throws(ManifestError) -> UploadCheckpoint? {
        try uploads(.selectUpload, [.blob(key.bytes)]).first
    }

    /// Up to `limit` checkpoints in key order, after `after`.
    package func uploadCheckpoints(
        after: ObjectKey?,
        limit: Int
    ) throws(ManifestError) -> [UploadCheckpoint] {
        try uploads(.selectUploads, [.blob(after?.bytes ?? []), .integer(Int64(limit))])
    }

    /// Records an upload with its parts, in place of an earlier one of the same key.
    package nonisolated func beginUpload(
        _ checkpoint: UploadCheckpoint
    ) async throws(ManifestError) {
        try UploadRow.check(checkpoint)
        try await write([.beginUpload(checkpoint)])
    }

    /// Records the service's answer to the initiation of the upload that has `token`.
    ///
    /// - Throws: ``ManifestError/checkpointGone(_:)`` if the key's upload is another one.
    package nonisolated func setUploadID(
        _ key: ObjectKey,
        _ uploadID: UploadID,
        token: String
    ) async throws(ManifestError) {
        try UploadRow.check(uploadID)
        try await write([.setUploadID(key, uploadID, token: token)])
    }

    /// Records one confirmed part.
    ///
    /// - Throws: ``ManifestError/checkpointGone(_:)`` if the key's upload is not, or no longer, the
    ///   one with `uploadID`.
    package nonisolated func savePart(
        _ key: ObjectKey,
        _ part: UploadedPart,
        uploadID: UploadID
    ) async throws(ManifestError) {
        try UploadRow.check(part)
        try await write([.savePart(key, part, uploadID: uploadID)])
    }

    /// Drops the checkpoint and its parts; nothing happens if there is none.
    package nonisolated func dropUpload(_ key: ObjectKey) async throws(ManifestError) {
        try await write([.change(.finishUpload(key))])
    }

    private func uploads(
        _ query: Query,
        _ values: [SQLValue]
    ) throws(ManifestError) -> [UploadCheckpoint] {
        try withConnection { connection throws(ManifestError) in
            var checkpoints: [UploadCheckpoint] = []
            try connection.forEachRow(query, values) { statement throws(ManifestError) in
                checkpoints.append(
                    try UploadRow.read(statement) { key throws(ManifestError) in
                        try connection.parts(of: key)
                    }
                )
            }
            return checkpoints
        }
    }
}

extension Connection {
    fileprivate func parts(of key: ObjectKey) throws(ManifestError) -> [UploadedPart] {
        var parts: [UploadedPart] = []
        try forEachRow(.selectParts, [.blob(key.bytes)]) { statement throws(ManifestError) in
            parts.append(try UploadRow.readPart(statement))
        }
        return parts
    }

    func begin(_ checkpoint: UploadCheckpoint) throws(ManifestError) {
        try run(.deleteUpload, [.blob(checkpoint.key.bytes)])
        try run(.insertUpload, UploadRow.values(of: checkpoint))
        for part in checkpoint.parts {
            try run(.upsertPart, UploadRow.values(of: part, key: checkpoint.key))
        }
    }

    func set(_ uploadID: UploadID, of key: ObjectKey, token: String) throws(ManifestError) {
        guard let upload = try upload(of: key), upload.token == token else {
            throw .checkpointGone(key)
        }
        let changed = UploadCheckpoint(
            key: key,
            uploadID: uploadID,
            partSize: upload.partSize,
            source: upload.source,
            token: upload.token,
            started: upload.started,
            parts: []
        )
        let check = UploadRow.values(of: changed).last ?? .null
        try run(.updateUploadID, [.text(uploadID.text), check, .blob(key.bytes)])
    }

    func save(
        _ part: UploadedPart,
        of key: ObjectKey,
        uploadID: UploadID
    ) throws(ManifestError) {
        guard let upload = try upload(of: key), upload.uploadID == uploadID else {
            throw .checkpointGone(key)
        }
        try run(.upsertPart, UploadRow.values(of: part, key: key))
    }

    /// The row of an upload, without its parts.
    private func upload(of key: ObjectKey) throws(ManifestError) -> UploadCheckpoint? {
        var upload: UploadCheckpoint?
        try forEachRow(.selectUpload, [.blob(key.bytes)]) { statement throws(ManifestError) in
            upload = try UploadRow.read(statement) { _ in [] }
        }
        return upload
    }
}
