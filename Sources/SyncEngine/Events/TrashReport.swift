package import SyncModel

/// One file in the trash.
package struct TrashedFile: Sendable, Hashable {
    /// The path that it had.
    package var key: String
    /// The path in a form that is safe to print.
    package var displayKey: String
    /// Bytes.
    package var size: Int64
    /// The number of the run that removed or replaced it; nil if no run did.
    package var run: Int64?
    /// When that run began; nil if that is not known.
    package var removed: StoreTime?
    /// True if it is in the trash of the bucket.
    package var isRemote = false
    /// The machine whose run of another mirror put it there, safe to print; nil for this mirror's.
    package var host: String?
}

/// How much is in the trash, or was removed from it.
package struct TrashReport: Sendable, Hashable {
    /// Files.
    package var files = 0
    /// Bytes of them.
    package var bytes: Int64 = 0
    /// What could not be removed and why, safe to print.
    package var failures: [String] = []

    /// Makes an empty report.
    package init() {}

    mutating func add(_ size: Int64) {
        files += 1
        bytes = bytes.addingClamped(size)
    }
}

/// Which version of a file in the trash is meant.
package enum TrashVersion: Sendable, Hashable {
    /// The one that was removed last.
    case latest
    /// The one that the last run removed of which the trash has anything.
    case lastRun
    /// The one that the run of this number removed, which began then: a rebuilt manifest counts
    /// anew, and an older run may have had the number. Nil if nothing is known of the run.
    case run(Int64, since: StoreTime? = nil)
    /// The one that this run removed: its number, which a rebuilt manifest counts anew, and when
    /// it began.
    case runOf(number: Int64, began: StoreTime)
    /// The one that was there at this time: the first that was removed since then.
    case at(StoreTime)
}

/// What is to come back from the trash.
package struct RestoreRequest: Sendable, Hashable {
    /// Files and directories beneath the mirror's directory; "." means all.
    package var paths: [String]
    /// Which version of each.
    package var version: TrashVersion
    /// Where it goes beneath the mirror's directory, for a single path; nil for where it was.
    package var target: String?
    /// An absolute path outside the mirror's directory, to which copies go instead.
    ///
    /// Nothing changes in the directory or in the bucket then. Nil unless set.
    package var outside: String?
    /// True if what is there and differs goes to the trash first.
    ///
    /// That are files here and objects in the bucket; without it they stay. With a time, also what
    /// changed after it comes back.
    package var replaces: Bool
    /// True to replace what is in the way if the run that removed the version put it there, and
    /// nothing changed it since; false unless set.
    package var isUndo = false
    /// True to replace what is there where a path of ``paths`` is a file; false unless set.
    ///
    /// The latest version is the newest that is not what is there.
    package var replacesFiles = false
    /// Only reports what would come back; false unless set.
    package var isDryRun = false
    /// Those that pushes of the mirror give its objects: what is copied in the bucket gets the
    /// access rights and the encryption of them.
    package var properties = ObjectProperties.none
    /// Keys that come from elsewhere, as the report of that has them; none unless set.
    package var settledKeys: Set<String> = []
    /// When the newest versions in the trash were removed, by their keys.
    ///
    /// What the bucket keeps of these files is older, unless it was written later. None unless set.
    package var removalTimes: [String: StoreTime] = [:]

    /// Makes a request.
    package init(paths: [String], version: TrashVersion, target: String?, replaces: Bool) {
        self.paths = paths
        self.version = version
        self.target = target
        self.replaces = replaces
    }
}

/// What became of one file that was to come back from the trash.
package struct RestoredFile: Sendable, Hashable {
    /// How it ended.
    package enum State: String, Sendable, Hashable {
        /// It has its path, which was free.
        case restored
        /// It has its path; the file that was there is in the trash.
        case replaced
        /// A file of the same content is there already.
        case unchanged
        /// Another file is there and was kept.
        case kept
        /// It changed after the time that was asked for, and was left out.
        case later
        /// It could not be restored.
        case failed
        /// It was made by the run that is undone, an empty directory, and is gone.
        case removed
    }

    /// Where a version comes from.
    package enum Place: String, Sendable, Hashable {
        /// The trash of the directory.
        case trash
        /// The object in the bucket.
        case bucket
        /// The trash in the bucket.
        case bucketTrash = "bucket-trash"
        /// The versions that the bucket keeps.
        case versions
    }

    /// The path that it had.
    package var key: String
    /// The path in a form that is safe to print.
    package var displayKey: String
    /// The path that it has or was to have.
    package var target: String
    /// That path in a form that is safe to print.
    package var displayTarget: String
    /// Bytes.
    package var size: Int64
    /// The run that removed it.
    package var run: Int64?
    /// True if it came from the trash of the bucket, by a copy there.
    package var isRemote = false
    /// Where the version came from; nil for what an undo did beyond the trash.
    package var place: Place?
    /// How it ended.
    package var state: State
    /// Why it was not restored, safe to print.
    package var message: String?
}

/// What came back from the trash.
package struct RestoreReport: Sendable, Hashable {
    /// Files that have their paths again, those that replaced another among them.
    package var restored = 0
    /// Those of them that are directories.
    package var directories = 0
    /// Empty directories that the undone run had made, and that are gone.
    package var removed = 0
    /// Bytes of them.
    package var bytes: Int64 = 0
    /// Files that were there with the same content.
    package var unchanged = 0
    /// Files that were not restored, because another one is there.
    package var kept = 0
    /// Files that were left out, because they changed after the time that was asked for.
    package var later = 0
    /// Files that could not be restored.
    package var failed = 0
    /// True if objects are in the bucket again.
    package var hasRestoredObjects = false
    /// Paths of the request of which there is nothing.
    package var missing: [String] = []
    /// Keys of which the bucket's trash had the version that was meant, whatever became of it.
    package var settledKeys: Set<String> = []
    /// Keys that were freed, and that the bucket has lost.
    package var lostKeys: Set<String> = []

    /// Makes an empty report.
    package init() {}

    /// Counts one file.
    package mutating func add(_ file: RestoredFile) {
        switch file.state {
        case .restored, .replaced:
            restored += 1
            if file.key.utf8.last == UInt8(ascii: "/") { directories += 1 }
            if file.isRemote { hasRestoredObjects = true }
            bytes = bytes.addingClamped(file.size)
        case .unchanged: unchanged += 1
        case .kept: kept += 1
        case .later: later += 1
        case .failed: failed += 1
        case .removed: removed += 1
        }
    }

    /// Adds what another report counts.
    package mutating func add(_ other: RestoreReport) {
        restored += other.restored
        directories += other.directories
        removed += other.removed
        bytes = bytes.addingClamped(other.bytes)
        unchanged += other.unchanged
        kept += other.kept
        later += other.later
        failed += other.failed
        hasRestoredObjects = hasRestoredObjects || other.hasRestoredObjects
        missing += other.missing
        settledKeys.formUnion(other.settledKeys)
        lostKeys.formUnion(other.lostKeys)
    }

    /// True if everything that was asked for is there.
    package var isComplete: Bool { kept == 0 && failed == 0 && missing.isEmpty }
}

extension RestoreRequest {
    /// Where a copy goes that has this path, or this one beneath the path that was asked for.
    func outsidePath(
        of path: RelativePath,
        beneath asked: RelativePath?,
        isDirectory: (String) -> Bool
    ) -> String? {
        guard let outside else { return nil }
        func text(_ bytes: some Collection<UInt8>) -> String {
            String(decoding: bytes, as: UTF8.self)
        }
        guard let asked else { return outside + "/" + text(path.bytes) }
        let rest = path.bytes.dropFirst(asked.bytes.count)
        // A file goes into a directory that is there, as with cp; of a directory, its content does.
        let isInto = rest.isEmpty && !path.isDirectory && isDirectory(outside)
        return outside + (isInto ? "/" + text(path.name) : text(rest))
    }
}

extension RestoredFile {
    /// Why a version is left out that is later than the time that was asked for.
    static let laterText =
        "it changed or came after that time; the version of then is not kept, and --force restores "
        + "this one"

    /// What is said of a version that nobody should take for a good one.
    static let damagedText = "it was found damaged; nothing else of it is left"

    /// Why a file outside of the mirror stays.
    package static let outsideText = "a file is there; --force replaces it"

    /// A file that a pull fetched.
    package init(_ item: ItemEvent, _ state: State) {
        self.init(
            key: item.key,
            displayKey: item.displayKey,
            target: item.key,
            displayTarget: item.displayKey,
            size: item.size,
            state: state
        )
        place = .bucket
    }

    /// A file that a pull would have to replace.
    package init(kept item: ItemEvent) {
        self.init(item, .kept)
        message =
            "it has changed here; --force moves it to the trash and fetches what the bucket has"
    }

    /// A path that nothing fetches.
    package init(excluded path: String, by rule: String) {
        self.init(
            failed: path,
            "it is excluded by \(rule); --to PATH, outside of DIR, restores it there"
        )
    }

    /// A file that was freed, and that is nowhere.
    package init(lost key: String) { self.init(failed: key, ItemEvent.lostText) }

    private init(failed key: String, _ reason: String) {
        let shown = displayText(key.utf8)
        self.init(
            key: key,
            displayKey: shown,
            target: key,
            displayTarget: shown,
            size: 0,
            state: .failed
        )
        message = reason
    }

    /// An object that is there again, and whose file is not.
    package init(notDownloaded item: ItemEvent, _ reason: String) {
        self.init(
            key: item.key,
            displayKey: item.displayKey,
            target: item.key,
            displayTarget: item.displayKey,
            size: item.size,
            state: .failed
        )
        message = "it is in the bucket, and was not downloaded: \(reason)"
    }
}
