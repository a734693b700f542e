internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// What the journal of a run says that `undo` can put back or has to name.
///
/// Not there: permissions that the run changed, and what the journal had no room for.
struct UndoneRun: Sendable {
    /// More items than are kept.
    private static let limit = 10_000

    let number: Int64
    /// What stands for its tree of the trash where it left none.
    let tree: TrashOfRun
    /// What it deleted or replaced and kept nowhere.
    private(set) var lost: [(key: ObjectKey, isRemote: Bool)] = []
    /// Objects that the run deleted because their contents have other names.
    private(set) var moved: [(old: ObjectKey, new: ObjectKey)] = []
    /// Files that it moved to the trash, or elsewhere.
    private(set) var kept: [ObjectKey] = []
    /// Objects of which it made copies.
    private(set) var copied: [ObjectKey] = []
    private(set) var renames: [(old: ObjectKey, new: ObjectKey)] = []
    /// Directories here.
    private(set) var removed: [ObjectKey] = []
    private(set) var made: [ObjectKey] = []
    /// True if something could not be done.
    private var hasFailures = false

    /// True if undo would restore or name nothing; new empty directories do not count.
    var isEmpty: Bool {
        lost.isEmpty && moved.isEmpty && kept.isEmpty && copied.isEmpty && renames.isEmpty
            && removed.isEmpty
    }

    /// Names the objects of which the bucket's trash has no copies any more.
    var goneCopies: [RestoredFile] {
        copied.map { RestoredFile($0, isRemote: true, RestoredFile.goneText, of: number) }
    }

    /// True if something here that was in no trash may be put back.
    var changes: Bool { !renames.isEmpty || !removed.isEmpty || !made.isEmpty }

    /// Where something comes back that is in no trash.
    var places: [RelativePath] {
        (renames.map(\.old) + removed).compactMap { try? RelativePath(path: $0) }
    }

    private init(_ run: StoredRun, in manifest: ManifestStore) async throws(ManifestError) {
        number = run.id.value
        let stamp = CivilTime(run.started).basicText
        let name = TrashOfRun.name(stamp: stamp, number: number, isOfShard: false)
        tree = TrashOfRun(name: [UInt8](name.utf8))
        for row in try await manifest.rows(.items(run: run.id), limit: Self.limit) { add(row.item) }
    }

    /// The run of this number; nil if the manifest has none, or another: a rebuilt one counts anew.
    ///
    /// `began` is when it began, if that is known.
    static func find(
        _ number: Int64,
        began: Timestamp?,
        in manifest: ManifestStore
    ) async throws(ManifestError) -> UndoneRun? {
        let runs = try await manifest.rows(.runs, limit: RunTraces.runLimit)
        guard let run = runs.first(where: { $0.id.value == number }),
            began.map({ RunTraces.isOf(run, $0) }) ?? true
        else { return nil }
        return try await UndoneRun(run, in: manifest)
    }

    /// The last run that took something away or replaced it, here or in the bucket: `trashed`,
    /// which is the last one that left something in a trash, unless another came after it.
    static func last(
        _ trashed: (time: StoreTime, number: Int64)?,
        in manifest: ManifestStore
    ) async throws(ManifestError) -> (time: StoreTime, number: Int64)? {
        var trashed = trashed
        for run in try await manifest.rows(.runs, limit: RunTraces.runLimit) {
            if let found = trashed, RunTraces.isOf(run, found.time.timestamp),
                found.number == run.id.value
            {
                let undone = try await UndoneRun(run, in: manifest)
                guard undone.isEmpty, undone.hasFailures else { return found }
                // What it left in a trash is of deletions that failed.
                trashed = nil
                continue
            }
            if let trashed, run.started < trashed.time.timestamp { return trashed }
            if try await !UndoneRun(run, in: manifest).isEmpty {
                return (StoreTime(run.started), run.id.value)
            }
        }
        return trashed
    }

    private mutating func add(_ item: RunItem) {
        guard item.state == ItemState.done.rawValue else {
            if item.state == ItemState.failed.rawValue { hasFailures = true }
            return
        }
        let lost = LostVersion(item)
        switch ItemAction(rawValue: item.action) {
        case .deleteLocal where RelativePath.isDirectory(item.key): removed.append(item.key)
        case .download where RelativePath.isDirectory(item.key): made.append(item.key)
        case .deleteLocal: lost == nil ? kept.append(item.key) : self.lost.append((item.key, false))
        case .deleteRemote:
            if let new = OtherName(item)?.key { return moved.append((item.key, new)) }
            lost == nil ? copied.append(item.key) : self.lost.append((item.key, true))
        case .download, .copyLocal:
            if let old = OtherName(item)?.key { renames.append((old, item.key)) }
            guard let lost, lost != .damagedKept else { return }
            lost.hasCopy ? kept.append(item.key) : self.lost.append((item.key, false))
        case .upload, .copyRemote:
            guard let lost else { return }
            lost.hasCopy ? copied.append(item.key) : self.lost.append((item.key, true))
        default: break
        }
    }
}

extension UndoneRun {
    /// Puts back what is in no trash, and names what cannot be; after the trash was restored.
    struct Restorer {
        let run: UndoneRun
        let directory: MirrorDirectory
        /// Files that are as the run left them.
        let left: [ObjectKey: FileIdentity]
        /// What came from the trash, or stayed there and was named.
        let settled: Set<String>
        /// What the run left in the trash.
        let trees: [TrashOfRun]
        /// True if the bucket has no trash.
        let namesObjects: Bool
        let isDryRun: Bool
        let onFile: @Sendable (RestoredFile) -> Void

        private(set) var report = RestoreReport()

        init(
            _ run: UndoneRun,
            in directory: MirrorDirectory,
            left: [ObjectKey: FileIdentity],
            settled: Set<String>,
            trees: [TrashOfRun],
            namesObjects: Bool,
            isDryRun: Bool,
            onFile: @escaping @Sendable (RestoredFile) -> Void
        ) {
            (self.run, self.directory, self.left) = (run, directory, left)
            (self.settled, self.trees) = (settled, trees)
            (self.namesObjects, self.isDryRun) = (namesObjects, isDryRun)
            self.onFile = onFile
        }

        /// Directories come before those in them, and go after those.
        mutating func restore() throws(LocalError) {
            for key in run.removed.sorted() {
                tell(try result(key) { path throws(LocalError) in try make(path) })
            }
            for (old, new) in run.renames {
                if let link = try renamedLink(new, from: old) {
                    tell(link)
                    continue
                }
                tell(try result(new) { path throws(LocalError) in try rename(path, to: old) })
            }
            for key in run.made.sorted().reversed() {
                tell(try result(key) { path throws(LocalError) in try remove(path) })
            }
            for key in run.kept {
                let places = Self.places(of: key)
                guard !places.contains(where: { settled.contains($0.text) }) else { continue }
                if try areThere(places), left[key] == nil {
                    // It came back before, and may have any content by now.
                    report.unchanged += 1
                } else {
                    tell(RestoredFile(key, isRemote: false, RestoredFile.goneText, of: run.number))
                }
            }
            for file in namesObjects ? run.goneCopies : [] { tell(file) }
            for (old, new) in run.moved {
                let text =
                    "the run gave its object the name '\(new.display)', as the file had; rename "
                    + "the file, and the next push or sync does the same in the bucket"
                tell(RestoredFile(old, isRemote: true, text, of: run.number))
            }
            for (key, isRemote) in run.lost {
                let text = RestoredFile.lostText(isRemote: isRemote)
                tell(RestoredFile(key, isRemote: isRemote, text, of: run.number))
            }
        }

        /// Where the file of a key may be: of a link or an escaped name it has another path.
        private static func places(of key: ObjectKey) -> [RelativePath] {
            let paths = [
                try? RelativePath(path: key),
                try? RelativePath(key: key, links: .store, names: .escape),
            ]
            return paths.compactMap(\.self)
        }

        private func areThere(_ places: [RelativePath]) throws(LocalError) -> Bool {
            for path in places where try isThere(path) { return true }
            return false
        }

        private func isThere(_ path: RelativePath) throws(LocalError) -> Bool {
            try directory.identity(of: path) != .absent
        }

        private mutating func tell(_ item: RestoredFile?) {
            guard let item else { return }
            report.add(item)
            onFile(item)
        }

        /// What `change` returns, or its failure.
        private func result(
            _ key: ObjectKey,
            _ change: (RelativePath) throws(LocalError) -> RestoredFile?
        ) throws(LocalError) -> RestoredFile? {
            let places = Self.places(of: key)
            guard let path = places.first, places.allSatisfy({ $0 == path }) else { return nil }
            do throws(LocalError) {
                return try change(path)
            } catch {
                if error.endsRun { throw error }
                var item = RestoredFile(key, .failed, of: run.number)
                item.message = TransferError(error).message
                return item
            }
        }

        /// What is said of a stored link, or an escaped name, that the run renamed; nil for others.
        private func renamedLink(
            _ new: ObjectKey,
            from old: ObjectKey
        ) throws(LocalError) -> RestoredFile? {
            let (places, oldPlaces) = (Self.places(of: new), Self.places(of: old))
            guard let path = places.first, !places.allSatisfy({ $0 == path }) else { return nil }
            var item = RestoredFile(new, .kept, of: run.number)
            (item.target, item.displayTarget) = (old.text, old.display)
            if try areThere(oldPlaces), try !areThere(places) {
                item.state = .unchanged
            } else {
                item.message =
                    "the run renamed '\(old.display)' to '\(new.display)', which can be a stored "
                    + "link; rename it yourself"
            }
            return item
        }

        private func rename(
            _ path: RelativePath,
            to old: ObjectKey
        ) throws(LocalError) -> RestoredFile? {
            guard let oldPath = try? RelativePath(path: old) else { return nil }
            var item = RestoredFile(path.key, .restored, of: run.number)
            (item.target, item.displayTarget) = (old.text, old.display)
            let (isFree, isHere) = (try !isThere(oldPath), try isThere(path))
            if isFree, let file = left[path.key] {
                item.size = file.size
                guard !isDryRun else { return item }
                let time = file.modified
                if let parent = oldPath.parent {
                    try directory.makeDirectory(parent, standingFor: parent, in: trees)
                }
                // Renaming its other names has moved the time of its last change.
                guard case .file(let found) = try directory.identity(of: path),
                    found.isVersion(file)
                else { throw .targetChanged(path) }
                _ = try directory.rename(path, expected: found, to: oldPath, modified: time)
            } else if !isFree, !isHere {
                item.state = .unchanged
            } else {
                item.state = .kept
                item.message =
                    "the run gave '\(old.display)' the name '\(path.display)', and one of both "
                    + "has changed since; rename it yourself"
            }
            return item
        }

        private func make(_ path: RelativePath) throws(LocalError) -> RestoredFile? {
            let state = try directory.identity(of: path)
            guard state != .directory else { return nil }
            var item = RestoredFile(path.key, .restored, of: run.number)
            if state != .absent {
                (item.state, item.message) = (.kept, "a file has its name now")
            } else if !isDryRun {
                try directory.makeDirectory(path, standingFor: path, in: trees)
                for tree in trees { try directory.trash.removeEmpty(path, in: tree) }
            }
            return item
        }

        /// A directory that the run made, and that is empty.
        private func remove(_ path: RelativePath) throws(LocalError) -> RestoredFile? {
            guard try directory.holdsSomething(path) == false else { return nil }
            if !isDryRun {
                guard try directory.removeDirectoryIfEmpty(path) else { return nil }
            }
            return RestoredFile(path.key, .removed, of: run.number)
        }
    }
}

extension RestoredFile {
    fileprivate init(_ key: ObjectKey, _ state: State, of run: Int64) {
        self.init(
            key: key.text,
            displayKey: key.display,
            target: key.text,
            displayTarget: key.display,
            size: 0,
            run: run,
            state: state
        )
    }

    /// What does not come back.
    fileprivate init(_ key: ObjectKey, isRemote: Bool, _ reason: String, of run: Int64) {
        self.init(key, .kept, of: run)
        (self.isRemote, message) = (isRemote, reason)
    }

    /// Why something is not put back of which there was a copy.
    fileprivate static let goneText =
        "the run kept a copy that is in no trash of DIR: the trash was emptied since, or the copy "
        + "is in the --backup-dir of that run"

    /// Why something is not put back that the run deleted or replaced.
    fileprivate static func lostText(isRemote: Bool) -> String {
        "the run deleted it or replaced an older version, and kept no copy; '"
            + (isRemote ? "--trash remote" : "--backup-dir PATH") + "' keeps those of later runs"
    }
}
