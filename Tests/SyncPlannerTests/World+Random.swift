import SyncModel
import SyncPlanner
import SyncTestSupport

extension World {
    /// A small world in which every cell of the table, names that are prefixes of others, archived
    /// and linked objects and hostile keys are common.
    init(random: inout SeededGenerator) {
        let count = 1 + random.below(7)
        for _ in 0..<count { addKey(Self.randomKey(&random), &random) }
        if random.oneIn(6) {
            let hostile: [ObjectKey] = [
                "../x", "a//b", "/a", ".osssync/manifest.db", "a/./b", "a/\0", "a/b/../../..",
                "a/.OSSsync/config",
            ]
            objects[random.pick(hostile)] = Stored(
                content: Content(id: fresh(), size: 5),
                etag: tag(fresh())
            )
        }
        if random.oneIn(10) { objects[""] = Stored(content: .init(id: 0, size: 0), etag: tag(0)) }
    }

    static func randomPolicy(_ direction: SyncDirection, _ random: inout SeededGenerator)
        -> DecisionPolicy
    {
        policy(
            direction,
            deletes: random.oneIn(2),
            extra: random.oneIn(4),
            force: random.oneIn(4),
            checksum: random.oneIn(4),
            conflict: random.pick(ConflictPolicy.allCases),
            judgesInodes: !random.oneIn(5)
        )
    }

    private static func randomKey(_ random: inout SeededGenerator) -> ObjectKey {
        let segments = ["a", "b", "a-x", "a.b", "e\u{301}", "\u{E9}"]
        var text = random.pick(segments)
        for _ in 0..<random.below(3) { text += "/" + random.pick(segments) }
        if random.oneIn(5) { text += "/" }
        return ObjectKey(text)
    }

    private mutating func addKey(_ key: ObjectKey, _ random: inout SeededGenerator) {
        guard objects[key] == nil, files[key] == nil, rows[key] == nil else { return }
        if key.isDirectoryMarker {
            addDirectory(key, &random)
        } else {
            addFile(key, &random)
        }
    }

    private mutating func addDirectory(_ key: ObjectKey, _ random: inout SeededGenerator) {
        let empty = Content(id: 0, size: 0)
        if random.oneIn(2) { record(key, empty, tag(1), nil) }
        if random.oneIn(2), canHold(key) { directories.insert(key) }
        if random.oneIn(2) {
            let content = random.oneIn(8) ? Content(id: fresh(), size: 4) : empty
            objects[key] = Stored(content: content, etag: tag(UInt64(random.below(3))))
        }
    }

    private mutating func addFile(_ key: ObjectKey, _ random: inout SeededGenerator) {
        let size = random.pick([0, 5, 5, 9] as [Int64])
        let content = size == 0 ? Content(id: 0, size: 0) : Content(id: fresh(), size: size)
        let original = newFile(content)
        let etag = random.oneIn(3) ? ETag(wire: "multi\(fresh())-2") : tag(fresh())
        let isKnown = !random.oneIn(3)
        if isKnown { record(key, content, etag, original) }
        if isKnown, random.oneIn(8) { dropChecksum(key) }
        if canHold(key) { addLocalSide(key, original, &random) }
        addRemoteSide(key, content, etag, &random)
    }

    private mutating func dropChecksum(_ key: ObjectKey) {
        guard let row = rows[key] else { return }
        rows[key] = ManifestEntry(
            key: key,
            size: row.size,
            etag: row.etag,
            crc64: nil,
            lastModified: nil,
            storageClass: row.storageClass,
            localModified: row.localModified,
            inode: row.inode
        )
    }

    private mutating func addLocalSide(
        _ key: ObjectKey,
        _ original: File,
        _ random: inout SeededGenerator
    ) {
        switch random.below(7) {
        case 0, 1: break
        case 2, 3: files[key] = original
        case 4: files[key] = newFile(original.content)
        case 5:
            let size = original.content.size
            files[key] = newFile(size == 0 ? original.content : Content(id: fresh(), size: size))
        default: files[key] = newFile(Content(id: fresh(), size: 7))
        }
    }

    private mutating func addRemoteSide(
        _ key: ObjectKey,
        _ content: Content,
        _ etag: ETag,
        _ random: inout SeededGenerator
    ) {
        var stored = Stored(content: content, etag: etag)
        switch random.below(7) {
        case 0, 1: return
        case 2, 3: break
        case 4: stored.etag = ETag(wire: "multi\(fresh())-3")
        case 5:
            if content.size > 0 { stored.content.id = fresh() }
            stored.etag = tag(fresh())
        default:
            stored.content = Content(id: fresh(), size: 11)
            stored.etag = tag(fresh())
        }
        if random.oneIn(12) { stored.storageClass = .archive }
        if random.oneIn(12) { stored.kind = .symlink }
        objects[key] = stored
    }
}
