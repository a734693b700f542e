internal import SyncModel

extension OperationContext {
    func putSymlink() throws -> Answer {
        let key = try checkedKey()
        guard let text = request.header("x-oss-symlink-target"), !text.isEmpty else {
            throw ServiceError.invalidArgument(
                "The symlink target is missing.",
                name: "x-oss-symlink-target"
            )
        }
        let target = ObjectKey(percentDecoded(text.utf8, plusIsSpace: false))
        let object = NewObject(
            key: key,
            content: ObjectContent(
                size: 0,
                etag: hexadecimal(Digests.md5(target.bytes), uppercase: true),
                crc64: nil,
                md5: nil
            ),
            segments: [],
            kind: .symlink,
            storageClass: try storageClass(),
            headers: try storedHeaders(),
            symlinkTarget: target
        )
        let (bucket, version) = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            try checkOverwrite(transaction, bucket: bucket)
            let now = core.nowMilliseconds
            return (bucket, try transaction.publish(object, in: bucket, nowMilliseconds: now))
        }
        return Answer(
            200,
            headers: writtenHeaders(object.content, bucket: bucket, version: version)
        )
    }

    func getSymlink() throws -> Answer {
        let (object, bucket) = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            let version = request.parameter("versionId")
            return (try existing(transaction, bucket, key, version: version), bucket)
        }
        guard let target = object.symlinkTarget else {
            throw ServiceError(
                400,
                "NotSymlink",
                "The object is not symlink type",
                details: [("Key", keyText)]
            )
        }
        var headers: [(name: String, value: String)] = [
            ("x-oss-symlink-target", percentEncoded(target.bytes, keepingSlash: false)),
            ("ETag", quoted(object.content.etag)),
            ("Last-Modified", CivilTime(object.modified).httpText),
        ]
        headers += object.headers.filter { $0.name.hasPrefix("x-oss-meta-") }
        if bucket.hasVersions { headers.append(("x-oss-version-id", object.versionID)) }
        return Answer(200, headers: headers)
    }
}
