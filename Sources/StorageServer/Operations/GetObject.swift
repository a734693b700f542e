internal import SyncModel

/// An object that can be read: a link is followed.
struct ReadableObject: Sendable {
    /// What the key names: metadata and times are its own.
    let named: ObjectRecord
    /// What the bytes are of: `named`, or the target of a link.
    let source: ObjectRecord
    let content: PinnedContent
    let bucket: BucketRecord
}

extension OperationContext {
    func getObject() throws -> Answer {
        let object = try core.metadata.transaction { transaction in
            let found = try readable(transaction)
            // A running restore ends after so many looks at the object.
            if operation == .headObject, let restore = found.named.restore, restore.pollsLeft > 0 {
                try transaction.setRestore(
                    RestoreRecord(
                        pollsLeft: restore.pollsLeft - 1,
                        expiryMilliseconds: restore.expiryMilliseconds
                    ),
                    of: found.named
                )
            }
            return found
        }
        try checkConditions(etag: object.source.content.etag, modified: modified(object))
        let headers = objectHeaders(object)
        let size = object.source.content.size
        let whole = ByteRange(offset: 0, length: size)
        if operation == .headObject {
            if let answer = try partAnswer(object, headers) { return answer }
            let answer = headers + checksumHeaders(object.named)
            return Answer(200, headers: answer, body: .content(object.content, whole))
        }
        guard !object.source.needsRestore else {
            throw ServiceError.invalidObjectState(keyText)
        }
        if let answer = try partAnswer(object, headers) { return answer }
        let header = faults.ignoresRange ? nil : request.header("range")
        guard let header, let range = try RangeRequest(header).range(of: size, for: request) else {
            let answer = headers + checksumHeaders(object.named)
            return Answer(200, headers: answer, body: .content(object.content, whole))
        }
        let contentRange = ("Content-Range", "bytes \(range.offset)-\(range.end - 1)/\(size)")
        return Answer(206, headers: headers + [contentRange], body: .content(object.content, range))
    }

    /// `?objectMeta`: few headers, and a link is not followed.
    func getObjectMeta() throws -> Answer {
        let (object, bucket) = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            let version = request.parameter("versionId")
            return (try existing(transaction, bucket, key, version: version), bucket)
        }
        var headers: [(name: String, value: String)] = [
            ("ETag", quoted(object.content.etag)),
            ("Last-Modified", CivilTime(object.modified).httpText),
        ]
        if let crc64 = object.content.crc64 {
            headers.append(("x-oss-hash-crc64ecma", String(crc64.value)))
        }
        if bucket.hasVersions { headers.append(("x-oss-version-id", object.versionID)) }
        let content = PinnedContent([], in: core.metadata.blobs)
        let range = ByteRange(offset: 0, length: object.content.size)
        return Answer(200, headers: headers, body: .content(content, range))
    }

    // MARK: - Looking up

    /// A version that is no delete marker.
    func existing(
        _ transaction: Transaction,
        _ bucket: BucketRecord,
        _ key: ObjectKey,
        version: String?
    ) throws -> ObjectRecord {
        let name = String(decoding: key.bytes, as: UTF8.self)
        guard let object = try transaction.object(bucket.name, key, version: version) else {
            throw version.map { ServiceError.noSuchVersion(name, $0) } ?? .noSuchKey(name)
        }
        guard object.isMarker else { return object }
        var error =
            version == nil
            ? ServiceError.noSuchKey(name)
            : .methodNotAllowed("The specified method is not allowed against this resource.")
        error.headers = [
            ("x-oss-delete-marker", "true"), ("x-oss-version-id", object.versionID),
        ]
        if version != nil { error.headers.append(("Allow", "DELETE")) }
        throw error
    }

    private func readable(_ transaction: Transaction) throws -> ReadableObject {
        let bucket = try self.bucket(transaction)
        let version = request.parameter("versionId")
        let named = try existing(transaction, bucket, key, version: version)
        guard let target = named.symlinkTarget else {
            let content = try transaction.pin(named)
            return ReadableObject(named: named, source: named, content: content, bucket: bucket)
        }
        guard let source = try transaction.object(bucket.name, target, version: nil),
            !source.isMarker
        else {
            throw ServiceError(
                404,
                "SymlinkTargetNotExist",
                "The symlink target object does not exist",
                details: [("Key", keyText)]
            )
        }
        guard source.symlinkTarget == nil else {
            throw ServiceError(
                400,
                "InvalidTargetType",
                "The symbolic's target object type is invalid",
                ec: "0026-00000011",
                details: [("Type", "Symlink")]
            )
        }
        let content = try transaction.pin(source)
        return ReadableObject(named: named, source: source, content: content, bucket: bucket)
    }

    private func modified(_ object: ReadableObject) -> Timestamp {
        max(object.named.modified, object.source.modified)
    }

    // MARK: - Headers

    private func objectHeaders(_ object: ReadableObject) -> [(name: String, value: String)] {
        let content = object.source.content
        let named = object.named
        var headers: [(name: String, value: String)] = [
            ("ETag", "\"\(content.etag)\""),
            ("Last-Modified", CivilTime(modified(object)).httpText),
            ("Accept-Ranges", "bytes"),
            ("x-oss-object-type", named.kind.rawValue),
            ("x-oss-storage-class", object.source.storageClass.name),
        ]
        if let crc64 = content.crc64 {
            headers.append(("x-oss-hash-crc64ecma", String(crc64.value)))
        }
        if let md5 = content.md5 { headers.append(("Content-MD5", md5)) }
        if object.bucket.hasVersions { headers.append(("x-oss-version-id", named.versionID)) }
        if let restore = object.source.restoreText { headers.append(("x-oss-restore", restore)) }
        if named.kind == .appendable {
            headers.append(("x-oss-next-append-position", String(content.size)))
        }
        if let tagging = named.tagging, !tagging.isEmpty {
            headers.append(("x-oss-tagging-count", String(tagging.split(separator: "&").count)))
        }
        for stored in named.headers where !stored.name.hasPrefix("x-amz-") {
            let replacement = request.parameter("response-" + stored.name)
            headers.append((stored.name.capitalizedHeader, replacement ?? stored.value))
        }
        for item in request.query where item.name.hasPrefix("response-") {
            let name = String(item.name.dropFirst("response-".count))
            guard !named.headers.contains(where: { $0.name == name }) else { continue }
            headers.append((name.capitalizedHeader, item.value))
        }
        return headers
    }
}

extension String {
    /// `content-type` as `Content-Type`; user metadata stays in lower case.
    fileprivate var capitalizedHeader: String {
        guard !hasPrefix("x-oss-") else { return self }
        return split(separator: "-", omittingEmptySubsequences: false)
            .map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined(separator: "-")
    }
}
