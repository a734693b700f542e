internal import CLibrary
internal import SyncModel

/// The files of the directory of escaped names, in the byte order of their keys.
///
/// Their names have another order than the keys, so that all keys are in memory from the first call
/// on, as the names of one directory are. Each file is looked at when it is asked for.
struct EscapedWalk: Sendable {
    private let root: OpenDirectory
    private let ranges: KeyRanges
    private let links: LinkPolicy
    /// Nil until the names are read.
    private var keys: [ObjectKey]?
    private var position = 0

    init(root: OpenDirectory, within ranges: KeyRanges, links: LinkPolicy) {
        self.root = root
        self.ranges = ranges
        self.links = links
    }

    /// Up to `limit` further entries; what cannot be read becomes issues.
    mutating func next(limit: Int) -> WalkBatch {
        var batch = WalkBatch(entries: [], issues: [], isFinished: false)
        let keys = self.keys ?? read(&batch)
        self.keys = keys
        let end = min(position + limit, keys.count)
        for key in keys[position..<end] { inspect(key, &batch) }
        position = end
        batch.isFinished = end == keys.count
        return batch
    }

    private func read(_ batch: inout WalkBatch) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var pending = [[UInt8](EscapedName.directoryName.utf8)]
        while let place = pending.popLast() {
            do throws(LocalError) {
                guard let path = RelativePath(escapedPlace: place) else { continue }
                let names = try DirectoryNames(of: root.directory(beneath: path))
                for element in names.elements {
                    let path = place + [UInt8(ascii: "/")] + names.bytes(of: element)
                    if element.isDirectory, path.last == UInt8(ascii: "%") {
                        pending.append(path)
                    } else if !element.isDirectory,
                        let key = RelativePath.escapedKey(ofPath: path, links: links)
                    {
                        if ranges.contains(key) { keys.append(key) }
                    } else if ranges.isAll {
                        batch.issues.append(WalkIssue(path: path, reason: .noEscapedName))
                    }
                }
            } catch {
                if case .absent = error { continue }
                let reason = WalkIssue.Reason.unreadableDirectory(errno: error.errno ?? ENOTDIR)
                batch.issues.append(WalkIssue(path: place, reason: reason))
            }
        }
        keys.sort()
        return keys
    }

    private func inspect(_ key: ObjectKey, _ batch: inout WalkBatch) {
        do throws(LocalError) {
            guard let path = try? RelativePath(key: key, links: links, names: .escape) else {
                return
            }
            let found = try root.parent(of: path).status(of: PathBytes(path.name))
            switch found?.kind {
            case .file:
                guard let found else { return }
                batch.entries.append(
                    LocalEntry(
                        path: key,
                        kind: .file(found.identity),
                        permissions: found.permissions & 0o777
                    )
                )
            // What hides a file is said of its key.
            case .special(.symbolicLink):
                batch.issues.append(WalkIssue(path: key.bytes, reason: .symbolicLink))
            case .special(let kind):
                batch.issues.append(WalkIssue(path: key.bytes, reason: .special(kind)))
            case .directory:
                batch.issues.append(WalkIssue(path: key.bytes, reason: .changedDuringWalk))
            case nil:
                batch.issues.append(WalkIssue(path: key.bytes, reason: .disappeared))
            }
        } catch {
            let reason = WalkIssue.Reason.unreadableEntry(errno: error.errno ?? EIO)
            batch.issues.append(WalkIssue(path: key.bytes, reason: reason))
        }
    }
}

/// The entries of both walks, in the byte order of their keys.
struct MergedWalk: Sendable {
    var ordinary: DirectoryWalk.State
    private var escaped: EscapedWalk?
    private var read = (ordinary: Unused(), escaped: Unused())

    private struct Unused: Sendable {
        var entries: ArraySlice<LocalEntry> = []
        var isFinished = false

        /// True if nothing can be said of what comes first.
        var isStarved: Bool { entries.isEmpty && !isFinished }

        mutating func take(_ more: WalkBatch, _ batch: inout WalkBatch) {
            entries = more.entries[...]
            isFinished = more.isFinished
            batch.issues += more.issues
        }
    }

    init(_ ordinary: DirectoryWalk.State, _ escaped: EscapedWalk?) {
        self.ordinary = ordinary
        self.escaped = escaped
    }

    mutating func next(limit: Int) throws(LocalError) -> WalkBatch {
        guard escaped != nil else { return try ordinary.next(limit: limit) }
        var batch = WalkBatch(entries: [], issues: [], isFinished: false)
        while batch.entries.count + batch.issues.count < limit {
            if read.ordinary.isStarved {
                read.ordinary.take(try ordinary.next(limit: limit), &batch)
                if ordinary.question != nil, read.ordinary.isStarved { return batch }
            }
            if read.escaped.isStarved, let more = escaped?.next(limit: limit) {
                read.escaped.take(more, &batch)
            }
            switch (read.ordinary.entries.first, read.escaped.entries.first) {
            case (let one?, let other?) where other.path < one.path: takeEscaped(&batch)
            case (nil, _?) where read.ordinary.isFinished: takeEscaped(&batch)
            case (let one?, _) where !read.escaped.isStarved:
                read.ordinary.entries.removeFirst()
                batch.entries.append(one)
            case (nil, nil) where read.ordinary.isFinished && read.escaped.isFinished:
                batch.isFinished = true
                return batch
            default: continue
            }
        }
        return batch
    }

    private mutating func takeEscaped(_ batch: inout WalkBatch) {
        if let entry = read.escaped.entries.popFirst() { batch.entries.append(entry) }
    }
}
