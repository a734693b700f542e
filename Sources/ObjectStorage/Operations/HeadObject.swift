package import SyncModel
internal import Synchronization

/// What the headers of an object say.
package struct ObjectMetadata: Sendable, Hashable {
    /// The size of the whole object, also in the answer to a range.
    package var size: Int64
    package var etag: ETag?
    /// Of the whole object; nil if the server does not know it.
    package var crc64: CRC64?
    /// Other checksums of the whole object by the names of their functions, in Base64.
    package var checksums: [String: String]
    /// Checksums of the checksums of the object's parts, in the same form; behind a hyphen is the
    /// number of the parts.
    package var partChecksums: [String: String] = [:]
    /// Bytes of the first of the parts that the object was made of; nil unless the store was asked
    /// for it and told it.
    package var partSize: Int64?
    /// True if the content was encrypted so that the ETag can't be its MD5.
    package var isEncrypted: Bool
    /// Set for an encrypted object that is described by its content: what the store has of it.
    package var sealed: SealedContent?
    /// True for an encrypted object, of which each block is proven before it is given out.
    package var isProvenByBlocks: Bool { sealed != nil }
    package var lastModified: Timestamp?
    package var kind: ObjectKind
    package var storageClass: StorageClass
    package var restoreState: RestoreState?
    package var versionID: VersionID?
    package var contentType: String?
    /// Headers of HTTP that are stored with the object, by names in lower case.
    package var contentHeaders: [String: String] = [:]
    /// Names in lower case without the dialect's prefix, values as sent.
    package var userMetadata: [String: String]
    package var requestID: String?

    package init(
        size: Int64,
        etag: ETag?,
        crc64: CRC64? = nil,
        checksums: [String: String] = [:],
        isEncrypted: Bool = false,
        lastModified: Timestamp? = nil,
        kind: ObjectKind = .normal,
        storageClass: StorageClass = .standard,
        restoreState: RestoreState? = nil,
        versionID: VersionID? = nil,
        contentType: String? = nil,
        userMetadata: [String: String] = [:],
        requestID: String? = nil
    ) {
        self.size = size
        self.etag = etag
        self.crc64 = crc64
        self.checksums = checksums
        self.isEncrypted = isEncrypted
        self.lastModified = lastModified
        self.kind = kind
        self.storageClass = storageClass
        self.restoreState = restoreState
        self.versionID = versionID
        self.contentType = contentType
        self.userMetadata = userMetadata
        self.requestID = requestID
    }
}

/// What a store has of an object whose content is encrypted.
package struct SealedContent: Sendable, Hashable {
    package let size: Int64
    /// Of what is stored, as all that follows.
    package let crc64: CRC64?
    let checksums: [String: String]
    let partChecksums: [String: String]
    /// True if the store encrypted it once more.
    let isEncrypted: Bool

    init(_ found: ObjectMetadata) {
        size = found.size
        crc64 = found.crc64
        checksums = found.checksums
        partChecksums = found.partChecksums
        isEncrypted = found.isEncrypted
    }
}

extension ObjectMetadata {
    /// What the store says of what it has, also where that is described by its content.
    package var stored: ObjectMetadata {
        guard let sealed else { return self }
        var found = self
        (found.size, found.crc64, found.sealed) = (sealed.size, sealed.crc64, nil)
        (found.checksums, found.partChecksums) = (sealed.checksums, sealed.partChecksums)
        found.isEncrypted = sealed.isEncrypted
        return found
    }
}

/// What is asked of an object's headers, and under which conditions.
package struct HeadRequest: Sendable {
    package var key: ObjectKey
    package var versionID: VersionID?
    package var conditions: ReadConditions

    package init(
        key: ObjectKey,
        versionID: VersionID? = nil,
        conditions: ReadConditions = ReadConditions()
    ) {
        self.key = key
        self.versionID = versionID
        self.conditions = conditions
    }
}

extension StorageClient {
    package func head(
        _ key: ObjectKey,
        versionID: VersionID?
    ) async throws(StorageError) -> ObjectMetadata {
        try await head(HeadRequest(key: key, versionID: versionID))
    }

    package func head(_ asked: HeadRequest) async throws(StorageError) -> ObjectMetadata {
        if let urls = configuration.urls, await urls.pair.head == nil {
            return try await headByReading(asked.key)
        }
        do throws(StorageError) {
            return try await askForHead(asked)
        } catch {
            guard mayRead(asked, after: error.status) else { throw error }
            return try await headByReading(asked.key)
        }
    }

    /// True if a refusal says nothing of the object: some servers in front of a store know GET
    /// only, and some signers, too.
    private func mayRead(_ asked: HeadRequest, after status: Int?) -> Bool {
        guard asked.versionID == nil, asked.conditions == ReadConditions() else { return false }
        return switch status {
        case 405, 501: true
        case 403: configuration.urls != nil
        default: false
        }
    }

    private func askForHead(
        _ asked: HeadRequest
    ) async throws(StorageError) -> ObjectMetadata {
        var wire = StorageRequest("HeadObject", .head, asked.key)
        if let versionID = asked.versionID { wire.query.append(("versionId", versionID.text)) }
        wire.headers += asked.conditions.headers
        wire.isConditional = asked.conditions.allowNotModified
        let request = wire
        return try await repeating { (context) throws(StorageError) in
            let head = try await self.sendHead(request, of: asked.key, &context)
            guard let size = head.contentLength else {
                throw request.failure(.protocolViolation("the answer has no size"), head: head)
            }
            return ObjectMetadata(head, size: size, dialect: self.dialect)
        }
    }

    private func packing(_ request: StorageRequest, _ key: ObjectKey) -> StorageRequest {
        guard isPacked(key) else { return request }
        var packed = request
        packed.headers.append(Self.acceptedEncoding)
        return packed
    }
}

extension StorageClient {
    /// Sends a HEAD; of content that is unpacked on the way, as a GET without its encoding, once
    /// more as it is stored: it has no length, or only a weak tag.
    func sendHead(
        _ request: StorageRequest,
        of key: ObjectKey,
        _ context: inout AttemptContext
    ) async throws(StorageError) -> ResponseHead {
        let head = try await sendHead(packing(request, key), &context)
        let isPacked = isPacked(key)
        let lacksLength = try request.lacksLength(head, isPacked: isPacked)
        let lacksTag = head["etag"]?.utf8.starts(with: "W/".utf8) ?? false
        guard lacksLength || !isPacked && lacksTag else { return head }
        notePacked(key)
        return try await sendHead(packing(request, key), &context)
    }

    /// How stores refuse a header that they do not know.
    private static let unknownHeader = [400, 405, 501]

    /// Sends a HEAD that asks for checksums, too.
    ///
    /// Some stores refuse what they do not know in a request: then without, also from then on.
    func sendHead(
        _ request: StorageRequest,
        _ context: inout AttemptContext
    ) async throws(StorageError) -> ResponseHead {
        guard let mode = dialect.checksumMode, !lacksChecksumMode.load(ordering: .relaxed) else {
            return try await send(request, &context).head
        }
        var asking = request
        asking.headers.append((mode.name, mode.value))
        do throws(StorageError) {
            return try await send(asking, &context).head
        } catch {
            guard let status = error.status, Self.unknownHeader.contains(status),
                error.regionHint == nil
            else { throw error }
        }
        do throws(StorageError) {
            let head = try await send(request, &context).head
            lacksChecksumMode.store(true, ordering: .relaxed)
            return head
        } catch {
            if let status = error.status, status < 500, !Self.unknownHeader.contains(status) {
                lacksChecksumMode.store(true, ordering: .relaxed)
            }
            throw error
        }
    }

    package func partSize(
        _ key: ObjectKey,
        of etag: ETag,
        versionID: VersionID?
    ) async throws(StorageError) -> Int64? {
        // A URL that is signed elsewhere takes no further parameter.
        guard dialect.numbersParts, configuration.urls == nil,
            !lacksPartNumbers.load(ordering: .relaxed)
        else { return nil }
        var wire = StorageRequest("HeadObject", .head, key)
        wire.query.append(("partNumber", "1"))
        if let versionID { wire.query.append(("versionId", versionID.text)) }
        wire.headers += ReadConditions(ifMatch: etag).headers
        var context = AttemptContext()
        let head: ResponseHead
        do throws(StorageError) {
            // Once: the answer is not needed, so a store that is busy is not pressed for it.
            head = try await send(wire, &context).head
        } catch {
            if error.status == 405 || error.status == 501 {
                lacksPartNumbers.store(true, ordering: .relaxed)
            }
            var redaction = Redaction()
            redaction.add(context)
            throw error.redacted(by: redaction)
        }
        // Who does not know the parameter answers with the whole object.
        guard head.status == 206 || head.has("x-amz-mp-parts-count"),
            head["etag"].map({ ETag(wire: $0) }) == etag
        else { return nil }
        return head.contentLength
    }
}

extension ObjectMetadata {
    /// Reads the headers of an answer to HEAD or GET.
    init(_ head: ResponseHead, size: Int64, dialect: StorageDialect) {
        let prefix = dialect.header("meta-")
        let found = head.headers(after: prefix)
        var userMetadata = [String: String](minimumCapacity: found.count)
        for (name, value) in found { userMetadata[name] = value }
        let storageClass = head[dialect.headerPrefix, "storage-class"]
        let checksums = dialect.checksums(head)
        self.init(
            size: size,
            etag: head["etag"].map { ETag(wire: $0) }.flatMap { $0.isUsable ? $0 : nil },
            crc64: dialect.checksum(head),
            checksums: checksums.whole,
            isEncrypted: dialect.isEncrypted(head),
            lastModified: head["last-modified"].flatMap { Timestamp(httpText: $0) },
            kind: head[dialect.headerPrefix, "object-type"].flatMap(ObjectKind.init(rawValue:))
                ?? .normal,
            storageClass: storageClass.map(StorageClass.init(name:)) ?? .standard,
            restoreState: head[dialect.headerPrefix, "restore"].flatMap(
                RestoreState.init(headerValue:)
            ),
            versionID: dialect.versionID(head),
            contentType: head["content-type"],
            userMetadata: userMetadata,
            requestID: dialect.requestID(head)
        )
        contentHeaders = Self.contentHeaders(head, dialect)
        partChecksums = checksums.parts
    }
}
