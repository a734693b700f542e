import SyncModel
import SyncPlanner
import Testing

/// A guard that allows everything asked of it.
private func content(
    _ direction: SyncDirection = .sync,
    deletions: Int = 3,
    rows: Int = 100,
    limit: DeletionLimit = .percent(50)
) -> DeletionGuard {
    DeletionGuard(
        direction: direction,
        deletions: deletions,
        rows: rows,
        listedObjects: 90,
        walkedEntries: 95,
        isListingProven: true,
        isScanProven: true,
        failedItems: 0,
        skippedItems: 0,
        vanishedItems: 0,
        isSameDirectory: true,
        isManifestRebuilt: false,
        allowsEmpty: false,
        limit: limit
    )
}

private struct Doubt: CustomTestStringConvertible {
    let name: String
    let refusal: DeletionRefusal
    let message: String
    let isSafetyRefusal: Bool
    let change: @Sendable (inout DeletionGuard) -> Void

    var testDescription: String { name }
}

private let doubts: [Doubt] = [
    Doubt(
        name: "another directory",
        refusal: .directoryChanged,
        message: "the directory does not match the last run (a copy, another disk or a restored"
            + " backup); nothing was deleted. What the bucket has and the directory lacks may be"
            + " newer: pull first. If the deletions are right anyway, run again; if they are"
            + " refused again, run once with --rebind, and then again.",
        isSafetyRefusal: true,
        change: { $0.isSameDirectory = false }
    ),
    Doubt(
        name: "an empty listing",
        refusal: .emptyListing(rows: 100),
        message: "the listing of the remote is empty, and the manifest has 100 entries; nothing"
            + " was deleted. If that is right, run again with --allow-empty.",
        isSafetyRefusal: true,
        change: { $0.listedObjects = 0 }
    ),
    Doubt(
        name: "an empty directory",
        refusal: .emptyDirectory(rows: 100),
        message: "the directory is empty, and the manifest has 100 entries; nothing was deleted."
            + " Check that its disk is mounted; if that is right, run again with --allow-empty.",
        isSafetyRefusal: true,
        change: { $0.walkedEntries = 0 }
    ),
    Doubt(
        name: "a rebuilt manifest",
        refusal: .manifestRebuilt(deletions: 3),
        message:
            "3 deletions were held back: the manifest was rebuilt and does not know what is new."
            + " Check them with --dry-run; if all of them may be deleted, run again with --rebind.",
        isSafetyRefusal: false,
        change: { $0.isManifestRebuilt = true }
    ),
    Doubt(
        name: "an incomplete listing",
        refusal: .listingUnproven(deletions: 3),
        message: "3 deletions were held back: the listing of the remote was incomplete or out of"
            + " order. Run again.",
        isSafetyRefusal: false,
        change: { $0.isListingProven = false }
    ),
    Doubt(
        name: "an incomplete walk",
        refusal: .scanUnproven(deletions: 3),
        message: "3 deletions were held back: the directory could not be read completely.",
        isSafetyRefusal: false,
        change: { $0.isScanProven = false }
    ),
    Doubt(
        name: "a failed item",
        refusal: .itemsFailed(1, deletions: 3),
        message: "3 deletions were held back: 1 item failed. Run again.",
        isSafetyRefusal: false,
        change: { $0.failedItems = 1 }
    ),
    Doubt(
        name: "skipped items",
        refusal: .itemsSkipped(2, deletions: 3),
        message: "3 deletions were held back: 2 items had to be skipped.",
        isSafetyRefusal: false,
        change: { $0.skippedItems = 2 }
    ),
    Doubt(
        name: "a vanished object",
        refusal: .itemsVanished(1, deletions: 3),
        message: "3 deletions were held back: 1 object disappeared after the listing, so"
            + " the listing is out of date. Run again.",
        isSafetyRefusal: false,
        change: { $0.vanishedItems = 1 }
    ),
]

@Suite("The guard of deletions")
struct DeletionGuardTests {
    @Test func `nothing in doubt is allowed`() {
        #expect(content().verdict == .allowed)
    }

    @Test(arguments: doubts)
    fileprivate func `each doubt refuses, with its reason`(doubt: Doubt) {
        var facts = content()
        doubt.change(&facts)
        #expect(facts.verdict == .refused(doubt.refusal))
        #expect(doubt.refusal.message == doubt.message)
        #expect(doubt.refusal.isSafetyRefusal == doubt.isSafetyRefusal)
    }

    @Test(arguments: doubts)
    fileprivate func `without deletions only a wrong place is refused`(doubt: Doubt) {
        var facts = content(deletions: 0)
        doubt.change(&facts)
        let expected: DeletionVerdict =
            doubt.isSafetyRefusal ? .refused(doubt.refusal) : .allowed
        #expect(facts.verdict == expected)
    }

    @Test func `what the run has no option for is missing nowhere`() {
        var facts = content(deletions: 0, rows: 7)
        (facts.listedObjects, facts.walkedEntries, facts.heldRows) = (0, 0, 7)
        #expect(facts.verdict == .allowed)
        facts.heldRows = 6
        #expect(facts.verdict == .refused(.emptyListing(rows: 1)))
        (facts.heldRows, facts.deletions) = (7, 1)
        #expect(facts.verdict == .refused(.emptyListing(rows: 0)), "it was never mirrored")
    }

    @Test func `the limit is a share of what the run may delete`() {
        var facts = content(deletions: 18, rows: 100)
        #expect(facts.verdict == .allowed)
        facts.keptRows = 80
        let limit = DeletionLimit.percent(50)
        #expect(facts.verdict == .refused(.tooMany(deletions: 18, rows: 20, limit: limit)))
        facts.keptRows = 64
        #expect(facts.verdict == .allowed)
    }

    @Test func `an empty side matters only where it is read from`() {
        var push = content(.push)
        push.listedObjects = 0
        #expect(push.verdict == .allowed)
        var pull = content(.pull)
        pull.walkedEntries = 0
        #expect(pull.verdict == .allowed)
    }

    @Test func `an empty side may be allowed, and is nothing where nothing was recorded`() {
        var facts = content()
        facts.listedObjects = 0
        facts.walkedEntries = 0
        facts.allowsEmpty = true
        #expect(facts.verdict == .allowed)
        facts.allowsEmpty = false
        facts.rows = 0
        facts.deletions = 0
        #expect(facts.verdict == .allowed)
    }

    @Test func `a listing that broke off at once is incomplete and not empty`() {
        var facts = content()
        facts.listedObjects = 0
        facts.isListingProven = false
        #expect(facts.verdict == .refused(.listingUnproven(deletions: 3)))
    }

    @Test(
        arguments: [
            (10, 10, DeletionLimit.percent(50), true), (11, 11, .percent(50), false),
            (11, 22, .percent(50), true), (11, 21, .percent(50), false),
            (50, 100, .percent(50), true), (51, 100, .percent(50), false),
            (10, 10, .percent(0), true), (11, 1_000, .percent(0), false),
            (11, 1_000, .percent(-3), false), (1_000, 1_000, .percent(100), true),
            (1_000, 0, .percent(100), true), (11, 0, .percent(99), false),
            (5, 1_000, .count(5), true), (6, 1_000, .count(5), false), (1, 1, .count(0), false),
            (.max, .max, .percent(50), false), (12, .max, .percent(50), false),
        ] as [(Int, Int, DeletionLimit, Bool)]
    )
    func `the limit is exact, and a percentage is never asked of ten or fewer`(
        deletions: Int,
        rows: Int,
        limit: DeletionLimit,
        isAllowed: Bool
    ) {
        let verdict = content(deletions: deletions, rows: rows, limit: limit).verdict
        let refused = DeletionVerdict.refused(
            .tooMany(deletions: deletions, rows: rows, limit: limit)
        )
        #expect(verdict == (isAllowed ? .allowed : refused))
    }

    @Test func `each path of a limited run is empty by itself`() {
        func verdict(
            _ direction: SyncDirection,
            _ branches: [DeletionGuard.Branch],
            allowsEmpty: Bool = false
        ) -> DeletionVerdict {
            var check = content(deletions: 2, rows: 100, limit: .percent(50))
            check.direction = direction
            check.allowsEmpty = allowsEmpty
            // What the other paths have says nothing.
            check.branches = branches
            return check.verdict
        }
        func branch(_ rows: Int, _ listed: Int, _ walked: Int) -> DeletionGuard.Branch {
            DeletionGuard.Branch(
                path: "p",
                rows: rows,
                listedObjects: listed,
                walkedEntries: walked
            )
        }
        let full = branch(5, 5, 5)
        #expect(verdict(.sync, [full, branch(0, 0, 0)]) == .allowed)
        let emptyHere = [full, branch(3, 3, 0)]
        #expect(verdict(.push, emptyHere) == .refused(.emptyDirectory(rows: 3, path: "p")))
        #expect(verdict(.sync, emptyHere) == .refused(.emptyDirectory(rows: 3, path: "p")))
        #expect(verdict(.pull, emptyHere) == .allowed)
        #expect(verdict(.push, emptyHere, allowsEmpty: true) == .allowed)
        let emptyThere = [full, branch(1, 0, 3)]
        #expect(verdict(.pull, emptyThere) == .refused(.emptyListing(rows: 1, path: "p")))
        #expect(verdict(.sync, emptyThere) == .refused(.emptyListing(rows: 1, path: "p")))
        #expect(verdict(.push, emptyThere) == .allowed)
        #expect(
            DeletionRefusal.emptyListing(rows: 1, path: "p").message
                == "the bucket has nothing beneath 'p', and the manifest has 1 entry there; nothing"
                + " was deleted. If that is right, run again with --allow-empty."
        )
    }

    @Test func `a file that filters leave out does not make up for those that are gone`() {
        var facts = content(deletions: 8, rows: 8, limit: .percent(50))
        facts.direction = .push
        facts.walkedEntries = 0
        facts.leftOutNames = 1
        #expect(facts.verdict == .refused(.emptyDirectory(rows: 8)))
        facts.deletions = 0
        #expect(facts.verdict == .allowed)
    }

    @Test func `directories and the ignore file do not make up for files that are gone`() {
        func verdict(
            _ direction: SyncDirection,
            deletions: Int = 8,
            bareRows: Int = 2
        ) -> DeletionVerdict {
            var facts = content(direction, deletions: deletions, rows: 10)
            (facts.listedObjects, facts.walkedEntries) = (2, 2)
            facts.bare = .init(rows: bareRows, objects: 2, entries: 2)
            return facts.verdict
        }
        #expect(verdict(.pull) == .refused(.emptyListing(rows: 10)))
        #expect(verdict(.push) == .refused(.emptyDirectory(rows: 10)))
        // They show that something is there.
        #expect(verdict(.pull, deletions: 0) == .allowed)
        // Where nothing else was mirrored, they are what there is.
        #expect(verdict(.push, bareRows: 10) == .allowed)
        var new = content(.push, deletions: 2, rows: 0)
        (new.walkedEntries, new.bare) = (1, .init(entries: 1))
        #expect(new.verdict == .refused(.emptyDirectory(rows: 0)))
    }

    @Test func `an empty side that was never mirrored deletes nothing of the other`() {
        func verdict(_ direction: SyncDirection, allowsEmpty: Bool = false) -> DeletionVerdict {
            var check = content(deletions: 9, rows: 0, limit: .percent(50))
            check.direction = direction
            if direction == .push { check.walkedEntries = 0 } else { check.listedObjects = 0 }
            check.allowsEmpty = allowsEmpty
            return check.verdict
        }
        #expect(verdict(.push) == .refused(.emptyDirectory(rows: 0)))
        #expect(verdict(.pull) == .refused(.emptyListing(rows: 0)))
        #expect(verdict(.push, allowsEmpty: true) == .allowed)
        #expect(
            DeletionRefusal.emptyDirectory(rows: 0).message
                == "the directory is empty; nothing was deleted. Check that its disk is mounted;"
                + " if that is right, run again with --allow-empty."
        )
    }

    @Test func `a limit names the numbers and the way on`() {
        #expect(
            DeletionRefusal.tooMany(deletions: 60, rows: 100, limit: .percent(50)).message
                == "60 deletions were held back: the limit is 50% of the 100 recorded"
                + " entries. If that is right, run again with --max-delete 60."
        )
        let count = DeletionRefusal.tooMany(deletions: 1, rows: 1, limit: .count(0))
        #expect(
            count.message
                == "1 deletion was held back: the limit is 0, of 1 recorded entry."
                + " If that is right, run again with --max-delete 1."
        )
        #expect(count.isSafetyRefusal)
    }
}
