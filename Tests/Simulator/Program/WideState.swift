internal import CSystem
internal import CVirtualFiles
internal import Glibc
internal import SyncModel

/// What users' own rules hide in one run.
struct Rules {
    /// Of files and directories, wherever they are.
    var names: Set<String> = []
    var maximumSize: Int64?
    /// Directories that have a tag, where tags count.
    var tagged: Set<ObjectKey> = []

    func hides(_ path: ObjectKey, size: Int64) -> Bool {
        if let maximumSize, size > maximumSize { return true }
        let slash = UInt8(ascii: "/")
        for tag in tagged where path.hasPrefix(ObjectKey(tag.bytes + [slash])) { return true }
        return path.bytes.split(separator: slash).contains { segment in
            names.contains { segment.elementsEqual($0.utf8) }
        }
    }
}

/// What a world of `WideKind` knows beside all else.
struct WideState {
    /// The user, who is no superuser there, the groups and some others.
    static let user = UInt32(geteuid())
    static let group = UInt32(getegid())
    static let otherGroup: UInt32 = 2_000
    static let others: [(user: UInt32, group: UInt32)] = [
        (1_001, 2_000), (1_002, group), (1_003, 3_000),
    ]
    static let tagName = ".nobackup"

    /// A file in which bits flipped.
    struct Damage {
        let path: ObjectKey
        let good: ContentID
        let bad: ContentID
        /// When it had last changed, if that was long before it was recorded; else it is an edit.
        let changed: Int64?
        /// A run or a verification named it.
        var isTold = false
    }

    /// What readers of a file's content have of it.
    struct Readers {
        let inode: UInt64
        let owner: UInt32
        let bits: [UInt32]
    }

    var damages: [Damage] = []
    /// Contents that are damaged ones of others.
    var spoiled: Set<ContentID> = []
    /// Paths that had a damaged content at any time, and their objects.
    var doubtful: Set<ObjectKey> = []
    /// Edits that left the time of modification.
    var keptTimes: Set<Model.Held> = []
    /// Of the last run that looked at everything.
    var lastRules: Rules?
    /// Of runs since then that did not, and may have seen some of it on both sides.
    var rulesSince: [Rules] = []
    /// Of the ignore files of all runs: users accepted them once, and a pull counts what they hide
    /// as left out.
    var acceptedRules = Rules()
    var readers: [ObjectKey: Readers] = [:]
    /// Inodes whose rights are known.
    var knownInodes: Set<UInt64> = []
    var port = ""
    /// What `free` removed here and nobody brought back.
    var freed: [ObjectKey: ContentID] = [:]
    /// Those at any time, and the directories that were freed as a whole.
    var onceFreed: Set<ObjectKey> = []
    /// The list of them was removed.
    var lostFreedList = false
    /// Where links lead that stand for what was moved.
    var movedCount = 0
}

extension World {
    static let elsewhere = VirtualDisk.outside + "/moved"

    func beginWide() {
        service.quirks = StoreQuirks(setup)
        guard setup.wide != nil else { return }
        disk.unseen { DiskEdits.setMode([UInt8](VIRTUAL_FILES_ROOT.utf8), 0o777) }
    }

    func beginWide(_ run: RunState) {
        guard setup.wide != nil else { return }
        run.rules.names = run.ignored.union(run.options.excluded ?? [])
        run.rules.maximumSize = run.options.maximumSize
        if run.options.excludesTags == true { run.rules.tagged = taggedDirectories() }
        beginFreed(run)
        noteReaders()
    }

    /// Directories in which a user put a tag.
    private func taggedDirectories() -> Set<ObjectKey> {
        let tag = [UInt8](("/" + WideState.tagName).utf8)
        var found: Set<ObjectKey> = []
        for (path, entry) in tree.entries {
            guard case .file = entry, path.bytes.count > tag.count,
                path.bytes.suffix(tag.count).elementsEqual(tag)
            else { continue }
            if isFetched(path) { continue }
            found.insert(ObjectKey([UInt8](path.bytes.dropLast(tag.count))))
        }
        return found
    }

    /// True for a file that is as a run fetched it: as a tag it does not count.
    private func isFetched(_ path: ObjectKey) -> Bool {
        guard let row = rows[path], row.isFetched,
            let status = disk.unseen({ DiskTree.status(full(path)) })
        else { return false }
        return row.inode == UInt64(status.st_ino) && row.localModified == modified(status)
    }

    /// At the end nobody is kept from anything, and what is damaged is put right.
    func finishWide() {
        guard setup.wide != nil else { return }
        wide.port = ""
        // What is not written without a condition waits for a store that knows them.
        service.quirks.hasNoConditions = false
        if setup.has(.unreadable) || setup.has(.rights) {
            disk.unseen {
                for (path, entry) in tree.entries where entry == .directory {
                    setRights(full(path), Rights(mode: 0o755, owner: WideState.user))
                }
                for (path, entry) in tree.entries {
                    guard case .file = entry else { continue }
                    setRights(full(path), Rights(mode: 0o644, owner: WideState.user))
                }
                DiskEdits.synchronizeAll(VIRTUAL_FILES_ROOT)
            }
        }
        guard !wide.damages.isEmpty, violations.isEmpty else { return }
        var options = quietOptions(isForced: false)
        options.tool = .repair
        carryOut(options)
    }

    /// True where a world has made the two sides differ in a way that no run can mend unasked.
    func mayDifferWidely(_ path: ObjectKey) -> Bool {
        model.sharedTags[path] != nil || wide.doubtful.contains(path) || isOnlyThere(path)
            || path.bytes.split(separator: UInt8(ascii: "/")).contains { segment in
                onceHiddenNames.contains { segment.elementsEqual($0.utf8) }
            }
    }

    /// True if a file was changed in a way that its size and time do not show.
    func isBehindTimes(_ path: ObjectKey, _ content: ContentID?) -> Bool {
        guard let content else { return false }
        return wide.spoiled.contains(content)
            || wide.keptTimes.contains(Model.Held(path: path, content: content))
    }
}
