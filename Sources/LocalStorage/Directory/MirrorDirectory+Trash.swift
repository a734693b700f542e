package import SyncModel
internal import Synchronization

/// The directories of the trash.
enum TrashRun {
    /// `run` comes from our own run numbers; what could be a path becomes "_".
    static func directoryName(run: String, attempt: Int) -> PathBytes {
        PathBytes(firstName(run: run) + (attempt > 0 ? [UInt8]("~\(attempt)".utf8) : []))
    }

    /// True if `name` is one of those that ``directoryName(run:attempt:)`` makes for this run.
    static func isName(_ name: [UInt8], ofRun run: String) -> Bool {
        let first = firstName(run: run)
        return name == first || name.starts(with: first + "~".utf8)
    }

    private static func firstName(run: String) -> [UInt8] {
        var bytes = run.utf8.prefix(128).map { byte in
            byte == 0 || byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
        }
        if bytes.isEmpty || bytes.first == UInt8(ascii: ".") { bytes.insert(95, at: 0) }
        return bytes
    }

    /// The time that the name of a run's trash begins with; nil if it begins with something else.
    static func time(of name: [UInt8]) -> Timestamp? {
        Timestamp(basicText: String(decoding: name.prefix(16), as: UTF8.self))
    }

    /// What the name of a shard's run ends with.
    static let shardSuffix = "-shard"

    /// The number in `20260102T030405Z-run-12`, in `…-run-12-shard`, and in further trees of a
    /// run, such as `…-run-12~1`.
    static func number(of name: [UInt8]) -> Int64? { parsed(name)?.number }

    /// True for what a run of a shard put there.
    static func isOfShard(_ name: [UInt8]) -> Bool { parsed(name)?.isOfShard == true }

    private static func parsed(_ name: [UInt8]) -> (number: Int64, isOfShard: Bool)? {
        guard time(of: name) != nil, name.dropFirst(16).starts(with: "-run-".utf8) else {
            return nil
        }
        var digits = name.dropFirst(21).prefix { $0 != UInt8(ascii: "~") }
        let suffix = shardSuffix.utf8
        let isOfShard = digits.suffix(suffix.count).elementsEqual(suffix)
        if isOfShard { digits = digits.dropLast(suffix.count) }
        return Int64(String(decoding: digits, as: UTF8.self)).map { ($0, isOfShard) }
    }
}

extension MirrorDirectory {
    /// Keeps what is removed and replaced in `path` from now on, and not in the trash.
    ///
    /// - Throws: `unsafeDirectory` for a place in the mirror, or where renames do not reach.
    package func keepOldVersions(in path: String) throws(LocalError) {
        let place = try Self.openRoot(path, createsIfMissing: true, calls: calls)
        func refusal(_ reason: String) -> LocalError {
            .unsafeDirectory(path: displayText(path.utf8), reason: reason)
        }
        guard try !place.isWithin(root) else {
            throw refusal("old versions there would be mirrored; choose a place outside of DIR")
        }
        guard try place.status().isSameMount(as: root.status()) else {
            throw refusal("it is on another file system than DIR; choose a place beside DIR")
        }
        backups.withLock { $0 = place }
    }

    /// Where old versions go.
    var oldVersions: OpenDirectory {
        get throws(LocalError) {
            if let place = backups.withLock({ $0 }) { return place }
            return try trash
        }
    }

    /// Deletes a file by moving it to the trash of `run`, if it is still what the plan saw.
    ///
    /// - Throws: `targetChanged` if it is not; it stays then.
    package func moveToTrash(
        _ path: RelativePath,
        expected: FileIdentity,
        run: String
    ) throws(LocalError) {
        do throws(LocalError) {
            let (parent, status) = try unchanged(path, expected)
            let keeper = OldVersionKeeper(directory: self, path: path, parent: parent)
            try keeper.moveToTrash(status, run: run)
        } catch {
            throw explained(error, neededBytes: nil)
        }
    }

    /// Deletes a file for good, if it is still what the plan saw.
    ///
    /// - Throws: `targetChanged` if it is not; it stays then.
    package func remove(
        _ path: RelativePath,
        expected: FileIdentity
    ) throws(LocalError) {
        let (parent, status) = try unchanged(path, expected)
        try OldVersionKeeper(directory: self, path: path, parent: parent).remove(status)
    }

    /// The directory of a file and what the file is, if that is what the plan saw.
    func unchanged(
        _ path: RelativePath,
        _ expected: FileIdentity
    ) throws(LocalError) -> (OpenDirectory, FileStatus) {
        let parent: OpenDirectory
        do throws(LocalError) {
            parent = try self.parent(of: path)
        } catch {
            switch error {
            case .absent, .parentIsFile: throw .targetChanged(path)
            default: throw error
            }
        }
        let status = try parent.status(of: PathBytes(path.name))
        guard let status, status.kind == .of(path), isAsSeen(status.identity, expected)
        else {
            throw .targetChanged(path)
        }
        return (parent, status)
    }

    /// Deletes the trash of runs before `limit`, by the time in the name of their directories.
    ///
    /// A name without a time was given by another program: the directory's modification time
    /// counts.
    ///
    /// Calls `onFailure` for each run whose trash could not be removed completely, and continues.
    /// Returns the number of runs whose trash was removed.
    @discardableResult
    package func sweepTrash(
        olderThan limit: Timestamp,
        onFailure: (LocalError) -> Void
    ) throws(LocalError) -> Int {
        guard hasWork else { return 0 }
        let trash = try trash
        var names: [[UInt8]] = []
        try unsafe calls.names(in: trash.descriptor) { name, _ in unsafe names.append([UInt8](name))
        }
        var count = 0
        for name in names {
            do throws(LocalError) {
                guard let status = try trash.status(of: PathBytes(name)),
                    status.kind == .directory,
                    TrashRun.time(of: name) ?? status.identity.modified < limit
                else { continue }
                try TreeRemoval(root: trash, calls: calls).remove(name)
                count += 1
            } catch {
                onFailure(error)
            }
        }
        return count
    }
}
