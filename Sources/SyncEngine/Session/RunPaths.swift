internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// The files and directories beneath DIR that a command is limited to.
///
/// Each stands for two ranges of keys: its own, as a file, and those beneath it, as a directory.
/// Everything that lists, walks or reads the manifest reads these ranges and nothing else.
struct RunPaths: Sendable {
    /// Without those beneath others; in key order; empty for the whole mirror.
    let paths: [RelativePath]
    let ranges: KeyRanges

    var isLimited: Bool { !paths.isEmpty }

    /// Requests at once that ask whether a path is in the bucket.
    private static let lookupsAtOnce = 16

    /// The paths as a user types them.
    var texts: [String] { paths.map(\.text) }

    /// The whole mirror if there are no `texts`, which are as a user typed them, or with ".".
    ///
    /// - Throws: `configuration` for a path that is not beneath the directory, or has a name of
    ///   osssync's own.
    ///
    /// With stored links, a path also stands for that of a link.
    init(_ texts: [String], links: LinkPolicy) throws(TransferError) {
        var all: [[UInt8]: RelativePath] = [:]
        for text in texts where !RestoreRequest.isAll(text) {
            let path = try LocalMirror.path(text)
            all[path.bytes] = path
        }
        if texts.contains(where: RestoreRequest.isAll) { all = [:] }
        self.init(all, links: links)
    }

    /// Paths that an earlier run had.
    init(_ recorded: [[UInt8]], links: LinkPolicy) {
        var all: [[UInt8]: RelativePath] = [:]
        for bytes in recorded { all[bytes] = try? RelativePath(path: ObjectKey(bytes)) }
        self.init(all, links: links)
    }

    private init(_ all: [[UInt8]: RelativePath], links: LinkPolicy) {
        paths = all.values.filter { path in
            !path.parents.contains { all[$0.bytes] != nil }
        }.sorted()
        let places = paths.flatMap { path in
            let own = [KeyRange(path.key), KeyRange(prefix: path.beneath)]
            return links == .store ? own + [KeyRange(path.key.ofLink)] : own
        }
        ranges = paths.isEmpty ? .all : KeyRanges(places)
    }

    /// All of a shard.
    init(_ shard: Shard) {
        (paths, ranges) = ([], KeyRanges([shard.range]))
    }

    func contains(_ key: ObjectKey) -> Bool { ranges.contains(key) }

    /// The paths of both that lie at or beneath one of the other.
    func common(with others: [[UInt8]]) -> [[UInt8]] {
        let (own, theirs) = (Set(paths.map(\.bytes)), Set(others))
        return own.filter { Self.holds(theirs, $0) }
            + theirs.subtracting(own).filter { Self.holds(own, $0) }
    }

    private static func holds(_ paths: Set<[UInt8]>, _ path: [UInt8]) -> Bool {
        paths.contains(path)
            || path.indices.contains {
                path[$0] == UInt8(ascii: "/") && paths.contains([UInt8](path[..<$0]))
            }
    }
}

extension RunPaths {
    /// Checks that the paths lead somewhere: before a run that would find nothing at a misspelt one
    /// and call that done.
    ///
    /// `bucket` is nil for a command that only deals with what is here or recorded.
    ///
    /// - Throws: `configuration` for a path that neither side has and the manifest does not record,
    ///   unless that is allowed, or that lies beneath something that is not a directory here.
    func check(
        _ directory: MirrorDirectory,
        _ manifest: ManifestStore,
        in bucket: (store: any ObjectReader, prefix: ObjectKey)?,
        allowsMissing: Bool = false,
        expecting freed: FreedPaths = FreedPaths(),
        _ disk: BlockingQueue
    ) async throws {
        var unknown: [RelativePath] = []
        for path in paths {
            let (isThere, obstacle) = try await disk.run { () throws(LocalError) in
                let obstacle = try Self.obstacle(of: path, in: directory)
                guard obstacle == nil else { return (false, obstacle) }
                return (try directory.identity(of: path) != .absent, nil)
            }
            if let obstacle { throw TransferError(code: .configuration, message: obstacle) }
            if isThere || allowsMissing || freed.contains(path.key) { continue }
            if try await Self.isRecorded(path, in: manifest) { continue }
            guard bucket != nil else { throw Self.missing(path, from: "manifest; check") }
            unknown.append(path)
        }
        guard let bucket else { return }
        var remaining = unknown[...]
        try await forEachBounded(
            limit: Self.lookupsAtOnce,
            next: { remaining.popFirst() },
            body: { path in
                guard try await Self.isObject(path, in: bucket.store, bucket.prefix) else {
                    throw Self.missing(path, from: "bucket; nothing was changed. Check")
                }
            }
        )
    }

    private static func missing(_ path: RelativePath, from rest: String) -> TransferError {
        TransferError(
            code: .configuration,
            message: "'\(path.display)' exists neither in the directory nor in the \(rest) "
                + "its spelling: it is a path beneath DIR. If it was removed, "
                + "'osssync restore DIR \(path.display)' looks in the trash and the versions"
        )
    }

    /// Why the path cannot be reached, if something else is in the place of one of its parents.
    ///
    /// A run of the whole mirror decides on that first; one of the path only does not see it.
    private static func obstacle(
        of path: RelativePath,
        in directory: MirrorDirectory
    ) throws(LocalError) -> String? {
        for parent in path.parents.reversed() {
            let what: String
            switch try directory.identity(of: parent) {
            case .directory: continue
            case .absent: return nil
            case .file: what = "a file"
            case .other(.symbolicLink): what = "a symbolic link"
            case .other: what = "a special file"
            }
            let name = displayText(parent.bytes)
            return "'\(path.display)' cannot be reached: '\(name)' is \(what) here, not a "
                + "directory; nothing was transferred. Move it away, or specify '\(name)' itself"
        }
        return nil
    }

    private static func isRecorded(
        _ path: RelativePath,
        in manifest: ManifestStore
    ) async throws(ManifestError) -> Bool {
        for key in [path.key, path.key.ofLink] where try await manifest.entry(key) != nil {
            return true
        }
        let beneath = KeyRange(prefix: path.beneath)
        return try await manifest.first(.entries(in: beneath)) != nil
    }

    private static func isObject(
        _ path: RelativePath,
        in store: any ObjectReader,
        _ prefix: ObjectKey
    ) async throws(StorageError) -> Bool {
        let key = ObjectKey(prefix.bytes + path.key.bytes)
        let beneath = ObjectKey(prefix.bytes + path.beneath.bytes)
        let link = ObjectKey(prefix.bytes + path.key.ofLink.bytes)
        for listed in [key, beneath, link] {
            let page = try await store.list(
                ListRequest(prefix: listed, startAfter: nil, delimiter: nil, maximumKeys: 1)
            )
            // Others begin with the same name.
            guard let first = page.objects.first?.key else { continue }
            if first == listed || listed == beneath { return true }
        }
        return false
    }
}

extension RelativePath {
    /// Where the keys of what the directory at the path holds begin.
    var beneath: ObjectKey { ObjectKey(bytes + [UInt8(ascii: "/")]) }

    /// The directories that lead to it, the innermost first.
    var parents: [RelativePath] {
        var parents: [RelativePath] = []
        while let parent = (parents.last ?? self).parent { parents.append(parent) }
        return parents
    }
}
