internal import SyncModel

/// Where the bytes of a copy come from.
struct CopySource {
    let bucket: String
    let key: ObjectKey
    let version: String?

    /// Reads `/bucket/encoded-key[?versionId=…]`.
    init(_ request: Request) throws(ServiceError) {
        let header = request.serviceHeader("copy-source") ?? ""
        let bytes = [UInt8](header.utf8)
        let question = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        let path = percentDecoded(bytes[..<question], plusIsSpace: false)
        let trimmed = path.first == UInt8(ascii: "/") ? path[1...] : path[...]
        guard let slash = trimmed.firstIndex(of: UInt8(ascii: "/")),
            slash + 1 < trimmed.endIndex
        else {
            throw .invalidArgument(
                "Copy Source must mention the source bucket and key: /sourcebucket/sourcekey.",
                name: request.dialect.headerPrefix + "copy-source",
                value: header
            )
        }
        bucket = String(decoding: trimmed[..<slash], as: UTF8.self)
        key = ObjectKey(trimmed[(slash + 1)...])
        let query = String(decoding: bytes[question...].dropFirst(), as: UTF8.self)
        version = query.hasPrefix("versionId=") ? String(query.dropFirst(10)) : nil
    }
}

extension OperationContext {
    func copyObject() throws -> Answer {
        let key = try checkedKey()
        let source = try CopySource(request)
        let replaces = request.serviceHeader("metadata-directive")?.lowercased() == "replace"
        let newHeaders = try storedHeaders()
        let requestedClass =
            request.serviceHeader("storage-class") == nil ? nil : try storageClass()
        let now = core.nowMilliseconds
        let (object, original, bucket, version) = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            let found = try copied(transaction, source)
            try checkOverwrite(transaction, bucket: bucket)
            try checkCopyOntoItself(source, changes: replaces || requestedClass != nil)
            let replacesTags =
                request.serviceHeader("tagging-directive")?.lowercased() == "replace"
            let object = NewObject(
                key: key,
                content: found.content,
                segments: try transaction.segments(of: found),
                kind: found.kind == .appendable ? .normal : found.kind,
                storageClass: requestedClass ?? .standard,
                headers: replaces ? newHeaders + found.contentHeaders : found.headers,
                tagging: replacesTags ? request.serviceHeader("tagging") : found.tagging
            )
            let version = try transaction.publish(object, in: bucket, nowMilliseconds: now)
            return (object, found, bucket, version)
        }
        var xml = document("CopyObjectResult")
        xml.element("LastModified", xmlTime(now))
        xml.element("ETag", quoted(object.content.etag))
        var headers = writtenHeaders(object.content, bucket: bucket, version: version)
        headers.removeAll { $0.name == "Content-MD5" }
        if bucket.hasVersions {
            headers.append(("x-oss-copy-source-version-id", original.versionID))
        }
        return .xml(xml, headers: headers)
    }

    private func checkCopyOntoItself(
        _ source: CopySource,
        changes: Bool
    ) throws(ServiceError) {
        guard dialect == .s3, !changes, source.version == nil, source.bucket == bucketName,
            source.key == key
        else { return }
        throw ServiceError(
            400,
            "InvalidRequest",
            "This copy request is illegal because it is trying to copy an object to itself "
                + "without changing the object's metadata, storage class, website redirect "
                + "location or encryption attributes."
        )
    }

    /// The source of a copy, if its conditions hold and it can be read.
    func copied(_ transaction: Transaction, _ source: CopySource) throws -> ObjectRecord {
        guard let bucket = try transaction.bucket(source.bucket) else {
            throw ServiceError.noSuchBucket(source.bucket)
        }
        var found = try existing(transaction, bucket, source.key, version: source.version)
        if let target = found.symlinkTarget {
            found = try existing(transaction, bucket, target, version: nil)
        }
        try checkConditions(
            etag: found.content.etag,
            modified: found.modified,
            prefix: dialect.headerPrefix + "copy-source-"
        )
        guard !found.needsRestore else {
            throw ServiceError.invalidObjectState(
                String(decoding: source.key.bytes, as: UTF8.self)
            )
        }
        return found
    }
}
