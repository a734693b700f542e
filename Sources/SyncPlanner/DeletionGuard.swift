package import SyncModel

/// Why the deletions of a run are held back.
package enum DeletionRefusal: Sendable, Hashable {
    /// The directory is a copy, another disk's or a restored one.
    case directoryChanged
    /// The directory was moved, replaced or removed while the run went on.
    case directoryMoved
    /// `path` is the one of a limited run where it is; nil for the whole mirror.
    case emptyListing(rows: Int, path: ObjectKey? = nil)
    case emptyDirectory(rows: Int, path: ObjectKey? = nil)
    /// The manifest was set aside and begun anew in this run.
    case manifestRebuilt(deletions: Int)
    case listingUnproven(deletions: Int)
    case scanUnproven(deletions: Int)
    case itemsFailed(Int, deletions: Int)
    case itemsSkipped(Int, deletions: Int)
    case itemsVanished(Int, deletions: Int)
    case tooMany(deletions: Int, rows: Int, limit: DeletionLimit)

    /// True if the run ends with the exit status of a refused safety check; false where whatever
    /// went wrong decides the status.
    package var isSafetyRefusal: Bool {
        switch self {
        case .directoryChanged, .directoryMoved, .emptyListing, .emptyDirectory, .tooMany:
            true
        case .manifestRebuilt, .listingUnproven, .scanUnproven, .itemsFailed, .itemsSkipped,
            .itemsVanished:
            false
        }
    }

    /// What was held back, why, and what the user can do.
    package var message: String {
        switch self {
        case .directoryChanged:
            "the directory does not match the last run (a copy, another disk or a restored"
                + " backup); nothing was deleted. What the bucket has and the directory lacks may"
                + " be newer: pull first. If the deletions are right anyway, run again; if"
                + " they are refused again, run once with --rebind, and then again."
        case .directoryMoved:
            "the directory was moved, replaced or removed during the run, or its disk unmounted;"
                + " nothing more is deleted. Check that it exists, and run again."
        case .emptyListing(let rows, let path):
            (path.map { "the bucket has nothing beneath '\($0.display)'" }
                ?? "the listing of the remote is empty")
                + "\(known(rows, path)); nothing was deleted. If that is right, run again with"
                + " --allow-empty."
        case .emptyDirectory(let rows, let path):
            (path.map { "the directory '\($0.display)' is missing or empty" }
                ?? "the directory is empty")
                + "\(known(rows, path)); nothing was deleted. Check that its disk is mounted; if"
                + " that is right, run again with --allow-empty."
        case .manifestRebuilt(let deletions):
            "\(heldBack(deletions)): the manifest was rebuilt and does not know what is new."
                + " Check them with --dry-run; if all of them may be deleted, run again with "
                + "--rebind."
        case .listingUnproven(let deletions):
            "\(heldBack(deletions)): the listing of the remote was incomplete or out of"
                + " order. Run again."
        case .scanUnproven(let deletions):
            "\(heldBack(deletions)): the directory could not be read completely."
        case .itemsFailed(let items, let deletions):
            "\(heldBack(deletions)): \(counted(items, "item")) failed. Run again."
        case .itemsSkipped(let items, let deletions):
            "\(heldBack(deletions)): \(counted(items, "item")) had to be skipped."
        case .itemsVanished(let items, let deletions):
            "\(heldBack(deletions)): \(counted(items, "object")) disappeared after the listing,"
                + " so the listing is out of date. Run again."
        case .tooMany(let deletions, let rows, .count(let limit)):
            "\(heldBack(deletions)): the limit is \(limit), of \(counted(rows, "recorded entry"))."
                + " If that is right, run again with --max-delete \(deletions)."
        case .tooMany(let deletions, let rows, .percent(let limit)):
            "\(heldBack(deletions)): the limit is \(limit)% of the "
                + "\(counted(rows, "recorded entry"))."
                + " If that is right, run again with --max-delete \(deletions)."
        }
    }

    private func known(_ rows: Int, _ path: ObjectKey?) -> String {
        guard rows > 0 else { return "" }
        return ", and the manifest has \(counted(rows, "entry"))\(path == nil ? "" : " there")"
    }

    private func heldBack(_ deletions: Int) -> String {
        "\(counted(deletions, "deletion")) \(deletions == 1 ? "was" : "were") held back"
    }

    private func counted(_ count: Int, _ noun: String) -> String {
        if count == 1 { return "1 \(noun)" }
        return "\(count) " + (noun.hasSuffix("y") ? noun.dropLast() + "ies" : noun + "s")
    }
}

package enum DeletionVerdict: Sendable, Hashable {
    case allowed
    case refused(DeletionRefusal)
}

/// Everything that must be true before a run deletes anything, judged once, after the transfers.
///
/// A listing or directory that is empty against a manifest that is not, and a changed identity, are
/// refused even if nothing is to be deleted: the run looked at the wrong place. Where nothing is
/// recorded, an empty side deletes nothing of the other, either.
package struct DeletionGuard: Sendable, Hashable {
    package var direction: SyncDirection
    /// Planned deletions of files and objects together.
    package var deletions: Int
    /// How many of them give a file another name only, which the limit does not count.
    package var renames = 0
    /// Rows of the manifest when the run began.
    package var rows: Int
    /// How many of them are of links or escaped names that the run has no option for: neither side
    /// need have anything else.
    package var heldRows = 0
    /// How many of them are of what the run leaves out, or what was freed: none of it is deleted,
    /// and the limit is a share of the rest.
    package var keptRows = 0
    /// What of the rows, objects and entries is no content.
    package var bare = Bare()
    /// Objects that the run selects.
    package var listedObjects: Int
    /// Objects that filters left out.
    package var leftOutObjects = 0
    /// Files and directories of the walk that the run selects.
    package var walkedEntries: Int
    /// Names that filters left out of it.
    package var leftOutNames = 0
    /// Every page of the listing arrived, in order, to the last one.
    package var isListingProven: Bool
    /// The walk read every directory.
    package var isScanProven: Bool
    package var failedItems: Int
    package var skippedItems: Int
    /// Objects that were listed and gone when they were asked for.
    package var vanishedItems: Int
    package var isSameDirectory: Bool
    package var isManifestRebuilt: Bool
    package var allowsEmpty: Bool
    package var limit: DeletionLimit
    /// What was found of each path of a limited run; nil for a run of the whole mirror.
    package var branches: [Branch]?

    /// Directories and the ignore file: they show that something is there, and not that the files
    /// were deleted.
    package struct Bare: Sendable, Hashable {
        package var rows = 0
        package var objects = 0
        package var entries = 0

        package init(rows: Int = 0, objects: Int = 0, entries: Int = 0) {
            (self.rows, self.objects, self.entries) = (rows, objects, entries)
        }
    }

    /// What was found at and beneath one path of a limited run, without the directory itself.
    package struct Branch: Sendable, Hashable {
        package let path: ObjectKey
        /// Rows of the manifest beneath it.
        package let rows: Int
        package let listedObjects: Int
        package let walkedEntries: Int
        /// Objects that filters left out.
        package let leftOutObjects: Int
        /// Names that filters left out of the walk.
        package let leftOutNames: Int
        /// What of the rows, objects and entries is no content.
        package let bare: Bare

        package init(
            path: ObjectKey,
            rows: Int,
            listedObjects: Int,
            walkedEntries: Int,
            leftOutObjects: Int = 0,
            leftOutNames: Int = 0,
            bare: Bare = Bare()
        ) {
            self.path = path
            self.rows = rows
            self.listedObjects = listedObjects
            self.walkedEntries = walkedEntries
            self.leftOutObjects = leftOutObjects
            self.leftOutNames = leftOutNames
            self.bare = bare
        }
    }

    /// Deletions that a percentage is never asked about.
    package static let unquestioned = 10

    package init(
        direction: SyncDirection,
        deletions: Int,
        rows: Int,
        listedObjects: Int,
        walkedEntries: Int,
        isListingProven: Bool,
        isScanProven: Bool,
        failedItems: Int,
        skippedItems: Int,
        vanishedItems: Int,
        isSameDirectory: Bool,
        isManifestRebuilt: Bool,
        allowsEmpty: Bool,
        limit: DeletionLimit
    ) {
        self.direction = direction
        self.deletions = deletions
        self.rows = rows
        self.listedObjects = listedObjects
        self.walkedEntries = walkedEntries
        self.isListingProven = isListingProven
        self.isScanProven = isScanProven
        self.failedItems = failedItems
        self.skippedItems = skippedItems
        self.vanishedItems = vanishedItems
        self.isSameDirectory = isSameDirectory
        self.isManifestRebuilt = isManifestRebuilt
        self.allowsEmpty = allowsEmpty
        self.limit = limit
    }

    /// The first reason that holds, the gravest first.
    package var verdict: DeletionVerdict {
        if !isSameDirectory { return .refused(.directoryChanged) }
        if let emptiness { return .refused(emptiness) }
        guard deletions > 0 else { return .allowed }
        if isManifestRebuilt { return .refused(.manifestRebuilt(deletions: deletions)) }
        if !isListingProven { return .refused(.listingUnproven(deletions: deletions)) }
        if !isScanProven { return .refused(.scanUnproven(deletions: deletions)) }
        if failedItems > 0 { return .refused(.itemsFailed(failedItems, deletions: deletions)) }
        if skippedItems > 0 { return .refused(.itemsSkipped(skippedItems, deletions: deletions)) }
        if vanishedItems > 0 {
            return .refused(.itemsVanished(vanishedItems, deletions: deletions))
        }
        return exceedsLimit
            ? .refused(.tooMany(deletions: deletions, rows: rows - keptRows, limit: limit))
            : .allowed
    }

    /// A side that has nothing where the manifest has rows; in a limited run each path by itself,
    /// because the others do not make up for one that is not mounted.
    private var emptiness: DeletionRefusal? {
        guard !allowsEmpty else { return nil }
        guard let branches else {
            let whole = Branch(
                path: ObjectKey(""),
                rows: rows - heldRows,
                listedObjects: listedObjects,
                walkedEntries: walkedEntries,
                leftOutObjects: leftOutObjects,
                leftOutNames: leftOutNames,
                bare: bare
            )
            return emptiness(whole, of: nil)
        }
        for branch in branches {
            if let refusal = emptiness(branch, of: branch.path) { return refusal }
        }
        return nil
    }

    private func emptiness(_ found: Branch, of path: ObjectKey?) -> DeletionRefusal? {
        let rows = found.rows
        // Where nothing is recorded, what is to be deleted was never mirrored.
        guard rows > 0 || path == nil && deletions > 0 else { return nil }
        let hasOnlyBare = rows > 0 && rows <= found.bare.rows
        // A directory, or a file that filters leave out, shows that something is there, but not
        // that the rest was deleted: an empty mount point can have one, too, and so can the wrong
        // bucket.
        func content(_ selected: Int, _ bare: Int, _ leftOut: Int) -> Int {
            deletions == 0 ? selected + leftOut : hasOnlyBare ? selected : selected - bare
        }
        let listed = content(found.listedObjects, found.bare.objects, found.leftOutObjects)
        if direction != .push, isListingProven, listed <= 0 {
            return .emptyListing(rows: rows, path: path)
        }
        let walked = content(found.walkedEntries, found.bare.entries, found.leftOutNames)
        if direction != .pull, isScanProven, walked <= 0 {
            return .emptyDirectory(rows: rows, path: path)
        }
        return nil
    }

    private var exceedsLimit: Bool {
        let deletions = deletions - renames
        switch limit {
        case .count(let limit):
            return deletions > limit
        case .percent(let share):
            guard share < 100, deletions > Self.unquestioned else { return false }
            let (most, overflow) = (rows - keptRows).multipliedReportingOverflow(by: max(share, 0))
            let (asked, excess) = deletions.multipliedReportingOverflow(by: 100)
            return overflow || excess || asked > most
        }
    }
}
