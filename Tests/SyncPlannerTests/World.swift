import SyncModel

/// Two sides and a manifest in plain dictionaries: what a run is allowed to do to them, and nothing
/// of how it comes to that.
struct World {
    /// What a file or object holds; equal numbers are equal bytes.
    struct Content: Hashable {
        var id: UInt64
        var size: Int64
        var crc64: CRC64 { CRC64(value: id &* 0x9E37_79B9_7F4A_7C15) }
    }

    struct File: Hashable {
        var content: Content
        var modified: Timestamp
        var inode: UInt64
    }

    struct Stored: Hashable {
        var content: Content
        var etag: ETag
        var storageClass = StorageClass.standard
        var kind = ObjectKind.normal
    }

    var files: [ObjectKey: File] = [:]
    /// Directories that exist by themselves, with the trailing "/".
    var directories: Set<ObjectKey> = []
    var objects: [ObjectKey: Stored] = [:]
    var rows: [ObjectKey: ManifestEntry] = [:]

    var violations: [String] = []
    private var clock: Int64 = 1_800_000_000
    private var counter: UInt64 = 1 << 40

    // MARK: - The three streams

    var remoteStream: [RemoteObject] {
        objects.keys.sorted().map { key in
            let stored = objects[key] ?? Stored(content: .init(id: 0, size: 0), etag: tag(0))
            return RemoteObject(
                key: key,
                // The listing gives the size of a link, not of its target.
                size: stored.kind == .symlink ? 17 : stored.content.size,
                etag: stored.etag,
                storageClass: stored.storageClass,
                kind: stored.kind
            )
        }
    }

    var baseStream: [ManifestEntry] {
        rows.values.sorted { $0.key < $1.key }
    }

    var localStream: [LocalEntry] {
        var entries: [LocalEntry] = []
        for (key, file) in files {
            entries.append(LocalEntry(path: key, kind: .file(identity(file))))
        }
        let full = impliedDirectories
        for key in directories.union(full) {
            entries.append(
                LocalEntry(path: key, kind: .directory(isEmpty: !full.contains(key)))
            )
        }
        return entries.sorted { $0.path < $1.path }
    }

    /// The directories that have an entry.
    var impliedDirectories: Set<ObjectKey> {
        var result: Set<ObjectKey> = []
        for key in files.keys { result.formUnion(Self.ancestors(of: key)) }
        for key in directories { result.formUnion(Self.ancestors(of: key)) }
        return result
    }

    /// `a/` and `a/b/` of `a/b/c` and of `a/b/c/`.
    static func ancestors(of key: ObjectKey) -> [ObjectKey] {
        key.bytes.indices.dropLast().compactMap { index in
            key.bytes[index] == UInt8(ascii: "/") ? ObjectKey(key.bytes[...index]) : nil
        }
    }

    static func asDirectory(_ key: ObjectKey) -> ObjectKey {
        ObjectKey(key.bytes + [UInt8(ascii: "/")])
    }

    static func asFile(_ key: ObjectKey) -> ObjectKey {
        ObjectKey([UInt8](key.bytes.dropLast()))
    }

    func identity(_ file: File) -> FileIdentity {
        FileIdentity(
            size: file.content.size,
            modified: file.modified,
            changed: file.modified,
            inode: file.inode,
            device: 1
        )
    }

    func tag(_ number: UInt64) -> ETag {
        let digits = String(number, radix: 16)
        return ETag(wire: String(repeating: "0", count: 32 - digits.utf8.count) + digits)
    }

    // MARK: - Changes

    mutating func fresh() -> UInt64 {
        counter += 1
        return counter
    }

    mutating func newFile(_ content: Content) -> File {
        clock += 1
        return File(content: content, modified: Timestamp(seconds: clock), inode: fresh())
    }

    mutating func record(_ key: ObjectKey, _ content: Content, _ etag: ETag, _ file: File?) {
        rows[key] = ManifestEntry(
            key: key,
            size: content.size,
            etag: etag,
            crc64: content.crc64,
            lastModified: nil,
            storageClass: .standard,
            localModified: file?.modified ?? Timestamp(seconds: 0),
            inode: file?.inode ?? 0
        )
    }

    /// True if nothing but a directory can be at the path and its ancestors are no files.
    func canHold(_ key: ObjectKey) -> Bool {
        let blocked = Self.ancestors(of: key).contains { files[Self.asFile($0)] != nil }
        if blocked { return false }
        if key.isDirectoryMarker { return files[Self.asFile(key)] == nil }
        let name = Self.asDirectory(key)
        return !directories.contains(name) && !impliedDirectories.contains(name)
    }
}
