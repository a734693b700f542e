import SyncModel
import SyncPlanner
import Testing

private let key: ObjectKey = "photos/"

private enum Presence { case none, empty, full }

private struct Cell: CustomTestStringConvertible {
    var isKnown: Bool
    var local: Presence
    var hasRemote: Bool
    var pull: Decision
    var push: Decision
    var sync: Decision

    init(
        known: Bool,
        _ local: Presence,
        remote: Bool,
        _ pull: Decision,
        _ push: Decision,
        _ sync: Decision
    ) {
        isKnown = known
        self.local = local
        hasRemote = remote
        self.pull = pull
        self.push = push
        self.sync = sync
    }

    var testDescription: String { "known: \(isKnown), local: \(local), remote: \(hasRemote)" }

    var entry: JoinedEntry {
        SyncPlannerTests.entry(
            key,
            base: isKnown ? row(key, size: 0, inode: 0) : nil,
            local: local == .none ? nil : directory(key, isEmpty: local == .empty),
            // The tag of a marker says nothing: the row has another.
            remote: hasRemote ? object(key, size: 0, etag: ETag(wire: "\"null\"")) : nil
        )
    }
}

private let unchanged = Decision.nothing(.unchanged)
private let implied = Decision.nothing(.impliedDirectory)

private let cells: [Cell] = [
    Cell(
        known: false,
        .none,
        remote: true,
        .makeDirectory,
        .nothing(.onlyRemote),
        .makeDirectory
    ),
    Cell(
        known: false,
        .empty,
        remote: false,
        .nothing(.onlyLocal),
        .uploadMarker,
        .uploadMarker
    ),
    Cell(known: false, .full, remote: false, implied, implied, implied),
    Cell(known: false, .empty, remote: true, .adopt, .adopt, .adopt),
    Cell(known: false, .full, remote: true, .adopt, .adopt, .adopt),
    Cell(known: true, .empty, remote: true, unchanged, unchanged, unchanged),
    Cell(known: true, .full, remote: true, unchanged, unchanged, unchanged),
    Cell(
        known: true,
        .none,
        remote: true,
        .makeDirectory,
        .nothing(.deletedLocally),
        .nothing(.deletedLocally)
    ),
    Cell(
        known: true,
        .empty,
        remote: false,
        .nothing(.deletedRemotely),
        .uploadMarker,
        .nothing(.deletedRemotely)
    ),
    Cell(
        known: true,
        .full,
        remote: false,
        .nothing(.deletedRemotely),
        .uploadMarker,
        .nothing(.deletedRemotely)
    ),
    Cell(known: true, .none, remote: false, .forget, .forget, .forget),
]

private let deletingCells: [Cell] = [
    Cell(
        known: true,
        .none,
        remote: true,
        .makeDirectory,
        .deleteRemote(.known),
        .deleteRemote(.known)
    ),
    Cell(
        known: true,
        .empty,
        remote: false,
        .deleteLocal(.known),
        .uploadMarker,
        .deleteLocal(.known)
    ),
    Cell(known: true, .full, remote: false, .forget, .uploadMarker, .forget),
]

private let extraCells: [Cell] = [
    Cell(
        known: false,
        .none,
        remote: true,
        .makeDirectory,
        .deleteRemote(.extra),
        .makeDirectory
    ),
    Cell(
        known: false,
        .empty,
        remote: false,
        .deleteLocal(.extra),
        .uploadMarker,
        .uploadMarker
    ),
]

private func table(_ changes: [Cell]) -> [Cell] {
    cells.map { cell in
        changes.first { $0.testDescription == cell.testDescription } ?? cell
    }
}

@Suite("Directories and their markers")
struct DirectoryDecisionTests {
    @Test(arguments: cells)
    fileprivate func `every cell without flags`(cell: Cell) {
        #expect(decide(cell.entry, policy(.pull)) == cell.pull)
        #expect(decide(cell.entry, policy(.push)) == cell.push)
        #expect(decide(cell.entry, policy(.sync)) == cell.sync)
    }

    @Test(arguments: table(deletingCells))
    fileprivate func `every cell with --delete`(cell: Cell) {
        #expect(decide(cell.entry, policy(.pull, deletes: true)) == cell.pull)
        #expect(decide(cell.entry, policy(.push, deletes: true)) == cell.push)
        #expect(decide(cell.entry, policy(.sync, deletes: true)) == cell.sync)
    }

    @Test(arguments: table(deletingCells + extraCells))
    fileprivate func `every cell with --delete=extra`(cell: Cell) {
        #expect(decide(cell.entry, policy(.pull, extra: true)) == cell.pull)
        #expect(decide(cell.entry, policy(.push, extra: true)) == cell.push)
        #expect(decide(cell.entry, policy(.sync, extra: true)) == cell.sync)
    }

    @Test(arguments: table(deletingCells + extraCells))
    fileprivate func `without empty directories none is made, and what is recorded goes`(
        cell: Cell
    ) {
        for (direction, ordinary) in [
            (SyncDirection.pull, cell.pull), (.push, cell.push), (.sync, cell.sync),
        ] {
            var policy = policy(direction, extra: true)
            policy.keepsEmptyDirectories = false
            let isLeft: Bool =
                switch ordinary {
                case .makeDirectory, .uploadMarker, .deleteLocal(.extra), .deleteRemote(.extra),
                    .adopt, .nothing(.onlyLocal), .nothing(.onlyRemote):
                    true
                default: false
                }
            #expect(decide(cell.entry, policy) == (isLeft ? .nothing(.emptyDirectory) : ordinary))
        }
    }

    @Test(arguments: SyncDirection.allCases)
    func `a marker with content is skipped and never deleted`(direction: SyncDirection) {
        let remote = object(key, size: 3)
        let skip = Decision.skip(.markerWithContent(size: 3))
        let policy = policy(direction, deletes: true, extra: true)
        #expect(decide(entry(key, remote: remote), policy) == skip)
        #expect(decide(entry(key, base: row(key, size: 0), remote: remote), policy) == skip)
        let both = entry(key, local: directory(key, isEmpty: true), remote: remote)
        #expect(decide(both, policy) == skip)
    }

    @Test(arguments: SyncDirection.allCases)
    func `the marker of the prefix itself is nobody's file`(direction: SyncDirection) {
        let root = entry("", remote: object("", size: 0))
        #expect(
            decide(root, policy(direction, deletes: true, extra: true)) == .nothing(.prefixItself)
        )
    }
}
