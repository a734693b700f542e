package import LocalStorage
package import ObjectStorage
package import SyncModel

/// What a store without CRC-64 of its own says of an object's content, to compare a file with.
///
/// 1. `all` and `computed` collect it from an object's headers: a checksum, an MD5, or what parts
///    with their checksums or MD5s became, with the part sizes that could have made it.
/// 2. The file is read once, and the same digest is computed from it.
/// 3. Equal means the same content. Different means other content only if `isConclusive`: an ETag
///    may be no digest at all.
///
/// Not guaranteed: an answer. Some objects, such as encrypted ones, have no usable digest; then the
/// caller has to download and compare. MD5 does not resist a malicious writer.
enum ContentDigest: Sendable, Hashable {
    /// The object's own, of the whole content.
    case checksum(ObjectChecksum, [UInt8])
    /// In lower-case hexadecimal digits. It comes from an ETag, which need not be a digest: a
    /// difference proves nothing.
    case md5(String)
    /// The checksum of the checksums of the parts, if these had this size.
    case composite(ObjectChecksum, [UInt8], partSize: Int64)
    /// The tag of a multipart object, if its parts had this size.
    case parts(ETag, partSize: Int64)

    /// True if a file that does not hold it has other content than the object.
    var isConclusive: Bool {
        switch self {
        case .checksum: true
        case .md5, .composite, .parts: false
        }
    }

    /// True if it is of the whole content at once.
    var isOfWhole: Bool {
        switch self {
        case .checksum, .md5: true
        case .composite, .parts: false
        }
    }

    /// True if content that does not hold it is not what the store tells of, unless the digest is
    /// none.
    func showsDifference(from metadata: ObjectMetadata) -> Bool {
        switch self {
        case .checksum, .md5: true
        // Parts of different sizes may begin with one of this size; a single one is the whole.
        case .composite(_, _, let partSize):
            metadata.partSize != nil || partSize >= metadata.size
        // That it does not match only says that the parts had another size, or that the tag is
        // none.
        case .parts: false
        }
    }

    /// Everything that the object's headers prove, the surest first.
    static func all(of metadata: ObjectMetadata, partSize: Int64) -> [ContentDigest] {
        if let checksum = checksum(of: metadata) { return [checksum] }
        if let claim = claimedDigest(of: metadata) {
            return composites(of: metadata, partSize: partSize) + [claim]
        }
        return computed(of: metadata, partSize: partSize)
    }

    private static func checksum(of metadata: ObjectMetadata) -> ContentDigest? {
        for kind in ObjectChecksum.allCases {
            let text = metadata.checksums[kind.rawValue]
            if let value = text.flatMap({ Base64.decode($0.utf8) }), value.count == kind.length {
                return .checksum(kind, value)
            }
        }
        return nil
    }

    /// rclone notes the MD5 of what it uploads in parts.
    static func claimedDigest(of metadata: ObjectMetadata) -> ContentDigest? {
        guard let text = metadata.userMetadata["md5chksum"],
            let digest = Base64.decode(text.utf8), digest.count == 16
        else { return nil }
        return .md5(hexadecimalText(digest))
    }

    /// What the store itself made of the content, and not what a writer once said of it.
    static func computed(of metadata: ObjectMetadata, partSize: Int64) -> [ContentDigest] {
        if let checksum = checksum(of: metadata) { return [checksum] }
        let composites = composites(of: metadata, partSize: partSize)
        guard let etag = metadata.etag, !metadata.isEncrypted else { return composites }
        if let digest = etag.md5Digest { return composites + [.md5(digest)] }
        guard let count = MultipartETag.partCount(of: etag) else { return composites }
        return composites
            + partSizes(count, of: metadata, own: partSize).map { .parts(etag, partSize: $0) }
    }

    /// What the cheapest of the functions made of the parts' checksums.
    private static func composites(
        of metadata: ObjectMetadata,
        partSize: Int64
    ) -> [ContentDigest] {
        for kind in [.crc32c, .crc32, .crc64nvme, .sha256, .sha1] as [ObjectChecksum] {
            guard let text = metadata.partChecksums[kind.rawValue],
                let (value, count) = compositeChecksum(text, kind)
            else { continue }
            return partSizes(count, of: metadata, own: partSize).map {
                .composite(kind, value, partSize: $0)
            }
        }
        return []
    }

    private static func compositeChecksum(
        _ text: String,
        _ kind: ObjectChecksum
    ) -> (value: [UInt8], partCount: Int)? {
        let fields = text.split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count == 2, let value = Base64.decode(fields[0].utf8),
            value.count == kind.length, let count = parseDecimal(fields[1].utf8),
            (1...Int64(PartLayout.maximumPartCount)).contains(count)
        else { return nil }
        return (value, Int(count))
    }

    /// True if the store may tell the size of the parts, and a proof depends on it.
    static func needsPartSize(_ metadata: ObjectMetadata) -> Bool {
        guard metadata.crc64 == nil, metadata.partSize == nil, checksum(of: metadata) == nil
        else { return false }
        // One part is the whole object.
        if metadata.partChecksums.values.contains(where: { !$0.hasSuffix("-1") }) { return true }
        guard let etag = metadata.etag, !metadata.isEncrypted else { return false }
        return MultipartETag.partCount(of: etag) ?? 1 > 1
    }

    /// Those of the parts that an object's tag says it was made of; none for another tag.
    static func partSizes(of metadata: ObjectMetadata, own: Int64) -> [Int64] {
        guard let count = metadata.etag.flatMap({ MultipartETag.partCount(of: $0) }) else {
            return []
        }
        return partSizes(count, of: metadata, own: own)
    }

    /// The size that the store told, or those of common tools that cut an object into so many
    /// parts.
    private static func partSizes(
        _ count: Int,
        of metadata: ObjectMetadata,
        own: Int64
    ) -> [Int64] {
        let size = metadata.size
        guard size > 0 else { return [] }
        if let told = metadata.partSize, told > 0 {
            // Otherwise parts differ in size.
            return (size - 1) / told + 1 == count ? [told] : []
        }
        let mebibyte: Int64 = 1 << 20
        let least = (size + Int64(count) - 1) / Int64(count)
        let common = [8, 5, 16, 10, 15, 25, 32, 50, 64, 100, 128, 200, 256, 512, 1_024]
            .map { Int64($0) * mebibyte }
        var sizes: [Int64] = []
        for candidate in [own] + common + [(least + mebibyte - 1) / mebibyte * mebibyte] {
            let parts = (size - 1) / candidate + 1
            if parts == count, !sizes.contains(candidate) { sizes.append(candidate) }
        }
        return Array(sizes.prefix(3))
    }

    /// Bytes of a digest.
    var digestLength: Int {
        switch self {
        case .checksum(let kind, _), .composite(let kind, _, _): kind.length
        case .md5, .parts: 16
        }
    }

    /// Of how many bytes of content there is a digest each; the last one may be of fewer.
    func pieceSize(of size: Int64) -> Int64 {
        switch self {
        case .checksum, .md5: size
        case .composite(_, _, let partSize), .parts(_, let partSize): partSize
        }
    }

    func makeDigest() -> PieceDigest {
        switch self {
        case .checksum(let kind, _), .composite(let kind, _, _): PieceDigest(kind)
        case .md5: PieceDigest(nil)
        case .parts: PieceDigest(part: LaneMD5())
        }
    }

    /// True if the digests of all pieces, one after the other, are those of the object.
    func matches(digests: [UInt8]) -> Bool {
        switch self {
        case .checksum(_, let expected): digests == expected
        case .composite(_, let expected, _): whole(of: digests) == expected
        case .md5(let expected): hexadecimalText(digests) == expected
        case .parts(let tag, _):
            MultipartETag.tag(ofDigests: digests) == ETag(wire: tag.text.lowercased())
        }
    }

    /// What the digests of the parts become together.
    private func whole(of digests: [UInt8]) -> [UInt8] {
        var whole = makeDigest()
        unsafe whole.update(digests.span.bytes)
        return whole.finish()
    }

    /// True if `content` is what the proof is of.
    func matches(_ content: [UInt8]) -> Bool {
        let bytes = unsafe content.span.bytes
        return matches(size: Int64(content.count)) { range, digest in
            digest.update(bytes.extracting(Int(range.offset)..<Int(range.end)))
        }
    }

    /// Reads what an object is made of, `size` bytes; true if that is what the proof is of.
    func matches(
        size: Int64,
        sealed body: (ByteRange) -> SealedBody
    ) throws(TransportError) -> Bool {
        try matches(size: size) { (range, digest) throws(TransportError) in
            try unsafe body(range).read { unsafe digest.update($0.bytes) }
        }
    }

    /// True if the pieces that `add` gives to their digests are what the proof is of.
    private func matches<Failure: Error>(
        size: Int64,
        _ add: (_ range: ByteRange, _ digest: inout PieceDigest) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        var digest = makeDigest()
        var digests: [UInt8] = []
        var offset: Int64 = 0
        repeat {
            let length = min(pieceSize(of: size), size - offset)
            let range = ByteRange(offset: offset, length: length)
            try add(range, &digest)
            digests += digest.finish()
            offset = range.end
        } while offset < size
        return matches(digests: digests)
    }

    /// Reads the file's first `size` bytes; true if they are what the proof is of.
    func matches(
        _ file: OpenFile,
        size: Int64,
        unless interruption: Interruption?
    ) throws(LocalError) -> Bool {
        if case .parts(_, let partSize) = self {
            let digests = try PartDigests.digests(
                of: file,
                size: size,
                pieceSize: partSize,
                unless: interruption
            )
            return matches(digests: digests)
        }
        return try matches(size: size) { range, digest throws(LocalError) in
            try file.read(range, unless: interruption) { digest.update($0) }
        }
    }
}

/// What a file was found to be beside an object's headers.
package enum DigestResult: Sendable, Hashable {
    case proven
    /// The store offers nothing to compare with.
    case unknown
    /// It differs from what the store says; `isSure` if that can't be a misunderstanding.
    case contentMismatch(isSure: Bool)
}

extension TransferContext {
    /// Holds a file with the CRC-64 `checksum` against the headers of the object it should be.
    ///
    /// The CRC-64 in the metadata is what the writer said: a tool that rewrites objects may have
    /// kept it beside other content, which the other proofs then show. What was `computed` while
    /// the object arrived is not read again.
    func verify(
        _ file: OpenFile,
        checksum: CRC64,
        _ metadata: ObjectMetadata,
        computed: (proof: ContentDigest, matches: Bool)? = nil
    ) async throws -> DigestResult {
        if metadata.crc64 == checksum { return .proven }
        let digests = ContentDigest.all(of: metadata, partSize: partSize)
        let verdict = try await verdict(file, metadata, digests, computed: computed)
        guard verdict != .proven, metadata.crc64 != nil else { return verdict }
        return .contentMismatch(isSure: true)
    }

    /// Holds a file that is whole against the object it should be, whose checksum the store may
    /// compute itself.
    package func proof(
        _ file: OpenFile,
        checksum: CRC64,
        of object: PinnedObject,
        _ metadata: ObjectMetadata
    ) async throws -> DigestResult {
        guard object.size > 0 else { return .proven }
        guard store.dialect.computesChecksum else {
            return try await verify(file, checksum: checksum, metadata)
        }
        guard let stated = object.crc64 else { return .unknown }
        return stated == checksum ? .proven : .contentMismatch(isSure: true)
    }

    /// True if a file that was there before has the content of the object with these headers.
    ///
    /// Here the metadata prove nothing of themselves: a tool that replaces an object's content and
    /// keeps its metadata leaves the old content's checksum there, which the old file has. What the
    /// store computed decides, and what a writer said only where the store computes nothing.
    package func hasContent(
        _ file: OpenFile,
        checksum: CRC64,
        of metadata: ObjectMetadata
    ) async throws -> Bool {
        try await compare(file, checksum: checksum, with: metadata) == .proven
    }

    /// The same, with what follows where it is not proven: only a digest says that contents differ.
    package func compare(
        _ file: OpenFile,
        checksum: CRC64,
        with metadata: ObjectMetadata
    ) async throws -> DigestResult {
        var digests = ContentDigest.computed(of: metadata, partSize: partSize)
        if digests.isEmpty {
            if let claimed = metadata.crc64 {
                return claimed == checksum ? .proven : .contentMismatch(isSure: false)
            }
            digests = ContentDigest.claimedDigest(of: metadata).map { [$0] } ?? []
        }
        return try await verdict(file, metadata, digests)
    }

    /// The same headers with the size of the object's parts, where a proof depends on it and the
    /// store tells it.
    package func withPartSize(
        _ metadata: ObjectMetadata,
        of key: ObjectKey
    ) async -> ObjectMetadata {
        // Without it, the usual sizes are tried.
        await store.withPartSize(metadata, of: objectKey(key))
    }

    /// What the file is beside the proofs; one that matches is enough.
    private func verdict(
        _ file: OpenFile,
        _ metadata: ObjectMetadata,
        _ digests: [ContentDigest],
        computed: (proof: ContentDigest, matches: Bool)? = nil
    ) async throws -> DigestResult {
        let size = metadata.size
        for digest in digests {
            var matches = digest == computed?.proof ? computed?.matches : nil
            if matches == nil {
                matches = try await reading { interruption in
                    try digest.matches(file, size: size, unless: interruption)
                }
            }
            if matches == true { return .proven }
        }
        return Self.difference(digests, metadata)
    }

    /// What it means that none of the proofs is of a content.
    static func difference(
        _ digests: [ContentDigest],
        _ metadata: ObjectMetadata
    ) -> DigestResult {
        if digests.contains(where: \.isConclusive) { return .contentMismatch(isSure: true) }
        let hasDigest = digests.contains { $0.showsDifference(from: metadata) }
        return hasDigest ? .contentMismatch(isSure: false) : .unknown
    }
}

extension ObjectReader {
    /// The same headers with the size of the object's parts, where a proof depends on it and the
    /// store tells it.
    func withPartSize(_ metadata: ObjectMetadata, of key: ObjectKey) async -> ObjectMetadata {
        guard let etag = metadata.etag, ContentDigest.needsPartSize(metadata) else {
            return metadata
        }
        var metadata = metadata
        metadata.partSize = try? await partSize(key, of: etag, versionID: metadata.versionID)
        return metadata
    }
}
