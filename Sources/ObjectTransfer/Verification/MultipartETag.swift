internal import ObjectStorage
internal import SyncModel

/// The ETag that S3 gives an object made of parts: the MD5 of the parts' binary MD5s, a hyphen and
/// their number.
enum MultipartETag {
    /// Nil if a part's tag is no MD5, as with encryption by a key service.
    static func tag(ofParts tags: [ETag]) -> ETag? {
        var digests: [UInt8] = []
        digests.reserveCapacity(tags.count * 16)
        for tag in tags {
            guard let digest = tag.md5Bytes else { return nil }
            digests += digest
        }
        return tag(ofDigests: digests)
    }

    /// The tag of parts whose binary MD5s are joined in `digests`.
    static func tag(ofDigests digests: [UInt8]) -> ETag {
        ETag(wire: hexadecimalText(Digest.md5(digests)) + "-\(digests.count / 16)")
    }

    /// The number of parts that a tag says; nil for one of another form.
    static func partCount(of tag: ETag) -> Int? {
        let fields = tag.text.split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count == 2, ETag(wire: String(fields[0])).md5Digest != nil,
            let count = parseDecimal(fields[1].utf8), count > 0,
            count <= PartLayout.maximumPartCount
        else { return nil }
        return Int(count)
    }
}
