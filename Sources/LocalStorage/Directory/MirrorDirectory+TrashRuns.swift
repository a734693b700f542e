package import SyncModel

extension MirrorDirectory {
    /// The trash of one run.
    package struct TrashOfRun: Sendable, Hashable {
        package let name: [UInt8]

        package init(name: [UInt8]) {
            self.name = name
        }

        /// When the run began and its number, safe to print.
        package var display: String { displayText(name) }

        /// When the run began; nil for a directory that osssync did not make.
        package var time: Timestamp? { TrashRun.time(of: name) }

        /// The run's number; nil for what no run put there.
        package var number: Int64? { TrashRun.number(of: name) }

        /// True if it was a run of one shard, of which each has numbers of its own.
        package var isOfShard: Bool { TrashRun.isOfShard(name) }

        /// True for what a restoration replaced, here or in the bucket.
        package var isOfRestoration: Bool {
            time != nil && name.dropFirst(16).starts(with: Self.restorationSuffix.utf8)
        }

        /// True if it is older: of one second, what a restoration replaced was there last.
        package func precedes(_ other: TrashOfRun) -> Bool {
            if isOfRestoration != other.isOfRestoration, name.prefix(16) == other.name.prefix(16) {
                return other.isOfRestoration
            }
            return name.lexicographicallyPrecedes(other.name)
        }

        /// What names the trash of a restoration, after the time.
        private static let restorationSuffix = "-restore"

        /// The name for what a restoration replaces that began at `stamp`.
        package static func nameOfRestoration(stamp: String) -> String {
            stamp + restorationSuffix
        }

        /// The name for what a restoration replaces that begins now, where these trees are.
        ///
        /// Later than all of them, and none of them: what is moved there would be restored, too.
        package static func nameOfRestoration(
            _ now: Timestamp,
            after trees: [TrashOfRun]
        ) -> String {
            var moment = now
            for tree in trees {
                guard let time = tree.time else { continue }
                let seconds = tree.isOfRestoration ? time.seconds + 1 : time.seconds
                moment = max(moment, Timestamp(seconds: seconds))
            }
            return nameOfRestoration(stamp: CivilTime(moment).basicText)
        }

        /// The name for a run that began at `stamp`.
        package static func name(stamp: String, number: Int64, isOfShard: Bool) -> String {
            "\(stamp)-run-\(number)" + (isOfShard ? TrashRun.shardSuffix : "")
        }

        /// The host in a name that does not end in `mark`, safe to print.
        package func host(unless mark: String) -> String? {
            guard !name.suffix(mark.utf8.count).elementsEqual(mark.utf8) else { return nil }
            let parts = name.split(separator: UInt8(ascii: "~"))
            return parts.count > 1 ? displayText(parts[1]) : nil
        }

        /// True for all trees of the run of this name.
        package func isOfRun(_ run: String) -> Bool {
            TrashRun.isName(name, ofRun: run)
        }
    }

    /// Where removed files are kept, without making it: nil if none ever was.
    func trashIfPresent() throws(LocalError) -> OpenDirectory? {
        guard hasWork else { return nil }
        do throws(LocalError) {
            return try privateDirectory("trash", in: topWork, createsIfMissing: false)
        } catch {
            guard case .missingDirectory = error else { throw error }
            return nil
        }
    }

    /// The trash of all runs, the oldest first.
    package func trashOfRuns() throws(LocalError) -> [TrashOfRun] {
        guard let trash = try trashIfPresent() else { return [] }
        var runs: [TrashOfRun] = []
        try unsafe calls.names(in: trash.descriptor) { name, _ in
            unsafe runs.append(TrashOfRun(name: [UInt8](name)))
        }
        return runs.sorted { $0.precedes($1) }
    }

    /// Deletes what a run left in the trash.
    package func remove(_ run: TrashOfRun) throws(LocalError) {
        try TreeRemoval(root: try trash, calls: calls).remove(run.name)
    }

    /// The bytes of all files in the trash.
    package func trashSize() throws(LocalError) -> Int64 {
        var total: Int64 = 0
        for run in try trashOfRuns() {
            try forEachFile(in: run, at: nil) { _, file in
                total = total.addingClamped(file.size)
                return true
            }
        }
        return total
    }

    /// True if a run left a file of this path in the trash.
    package func holds(_ path: RelativePath, in run: TrashOfRun) throws(LocalError) -> Bool {
        guard let place = try trashIfPresent()?.ifPresent(run.name, path.parent) else {
            return false
        }
        return try place.status(of: PathBytes(path.name))?.isKept == true
    }

    /// When the inode of a file in the trash was made; nil where that is not known.
    package func birth(
        of path: RelativePath,
        in run: TrashOfRun
    ) throws(LocalError) -> Timestamp? {
        guard let place = try trashIfPresent()?.ifPresent(run.name, path.parent) else { return nil }
        return calls.birth(at: place.descriptor, PathBytes(path.name))
    }

    /// Hands each file that a run left in the trash to `body`, by the path that it had, until
    /// `body` returns false.
    ///
    /// The files of a directory come before its directories, both by name. Holds the names of the
    /// directories on the way. What is neither a regular file nor a link was not put there by
    /// osssync, and is passed over.
    ///
    /// With a `path`, only that file, or what is beneath that directory. The result is false if
    /// that of `body` was.
    @discardableResult
    package func forEachFile(
        in run: TrashOfRun,
        at path: RelativePath?,
        _ body: (ObjectKey, FileIdentity) throws(LocalError) -> Bool
    ) throws(LocalError) -> Bool {
        guard let trash = try trashIfPresent() else { return true }
        if let path {
            guard let parent = try trash.ifPresent(run.name, path.parent) else { return true }
            switch try parent.status(of: PathBytes(path.name)) {
            case let status? where status.isKept:
                return try body(ObjectKey(path.bytes), status.identity)
            case let status? where status.kind == .directory: break
            default: return true
            }
        }
        let slash = UInt8(ascii: "/")
        var waiting = [path.map { $0.bytes + [slash] } ?? []]
        while let prefix = waiting.popLast() {
            // What another program put there can have a path that no file of ours has.
            let place = prefix.isEmpty ? nil : try? RelativePath(ownState: ObjectKey(prefix))
            guard prefix.isEmpty || place != nil,
                let directory = try trash.ifPresent(run.name, place)
            else { continue }
            var names: [[UInt8]] = []
            try unsafe calls.names(in: directory.descriptor) { name, _ in
                unsafe names.append([UInt8](name))
            }
            names.sort { $0.lexicographicallyPrecedes($1) }
            var directories: [[UInt8]] = []
            for name in names {
                guard let status = try directory.status(of: PathBytes(name)) else { continue }
                switch status.kind {
                case .file, .special(.symbolicLink):
                    guard try body(ObjectKey(prefix + name), status.identity) else { return false }
                case .directory: directories.append(prefix + name + [slash])
                case .special: continue
                }
            }
            waiting += directories.reversed()
        }
        return true
    }
}

extension FileStatus {
    /// True for what can be in the trash.
    var isKept: Bool { kind == .file || kind == .special(.symbolicLink) }
}

extension OpenDirectory {
    /// The directory at `path` in the tree `name` of the trash; nil if there is none.
    func ifPresent(
        _ name: [UInt8],
        _ path: RelativePath?
    ) throws(LocalError) -> OpenDirectory? {
        do throws(LocalError) {
            guard try status(of: PathBytes(name))?.kind == .directory else { return nil }
            let tree = try subdirectory(PathBytes(name))
            guard let path else { return tree }
            return try tree.directory(beneath: path)
        } catch {
            switch error {
            case .absent, .parentIsFile, .symlinkInPath: return nil
            default: throw error
            }
        }
    }
}
