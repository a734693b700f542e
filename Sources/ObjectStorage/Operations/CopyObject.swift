package import SyncModel

/// A copy within the bucket, made by the server.
package struct CopyRequest: Sendable {
    package var source: ObjectKey
    /// The version that is meant; any other is an error.
    package var sourceETag: ETag?
    /// The version that is copied; nil for the current one.
    package var sourceVersion: VersionID?
    package var destination: ObjectKey
    /// Nil: that of the source; else it replaces the source's.
    package var userMetadata: [(name: String, value: String)]?
    package var contentType: String?
    /// What is known of the source: the copy keeps its class and, beside `userMetadata`, what other
    /// tools put on it.
    package var kept: ObjectMetadata?
    /// What the copy is written with; without `userMetadata`, only how it is encrypted.
    package var properties = ObjectProperties.none
    package var forbidsOverwrite: Bool
    /// The version that is replaced; any other is an error, found by a HEAD request right before.
    package var replaced: ETag?
    /// It is unknown whether the object exists: if the service does not support conditions, a HEAD
    /// request checks first.
    package var existenceIsUnknown = false

    package init(
        source: ObjectKey,
        sourceETag: ETag? = nil,
        destination: ObjectKey,
        userMetadata: [(name: String, value: String)]? = nil,
        contentType: String? = nil,
        forbidsOverwrite: Bool = false
    ) {
        self.source = source
        self.sourceETag = sourceETag
        self.destination = destination
        self.userMetadata = userMetadata
        self.contentType = contentType
        self.forbidsOverwrite = forbidsOverwrite
    }
}

extension StorageClient {
    package func copy(_ request: CopyRequest) async throws(StorageError) -> PutResult {
        var wire = StorageRequest("CopyObject", .put, request.destination)
        wire.headers = sourceHeaders(request.source, request.sourceETag, request.sourceVersion)
        if let metadata = request.userMetadata {
            wire.headers.append((dialect.header("metadata-directive"), "REPLACE"))
            var made = PutRequest(
                key: request.destination,
                contentType: request.contentType,
                userMetadata: metadata
            )
            made.source = request.kept
            made.set(request.properties)
            wire.headers += objectHeaders(made) + accessControlHeaders(made.accessControl)
            if !made.tags.isEmpty {
                wire.headers.append((dialect.header("tagging-directive"), dialect.replaceTags))
            }
        } else {
            if let kept = request.kept, dialect.writableClasses.contains(kept.storageClass.name) {
                wire.headers.append((dialect.header("storage-class"), kept.storageClass.name))
            }
            wire.headers += encryptionHeaders(request.properties.encryption)
            wire.headers += accessControlHeaders(request.properties.accessControl)
        }
        wire.isSlow = true
        wire.replaced = request.replaced.map { etag in
            ReplacedVersion(etag: etag, keepsMetadata: false, keepsType: false)
        }
        return try await conditionally(
            wire,
            forbidsOverwrite: request.forbidsOverwrite,
            existenceIsUnknown: request.existenceIsUnknown,
            replaced: request.replaced
        ) { (wire) throws(StorageError) in
            try await self.copy(wire)
        }
    }

    private func copy(_ copying: StorageRequest) async throws(StorageError) -> PutResult {
        try await repeating { (context) throws(StorageError) in
            let response = try await self.send(copying, &context)
            let document = try copying.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeCopyObject(body)
            }
            return PutResult(
                etag: document.etag,
                crc64: self.dialect.checksum(response.head),
                versionID: self.dialect.versionID(response.head),
                requestID: self.dialect.requestID(response.head),
                lastModified: document.lastModified
            )
        }
    }

    /// Names the source of a copy and, if known, its version.
    func sourceHeaders(
        _ source: ObjectKey,
        _ etag: ETag?,
        _ version: VersionID?
    ) -> [(String, String)] {
        var path =
            dialect.copySourcePrefix + configuration.bucket + "/"
            + percentEncode(source.bytes, keepsSlash: true)
        if let version {
            path += "?versionId=" + percentEncode([UInt8](version.text.utf8), keepsSlash: false)
        }
        var headers = [(dialect.header("copy-source"), path)]
        if let etag { headers.append((dialect.header("copy-source-if-match"), etag.quoted)) }
        return headers
    }
}
