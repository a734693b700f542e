internal import ObjectStorage
internal import SyncModel

/// A key without the prefix, or a path below the mirror, as histories write it down.
struct Name: Hashable, Sendable {
    let key: ObjectKey

    init(_ key: ObjectKey) { self.key = key }
    init(_ text: String) { key = ObjectKey(text) }
}

extension Name: Codable {
    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        key = ObjectKey(percentDecode([UInt8](text.utf8)) ?? [UInt8](text.utf8))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(percentEncode(key.bytes, keepsSlash: true))
    }
}
