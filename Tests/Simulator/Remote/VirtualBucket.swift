internal import ObjectStorage
internal import SyncModel

/// The objects and unfinished uploads of one bucket; knows no requests.
struct VirtualBucket {
    /// Who made something.
    enum Author: Sendable, Hashable {
        case world
        case tool
    }

    struct Object {
        /// Of the file.
        var bytes: [UInt8]
        /// As they are stored.
        var stored: [UInt8]
        var etag: String
        var crc64: CRC64
        var metadata: [String: String]
        var modified: Timestamp
        var storageClass = "Standard"
        /// Set for a symlink object.
        var target: ObjectKey?
        var author: Author
        /// Counts the versions of the whole bucket, from 1.
        var serial: Int
    }

    struct Part {
        var bytes: [UInt8]
        var etag: String
        var crc64: CRC64
    }

    struct Upload {
        let id: String
        let key: ObjectKey
        let metadata: [String: String]
        let initiated: Timestamp
        let author: Author
        /// Of what was the object then, for stores that hold it against the condition.
        var parts: [Int: Part] = [:]
    }

    /// Contents are encrypted before they come.
    var isSealed = false
    /// Tags are made of sizes and of how often a key was written.
    var hasWeakTags = false
    private var writes: [ObjectKey: Int] = [:]
    private(set) var objects: [ObjectKey: Object] = [:]
    private(set) var uploads: [String: Upload] = [:]
    private var lastSerial = 0
    private var lastUpload = 0

    /// In byte order, as a listing has them.
    var keys: [ObjectKey] { objects.keys.sorted() }

    mutating func put(
        _ key: ObjectKey,
        bytes: [UInt8],
        metadata: [String: String],
        now: Timestamp,
        author: Author,
        etag: String? = nil
    ) {
        let bytes = author == .world ? stored(bytes, at: key) : bytes
        set(
            key,
            bytes: bytes,
            etag: etag ?? tag(of: key, bytes),
            metadata: metadata,
            now: now,
            author: author
        )
    }

    private mutating func tag(of key: ObjectKey, _ bytes: [UInt8]) -> String {
        guard hasWeakTags else { return hexadecimalText(Digest.md5(bytes)).uppercased() }
        writes[key, default: 0] += 1
        let text = "\(bytes.count) \(writes[key, default: 0])"
        return hexadecimalText(Digest.md5(Array(text.utf8))).uppercased() + "-1"
    }

    /// With a tag that is no MD5, as that of an object made of parts.
    mutating func putOpaquely(
        _ key: ObjectKey,
        bytes: [UInt8],
        metadata: [String: String],
        parts: Int,
        now: Timestamp,
        author: Author
    ) {
        let bytes = author == .world ? stored(bytes, at: key) : bytes
        let seed = bytes + Array("\(lastSerial)".utf8)
        let etag = hexadecimalText(Digest.md5(seed)).uppercased() + "-\(parts)"
        set(key, bytes: bytes, etag: etag, metadata: metadata, now: now, author: author)
    }

    /// What another machine stores of a file.
    private func stored(_ bytes: [UInt8], at key: ObjectKey) -> [UInt8] {
        guard isSealed, !(bytes.isEmpty && key.isDirectoryMarker) else { return bytes }
        return SealedObjects.object(of: bytes, "version \(lastSerial)", key)
    }

    private mutating func set(
        _ key: ObjectKey,
        bytes: [UInt8],
        etag: String,
        metadata: [String: String],
        now: Timestamp,
        author: Author
    ) {
        lastSerial += 1
        objects[key] = Object(
            bytes: isSealed ? SealedObjects.file(of: bytes) ?? bytes : bytes,
            stored: bytes,
            etag: etag,
            crc64: CRC64(of: bytes),
            metadata: metadata,
            modified: Timestamp(seconds: now.seconds),
            author: author,
            serial: lastSerial
        )
    }

    mutating func link(_ key: ObjectKey, to target: ObjectKey, now: Timestamp) {
        set(
            key,
            bytes: target.bytes,
            etag: hexadecimalText(Digest.md5(target.bytes)).uppercased(),
            metadata: [:],
            now: now,
            author: .world
        )
        objects[key]?.target = target
    }

    mutating func setClass(_ key: ObjectKey, _ storageClass: String) {
        objects[key]?.storageClass = storageClass
    }

    mutating func delete(_ key: ObjectKey) {
        objects.removeValue(forKey: key)
    }

    /// The object that a read of `key` gives: of a link its target, which is no link.
    func resolved(_ key: ObjectKey) -> Object? {
        guard let object = objects[key] else { return nil }
        guard let target = object.target else { return object }
        guard let found = objects[target], found.target == nil else { return nil }
        return found
    }

    // MARK: - Uploads

    mutating func initiate(
        _ key: ObjectKey,
        metadata: [String: String],
        now: Timestamp,
        author: Author
    ) -> String {
        lastUpload += 1
        let id = "upload\(lastUpload)"
        uploads[id] = Upload(
            id: id,
            key: key,
            metadata: metadata,
            initiated: Timestamp(seconds: now.seconds),
            author: author
        )
        return id
    }

    mutating func setPart(_ number: Int, of upload: String, bytes: [UInt8]) -> Part {
        let part = Part(
            bytes: bytes,
            etag: hexadecimalText(Digest.md5(bytes)).uppercased(),
            crc64: CRC64(of: bytes)
        )
        uploads[upload]?.parts[number] = part
        return part
    }

    mutating func abort(_ upload: String) {
        uploads.removeValue(forKey: upload)
    }

    /// Makes the object of its parts; the tag as the services make it.
    mutating func complete(_ id: String, numbers: [Int], now: Timestamp) {
        guard let upload = uploads.removeValue(forKey: id) else { return }
        var bytes: [UInt8] = []
        var digests: [UInt8] = []
        for number in numbers {
            guard let part = upload.parts[number] else { continue }
            bytes += part.bytes
            digests += Digest.md5(part.bytes)
        }
        set(
            upload.key,
            bytes: bytes,
            etag: hexadecimalText(Digest.md5(digests)).uppercased() + "-\(numbers.count)",
            metadata: upload.metadata,
            now: now,
            author: upload.author
        )
    }
}
