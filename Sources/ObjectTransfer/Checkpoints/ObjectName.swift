internal import ObjectStorage
internal import SyncModel

/// An object as a record names it, to find it again when it is reached in another way.
///
/// A record says `oss://host/bucket/key` of what was read with credentials, and a URL without its
/// query of what was read by one. The host may become another one: that of a CDN, of the
/// accelerated or of the internal endpoint.
struct ObjectName: Sendable {
    private let isURL: Bool
    /// All after the host, decoded, without the first slash.
    private let path: [UInt8]

    /// Nil if it is neither form.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8),
            let slash = bytes[(colon + 3)...].firstIndex(of: UInt8(ascii: "/"))
        else { return nil }
        isURL = bytes[..<colon].starts(with: "http".utf8)
        let rest = [UInt8](bytes[(slash + 1)...])
        path = isURL ? percentDecode(rest) ?? rest : rest
    }

    /// True if both texts name one object, at any host.
    static func areSame(_ first: String, _ second: String) -> Bool {
        guard let first = ObjectName(first), let second = ObjectName(second) else { return false }
        return first.isSame(as: second)
    }

    /// True if both are of one object, as far as that can be known without the host: a URL has its
    /// bucket in the path or in the host.
    func isSame(as other: ObjectName) -> Bool {
        guard isURL != other.isURL else { return path == other.path }
        let (url, named) = isURL ? (path, other.path) : (other.path, path)
        let key = named.drop { $0 != UInt8(ascii: "/") }.dropFirst()
        return url == named || url.elementsEqual(key)
    }
}

extension Checkpoint {
    /// True if it is of what `subject` names.
    ///
    /// At another host the tag must be made of the content, as those of OSS and S3 are: that of
    /// another server may be the same for two objects.
    func isOf(_ subject: String) -> Bool {
        if source == subject { return true }
        guard let recorded = ObjectName(source), let name = ObjectName(subject) else {
            return false
        }
        return recorded.isSame(as: name) && isTagOfContent
    }

    /// 32 hexadecimal digits, and the number of parts if there were any.
    private var isTagOfContent: Bool {
        let parts = etag.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let digest = parts.first, digest.count == 32, parts.count <= 2 else { return false }
        let isDigest = ETag(wire: String(decoding: digest, as: UTF8.self)).md5Digest != nil
        let isCount = parts.dropFirst().allSatisfy { part in
            !part.isEmpty && part.allSatisfy(\.isDigit)
        }
        return isDigest && isCount
    }
}
