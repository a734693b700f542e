import SyncModel
import SyncPlanner

/// The recorded version that the tables start from.
enum Recorded {
    static let key: ObjectKey = "dir/file.txt"
    static let size: Int64 = 100
    static let etag = ETag(wire: "\"0123456789ABCDEF0123456789ABCDEF\"")
    static let crc64 = CRC64(value: 0xC0FFEE)
    static let modified = Timestamp(seconds: 1_700_000_000, nanoseconds: 5)
    static let inode: UInt64 = 77
}

func row(
    _ key: ObjectKey = Recorded.key,
    size: Int64 = Recorded.size,
    etag: ETag = Recorded.etag,
    crc64: CRC64? = Recorded.crc64,
    storageClass: StorageClass = .standard,
    modified: Timestamp = Recorded.modified,
    inode: UInt64 = Recorded.inode
) -> ManifestEntry {
    ManifestEntry(
        key: key,
        size: size,
        etag: etag,
        crc64: crc64,
        lastModified: nil,
        storageClass: storageClass,
        localModified: modified,
        inode: inode
    )
}

func identity(
    size: Int64 = Recorded.size,
    modified: Timestamp = Recorded.modified,
    inode: UInt64 = Recorded.inode
) -> FileIdentity {
    FileIdentity(size: size, modified: modified, changed: modified, inode: inode, device: 1)
}

func file(
    _ key: ObjectKey = Recorded.key,
    size: Int64 = Recorded.size,
    modified: Timestamp = Recorded.modified,
    inode: UInt64 = Recorded.inode
) -> LocalEntry {
    LocalEntry(
        path: key,
        kind: .file(identity(size: size, modified: modified, inode: inode))
    )
}

func directory(_ key: ObjectKey, isEmpty: Bool) -> LocalEntry {
    LocalEntry(path: key, kind: .directory(isEmpty: isEmpty))
}

func object(
    _ key: ObjectKey = Recorded.key,
    size: Int64 = Recorded.size,
    etag: ETag = Recorded.etag,
    storageClass: StorageClass = .standard,
    kind: ObjectKind = .normal,
    restoreState: RestoreState? = nil
) -> RemoteObject {
    RemoteObject(
        key: key,
        size: size,
        etag: etag,
        storageClass: storageClass,
        kind: kind,
        restoreState: restoreState
    )
}

func entry(
    _ key: ObjectKey = Recorded.key,
    base: ManifestEntry? = nil,
    local: LocalEntry? = nil,
    remote: RemoteObject? = nil
) -> JoinedEntry {
    JoinedEntry(key: key, base: base, local: local, remote: remote)
}

func policy(
    _ direction: SyncDirection,
    deletes: Bool = false,
    extra: Bool = false,
    force: Bool = false,
    checksum: Bool = false,
    conflict: ConflictPolicy = .keepBoth,
    judgesInodes: Bool = true,
    maximumKeyLength: Int = 1023
) -> DecisionPolicy {
    DecisionPolicy(
        direction: direction,
        deletesKnown: deletes,
        deletesExtra: extra,
        replacesLocalChanges: force,
        comparesContent: checksum,
        conflict: conflict,
        judgesInodes: judgesInodes,
        maximumKeyLength: maximumKeyLength
    )
}

/// Runs the streams through a planner, in batches of `batch`.
func plan(
    _ policy: DecisionPolicy,
    remote: [RemoteObject] = [],
    base: [ManifestEntry] = [],
    local: [LocalEntry] = [],
    batch: Int = 2
) throws(PlanError) -> [PlannedItem] {
    var planner = Planner(policy: policy)
    var remote = remote[...]
    var base = base[...]
    var local = local[...]
    var items: [PlannedItem] = []
    while true {
        switch try planner.next() {
        case .item(let item): items.append(item)
        case .finished: return items
        case .needs(.remote):
            if remote.isEmpty { planner.finish(.remote) }
            let next = remote.prefix(batch)
            remote = remote.dropFirst(batch)
            if !next.isEmpty { try planner.feed(remote: [RemoteObject](next)) }
        case .needs(.base):
            if base.isEmpty { planner.finish(.base) }
            let next = base.prefix(batch)
            base = base.dropFirst(batch)
            if !next.isEmpty { try planner.feed(base: [ManifestEntry](next)) }
        case .needs(.local):
            if local.isEmpty { planner.finish(.local) }
            let next = local.prefix(batch)
            local = local.dropFirst(batch)
            if !next.isEmpty { try planner.feed(local: [LocalEntry](next)) }
        }
    }
}
