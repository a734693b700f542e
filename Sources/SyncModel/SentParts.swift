/// What the parts of an object contain that was sent in parts, so that a later upload of the file
/// sends only those that changed.
///
/// Not guaranteed: anything of what the store has today. Whoever copies one of the parts compares
/// what the store says of the copy.
package struct SentParts: Sendable, Hashable {
    /// What tells one part's content from another's.
    package struct Content: Sendable, Hashable {
        /// 16 bytes.
        package let md5: [UInt8]
        package let crc64: CRC64

        package init(md5: [UInt8], crc64: CRC64) {
            (self.md5, self.crc64) = (md5, crc64)
        }
    }

    /// An object of fewer parts is sent anew: 64 MiB with parts of 8 MiB.
    package static let smallestCount = 8

    private static let digestLength = 16
    private static let contentLength = digestLength + 8

    package let key: ObjectKey
    /// Of the version that was made of the parts.
    package let etag: ETag
    /// Bytes of the object.
    package let size: Int64
    package let partSize: Int64
    /// One part after the other.
    package let contents: [UInt8]

    /// Nil for what is not an object made of parts.
    package init?(
        key: ObjectKey,
        etag: ETag,
        size: Int64,
        partSize: Int64,
        contents: [UInt8]
    ) {
        guard let layout = PartLayout(objectSize: size, recordedPartSize: partSize),
            contents.count == layout.partCount * Self.contentLength
        else { return nil }
        self.key = key
        self.etag = etag
        self.size = size
        self.partSize = partSize
        self.contents = contents
    }

    /// Of parts in their order; nil unless the store said of each what it contains, and together
    /// they are the content of `checksum`, and enough to be of use.
    package init?(
        key: ObjectKey,
        etag: ETag,
        _ layout: PartLayout,
        _ parts: [UploadedPart],
        checksum: CRC64
    ) {
        guard parts.count >= Self.smallestCount, parts.count == layout.partCount else { return nil }
        var contents: [UInt8] = []
        contents.reserveCapacity(parts.count * Self.contentLength)
        var whole = CRC64()
        for part in parts {
            guard let md5 = part.etag.md5Bytes, let crc64 = part.crc64 else { return nil }
            contents += md5
            unsafe withUnsafeBytes(of: crc64.value.littleEndian) { unsafe contents += $0 }
            whole = whole.combined(with: crc64, length: part.size)
        }
        guard whole == checksum else { return nil }
        self.init(
            key: key,
            etag: etag,
            size: layout.objectSize,
            partSize: layout.partSize,
            contents: contents
        )
    }

    /// What the object has in this range; nil if that is none of its parts.
    package func content(of range: ByteRange) -> Content? {
        let index = Int(range.offset / partSize)
        guard range.offset == Int64(index) * partSize, range.length > 0,
            range.length == min(partSize, size - range.offset)
        else { return nil }
        let start = index * Self.contentLength
        let checksum = contents[(start + Self.digestLength)..<(start + Self.contentLength)]
        return Content(
            md5: Array(contents[start..<(start + Self.digestLength)]),
            crc64: CRC64(value: checksum.reversed().reduce(0) { $0 << 8 | UInt64($1) })
        )
    }
}

extension ETag {
    /// The MD5 that the text has the form of: see ``md5Digest``.
    package var md5Bytes: [UInt8]? {
        guard let digits = md5Digest?.utf8 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for (index, digit) in digits.enumerated() {
            let value = digit < UInt8(ascii: "a") ? digit - UInt8(ascii: "0") : digit - 87
            if index.isMultiple(of: 2) {
                bytes.append(value << 4)
            } else {
                bytes[index / 2] |= value
            }
        }
        return bytes
    }
}
