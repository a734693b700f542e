internal import SyncModel

/// A bucket whose objects are computed from their numbers: for listings larger than anyone wants to
/// upload.
///
/// The objects are `obj-00000000` and so on. They can be listed, but have no content that could be
/// read, and nothing can be written.
package struct GeneratedBucket: Sendable {
    /// Keys of eight digits.
    package static let largestCount = 100_000_000
    private static let prefix = [UInt8]("obj-".utf8)
    private static let digits = 8

    package let name: String
    package let count: Int

    /// Nil for more objects than there are keys.
    package init?(name: String, count: Int) {
        guard (0...Self.largestCount).contains(count) else { return nil }
        self.name = name
        self.count = count
    }

    /// Objects with keys from `lower` on, in key order.
    func objects(from lower: [UInt8], limit: Int) -> [ObjectRecord] {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if bytesPrecede(Self.key(middle), lower) { low = middle + 1 } else { high = middle }
        }
        return (low..<min(count, low + limit)).map(Self.object)
    }

    func object(_ key: ObjectKey) -> ObjectRecord? {
        objects(from: key.bytes, limit: 1).first { $0.key == key }
    }

    private static func key(_ number: Int) -> [UInt8] {
        prefix + padded(number, to: digits)
    }

    private static func padded(_ number: Int, to width: Int) -> [UInt8] {
        let digits = [UInt8](String(number).utf8)
        return [UInt8](repeating: UInt8(ascii: "0"), count: width - digits.count) + digits
    }

    private static func object(_ number: Int) -> ObjectRecord {
        ObjectRecord(
            id: -1,
            key: ObjectKey(key(number)),
            versionID: "null",
            isLatest: true,
            isMarker: false,
            content: ObjectContent(
                size: 1 + Int64(number % 4_096),
                etag: String(decoding: padded(number, to: 32), as: UTF8.self),
                crc64: nil,
                md5: nil
            ),
            // 1 January 2026.
            modifiedMilliseconds: 1_767_225_600_000,
            kind: .normal,
            storageClass: StorageClass(name: "Standard"),
            headerText: "",
            symlinkTarget: nil,
            restore: nil,
            tagging: nil
        )
    }

    static let unreadable = ServiceError(
        501,
        "NotImplemented",
        "The objects of a generated bucket have no content."
    )
    static let unwritable = ServiceError(
        403,
        "AccessDenied",
        "Nothing can be written to a generated bucket."
    )
}
