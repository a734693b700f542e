internal import SyncModel
internal import SyncPlanner
internal import SyncTestSupport

/// One tree, perturbed twice: what is recorded, what the directory and what the bucket became.
///
/// Kinds of objects, archives and hostile names are other tests' business: here everything is a
/// file, so that a small table tells what must come out.
struct PlannerCase {
    /// A file or an object: its content's number, and when it was last put there.
    struct Copy: Hashable {
        var content: Int
        var stamp: Int
        /// As an object of several parts, whose tag says nothing of its content.
        var isOpaque = false
    }

    private(set) var base: [ObjectKey: Copy] = [:]
    private(set) var local: [ObjectKey: Copy] = [:]
    private(set) var remote: [ObjectKey: Copy] = [:]
    let policy: DecisionPolicy
    private var next = 1

    init(_ random: inout SeededGenerator) {
        let deletesExtra = random.oneIn(4)
        policy = DecisionPolicy(
            direction: random.pick(SyncDirection.allCases),
            deletesKnown: random.oneIn(2),
            deletesExtra: deletesExtra,
            replacesLocalChanges: random.oneIn(4),
            comparesContent: random.oneIn(4),
            conflict: random.pick(ConflictPolicy.allCases),
            judgesInodes: random.oneIn(2),
            maximumKeyLength: 1_000
        )
        for _ in 0..<random.below(10) {
            let key = Self.key(&random)
            base[key] = fresh()
        }
        (local, remote) = (base, base)
        local = perturbed(base, &random)
        remote = perturbed(base, &random)
        // Both sides were given the same by somebody.
        if random.oneIn(3), let key = remote.keys.sorted().first, let copy = remote[key] {
            local[key] = renewed(copy)
        }
    }

    // MARK: - The trees

    private static let segments = ["a", "b", "a-x", "a.b", "e\u{301}", "\u{E9}", "z"]

    private static func key(_ random: inout SeededGenerator) -> ObjectKey {
        let depth = random.pick([1, 1, 2, 2, 3])
        return ObjectKey((0..<depth).map { _ in random.pick(segments) }.joined(separator: "/"))
    }

    private mutating func fresh() -> Copy {
        next += 1
        return Copy(content: next, stamp: next)
    }

    private mutating func renewed(_ copy: Copy) -> Copy {
        next += 1
        return Copy(content: copy.content, stamp: next, isOpaque: true)
    }

    private mutating func perturbed(
        _ tree: [ObjectKey: Copy],
        _ random: inout SeededGenerator
    ) -> [ObjectKey: Copy] {
        var result = tree
        for (key, copy) in tree.sorted(by: { $0.key < $1.key }) {
            switch random.below(8) {
            case 0: result[key] = nil
            case 1, 2: result[key] = fresh()
            case 3: result[key] = renewed(copy)
            default: break
            }
        }
        for _ in 0..<random.below(3) { result[Self.key(&random)] = fresh() }
        return result
    }

    /// Sizes repeat, so that they do not tell the contents.
    private static func size(_ content: Int) -> Int64 { Int64(1 + content % 3) }

    private static func checksum(_ content: Int) -> CRC64 {
        CRC64(value: UInt64(content) &* 0x9E37_79B9_7F4A_7C15)
    }

    private static func tag(_ copy: Copy) -> ETag {
        let digits = String(copy.isOpaque ? copy.stamp : copy.content, radix: 16)
        let text = String(repeating: "0", count: 32 - digits.utf8.count) + digits
        return ETag(wire: copy.isOpaque ? text + "-2" : text)
    }

    private static func time(_ copy: Copy) -> Timestamp { Timestamp(seconds: Int64(copy.stamp)) }

    // MARK: - The streams

    var rows: [ManifestEntry] {
        base.sorted { $0.key < $1.key }.map { key, copy in
            ManifestEntry(
                key: key,
                size: Self.size(copy.content),
                etag: Self.tag(copy),
                crc64: Self.checksum(copy.content),
                lastModified: nil,
                storageClass: .standard,
                localModified: Self.time(copy),
                inode: UInt64(copy.stamp)
            )
        }
    }

    var objects: [RemoteObject] {
        remote.sorted { $0.key < $1.key }.map { key, copy in
            RemoteObject(key: key, size: Self.size(copy.content), etag: Self.tag(copy))
        }
    }

    /// The files, and of the directories those that hold them; a file in a directory's place makes
    /// way, as on a disk there is one of both.
    var entries: [LocalEntry] {
        var entries = localFiles.map { key, copy in
            LocalEntry(
                path: key,
                kind: .file(
                    FileIdentity(
                        size: Self.size(copy.content),
                        modified: Self.time(copy),
                        changed: Self.time(copy),
                        inode: UInt64(copy.stamp),
                        device: 1
                    )
                )
            )
        }
        for directory in Set(localFiles.keys.flatMap(Self.directories)) {
            entries.append(LocalEntry(path: directory, kind: .directory(isEmpty: false)))
        }
        return entries.sorted { $0.path < $1.path }
    }

    var localFiles: [ObjectKey: Copy] {
        let directories = Set(local.keys.flatMap(Self.directories))
        return local.filter { key, _ in
            !directories.contains(ObjectKey(key.bytes + [UInt8(ascii: "/")]))
        }
    }

    /// `a/` and `a/b/` of `a/b/c`.
    static func directories(above key: ObjectKey) -> [ObjectKey] {
        key.bytes.indices.dropLast().compactMap { index in
            key.bytes[index] == UInt8(ascii: "/") ? ObjectKey([UInt8](key.bytes[...index])) : nil
        }
    }

    /// True if no other key says anything about this one's place.
    func isFree(_ key: ObjectKey) -> Bool {
        let keys = Set(base.keys).union(local.keys).union(remote.keys)
        let beneath = ObjectKey(key.bytes + [UInt8(ascii: "/")])
        let above = Self.directories(above: key).map { ObjectKey([UInt8]($0.bytes.dropLast())) }
        return !keys.contains { $0.hasPrefix(beneath) } && !above.contains(where: keys.contains)
    }

    /// What a push names at a key: a file that only one side has, in the place of a directory that
    /// only the other one has, of which neither was recorded.
    func clash(at key: ObjectKey) -> SkipReason? {
        guard policy.direction == .push, !policy.deletesExtra, base[key] == nil else { return nil }
        let beneath = ObjectKey(key.bytes + [UInt8(ascii: "/")])
        switch (localFiles[key], remote[key]) {
        case (.some, nil):
            let isTheirs = remote.keys.contains {
                $0.hasPrefix(beneath) && base[$0] == nil && local[$0] == nil
            }
            return isTheirs && policy.conflict != .local ? .blocksDirectory(isNew: true) : nil
        case (nil, .some):
            let isHere = local.keys.contains { $0.hasPrefix(beneath) }
            return isHere ? .besideDirectory : nil
        default: return nil
        }
    }

    // MARK: - The truth

    func isSame(_ comparison: Comparison, _ key: ObjectKey) -> Bool {
        switch comparison {
        case .fileWithRow: local[key]?.content == base[key]?.content
        case .fileWithObject: local[key]?.content == remote[key]?.content
        case .objectWithRow: remote[key]?.content == base[key]?.content
        }
    }

    func expected(_ key: ObjectKey) -> PlannerReference.Effect {
        let reference = PlannerReference(
            direction: policy.direction,
            deletes: policy.deletes,
            deletesExtra: policy.deletesExtra,
            forces: policy.replacesLocalChanges
        )
        let (file, object) = (localFiles[key]?.content, remote[key]?.content)
        guard let recorded = base[key]?.content else {
            return reference.unrecorded(local: file, remote: object)
        }
        return reference.recorded(
            local: file.map { $0 == recorded ? .same : .changed } ?? .absent,
            remote: remote[key].map { $0 == base[key] ? .same : .changed } ?? .absent,
            agree: file == object
        )
    }
}
