internal import SyncModel

/// What a deletion did.
struct Deletion: Sendable {
    /// The version that is gone, or the delete marker that was made.
    var version: String?
    var madeMarker = false
    var removedMarker = false
    /// Why nothing was done; only S3 tells.
    var failure: ServiceError?
}

extension OperationContext {
    func deleteObject() throws -> Answer {
        let (deletion, bucket) = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            let version = request.parameter("versionId")
            return (try delete(transaction, bucket, key, version: version), bucket)
        }
        var headers: [(name: String, value: String)] = []
        if bucket.hasVersions, let version = deletion.version {
            headers.append(("x-oss-version-id", version))
        }
        if deletion.madeMarker || deletion.removedMarker {
            headers.append(("x-oss-delete-marker", "true"))
        }
        return Answer(204, headers: headers)
    }

    private func delete(
        _ transaction: Transaction,
        _ bucket: BucketRecord,
        _ key: ObjectKey,
        version: String?
    ) throws -> Deletion {
        if let version {
            let removed = try transaction.remove(bucket.name, key, version: version)
            return Deletion(version: version, removedMarker: removed?.isMarker == true)
        }
        guard bucket.hasVersions else {
            try transaction.remove(bucket.name, key, version: "null")
            return Deletion()
        }
        let marker = NewObject(
            key: key,
            content: .none,
            segments: [],
            kind: .normal,
            storageClass: .standard,
            headers: []
        )
        let id = try transaction.publish(
            marker,
            in: bucket,
            isMarker: true,
            nowMilliseconds: core.nowMilliseconds
        )
        return Deletion(version: id, madeMarker: true)
    }

    func deleteMultipleObjects() throws -> Answer {
        guard bodyBytes.count <= 2 << 20 else {
            throw ServiceError.malformedXML("The document is larger than 2 MB.")
        }
        guard request.header("content-md5") != nil || checksum != nil else {
            guard dialect == .oss else {
                throw ServiceError(
                    400,
                    "InvalidRequest",
                    "Missing required header for this request: Content-MD5 OR x-amz-checksum-*"
                )
            }
            throw ServiceError(
                400,
                "MissingArgument",
                "Missing Some Required Arguments.",
                details: [("ArgumentName", "Content-MD5")]
            )
        }
        try checkContentMD5()
        let document = try bodyDocument(ec: "0016-00000607")
        let objects = document.all("Object")
        guard document.name == "Delete", (1...1_000).contains(objects.count) else {
            throw ServiceError.malformedXML("A Delete has 1 to 1000 objects.")
        }
        let targets = objects.map { object in
            (
                key: ObjectKey(object.first("Key")?.bytes ?? []),
                version: object.first("VersionId")?.text
            )
        }
        let deletions = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            return try targets.map { target -> Deletion in
                if let failure = try refusal(transaction, target.key, version: target.version) {
                    return Deletion(failure: failure)
                }
                return try delete(transaction, bucket, target.key, version: target.version)
            }
        }
        let isQuiet = document.first("Quiet")?.text == "true"
        if isQuiet, dialect == .oss { return Answer(200) }
        var xml = self.document("DeleteResult")
        if wantsEncodedKeys { xml.element("EncodingType", "url") }
        for (target, deletion) in zip(targets, deletions) {
            if let failure = deletion.failure {
                append(failure, target.key, version: target.version, to: &xml)
                continue
            }
            if isQuiet { continue }
            xml.group("Deleted") { xml in
                xml.element("Key", encodedForXML(target.key.bytes))
                if let version = target.version { xml.element("VersionId", version) }
                guard deletion.madeMarker || deletion.removedMarker else { return }
                xml.element("DeleteMarker", "true")
                if let version = deletion.version {
                    xml.element("DeleteMarkerVersionId", version)
                }
            }
        }
        return .xml(xml)
    }
}
