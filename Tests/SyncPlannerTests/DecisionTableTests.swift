import SyncModel
import SyncPlanner
import Testing

@Suite("The decision table")
struct DecisionTableTests {
    @Test(arguments: fileCells, SyncDirection.allCases)
    func `every cell without flags`(cell: FileCell, direction: SyncDirection) {
        #expect(decide(cell.entry, policy(direction)) == cell.expected(direction))
    }

    @Test(arguments: table(deletingFileCells), SyncDirection.allCases)
    func `every cell with --delete`(cell: FileCell, direction: SyncDirection) {
        let policy = policy(direction, deletes: true)
        #expect(decide(cell.entry, policy) == cell.expected(direction))
    }

    @Test(arguments: table(deletingFileCells + extraFileCells), SyncDirection.allCases)
    func `every cell with --delete=extra`(cell: FileCell, direction: SyncDirection) {
        let policy = policy(direction, extra: true)
        #expect(decide(cell.entry, policy) == cell.expected(direction))
    }

    @Test(arguments: table(forcedFileCells), SyncDirection.allCases)
    func `every cell with --force`(cell: FileCell, direction: SyncDirection) {
        let policy = policy(direction, force: true)
        #expect(decide(cell.entry, policy) == cell.expected(direction))
    }

    @Test(arguments: table(contentFileCells), SyncDirection.allCases)
    func `every cell with --checksum`(cell: FileCell, direction: SyncDirection) {
        let policy = policy(direction, checksum: true)
        #expect(decide(cell.entry, policy) == cell.expected(direction))
    }

    @Test func `the tables of flags name cells that exist`() {
        let known = Set(fileCells.map(\.testDescription))
        for cell in deletingFileCells + extraFileCells + forcedFileCells + contentFileCells {
            #expect(known.contains(cell.testDescription))
        }
        #expect(known.count == fileCells.count)
    }
}
