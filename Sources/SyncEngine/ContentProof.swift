internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// What a store without CRC-64 of its own says of an object's content, by which a file can be held
/// against it.
enum ContentProof: Sendable, Hashable {
    /// The object's own, of the whole content.
    case checksum(ContentChecksum, [UInt8])
    /// In lower-case hexadecimal digits. The store calls it a tag, not a digest: that it differs
    /// may mean that it is none.
    case md5(String)
    /// The tag of a multipart object, if its parts had this size.
    case parts(ETag, partSize: Int64)

    /// True if a file that does not hold it has other content than the object.
    var isConclusive: Bool {
        switch self {
        case .checksum: true
        case .md5, .parts: false
        }
    }

    /// Everything that the object's headers prove, the surest first.
    static func all(of metadata: ObjectMetadata, partSize: Int64) -> [ContentProof] {
        if let checksum = checksum(of: metadata) { return [checksum] }
        if let claim = claimedDigest(of: metadata) { return [claim] }
        return computed(of: metadata, partSize: partSize)
    }

    private static func checksum(of metadata: ObjectMetadata) -> ContentProof? {
        for kind in ContentChecksum.allCases {
            let text = metadata.checksums[kind.rawValue]
            if let value = text.flatMap({ Base64.decode($0.utf8) }), value.count == kind.length {
                return .checksum(kind, value)
            }
        }
        return nil
    }

    /// rclone notes the MD5 of what it uploads in parts.
    static func claimedDigest(of metadata: ObjectMetadata) -> ContentProof? {
        guard let text = metadata.userMetadata["md5chksum"],
            let digest = Base64.decode(text.utf8), digest.count == 16
        else { return nil }
        return .md5(hexadecimalText(digest))
    }

    /// What the store itself made of the content, and not what a writer once said of it.
    static func computed(of metadata: ObjectMetadata, partSize: Int64) -> [ContentProof] {
        if let checksum = checksum(of: metadata) { return [checksum] }
        guard let etag = metadata.etag, !metadata.isEncrypted else { return [] }
        if let digest = etag.md5Digest { return [.md5(digest)] }
        return partSizes(of: etag, size: metadata.size, own: partSize).map {
            .parts(etag, partSize: $0)
        }
    }

    /// The part sizes of common tools that cut an object into as many parts as its tag says.
    private static func partSizes(of etag: ETag, size: Int64, own: Int64) -> [Int64] {
        guard let count = MultipartTag.partCount(of: etag), size > 0 else { return [] }
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

    /// Reads the file's first `size` bytes; true if they are what the proof is of.
    func holds(
        _ directory: MirrorDirectory,
        _ file: OpenFile,
        size: Int64,
        unless interruption: Interruption?
    ) throws(LocalError) -> Bool {
        let whole = ByteRange(offset: 0, length: size)
        switch self {
        case .checksum(let kind, let expected):
            return try kind.value(of: directory, file, whole, unless: interruption) == expected
        case .md5(let expected):
            var digest = StreamingDigest(.md5)
            try directory.read(file, whole, unless: interruption) { digest.update($0) }
            return hexadecimalText(digest.finish()) == expected
        case .parts(let tag, let partSize):
            var digests: [UInt8] = []
            var digest = StreamingDigest(.md5)
            var offset: Int64 = 0
            while offset < size {
                let range = ByteRange(offset: offset, length: min(partSize, size - offset))
                try directory.read(file, range, unless: interruption) { digest.update($0) }
                digests += digest.finish()
                offset = range.end
            }
            return MultipartTag.tag(ofDigests: digests) == ETag(wire: tag.text.lowercased())
        }
    }
}

/// What a file was found to be beside an object's headers.
enum ContentVerdict: Sendable, Hashable {
    case proven
    /// The store offers nothing to compare with.
    case unknown
    /// It differs from what the store says; `isSure` if that can't be a misunderstanding.
    case disproved(isSure: Bool)
}

extension TransferMeans {
    /// Holds a file with the CRC-64 `checksum` against the headers of the object it should be.
    ///
    /// The CRC-64 in the metadata is what the writer said: a tool that rewrites objects may have
    /// kept it beside other content, which the other proofs then show.
    func judge(
        _ file: OpenFile,
        checksum: CRC64,
        _ metadata: ObjectMetadata
    ) async throws -> ContentVerdict {
        if metadata.crc64 == checksum { return .proven }
        let proofs = ContentProof.all(of: metadata, partSize: partSize)
        let (directory, size) = (directory, metadata.size)
        for proof in proofs {
            let holds = try await reading { interruption in
                try proof.holds(directory, file, size: size, unless: interruption)
            }
            if holds { return .proven }
        }
        if metadata.crc64 != nil || proofs.contains(where: \.isConclusive) {
            return .disproved(isSure: true)
        }
        // A tag of parts that does not fit only says that the parts had another size.
        let hasDigest = proofs.contains { if case .md5 = $0 { true } else { false } }
        return hasDigest ? .disproved(isSure: false) : .unknown
    }

    /// True if a file that was there before has the content of the object with these headers.
    ///
    /// Here the metadata prove nothing of themselves: a tool that replaces an object's content and
    /// keeps its metadata leaves the old content's checksum there, which the old file has. What the
    /// store computed decides, and what a writer said only where the store computes nothing.
    func hasContent(
        _ file: OpenFile,
        checksum: CRC64,
        of metadata: ObjectMetadata
    ) async throws -> Bool {
        try await compare(file, checksum: checksum, with: metadata) == .proven
    }

    /// The same, with what follows where it is not proven: only a digest says that contents differ.
    func compare(
        _ file: OpenFile,
        checksum: CRC64,
        with metadata: ObjectMetadata
    ) async throws -> ContentVerdict {
        var proofs = ContentProof.computed(of: metadata, partSize: partSize)
        if proofs.isEmpty {
            if let claimed = metadata.crc64 {
                return claimed == checksum ? .proven : .disproved(isSure: false)
            }
            proofs = ContentProof.claimedDigest(of: metadata).map { [$0] } ?? []
        }
        let (directory, size) = (directory, metadata.size)
        for proof in proofs {
            let holds = try await reading { interruption in
                try proof.holds(directory, file, size: size, unless: interruption)
            }
            if holds { return .proven }
        }
        if proofs.contains(where: \.isConclusive) { return .disproved(isSure: true) }
        // A tag of parts that does not match only says that the parts had another size.
        let hasDigest = proofs.contains { if case .md5 = $0 { true } else { false } }
        return hasDigest ? .disproved(isSure: false) : .unknown
    }
}
