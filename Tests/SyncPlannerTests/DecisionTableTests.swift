import SyncPlanner
import Testing

@Suite("The decision table")
struct DecisionTableTests {
    @Test(arguments: fileCells, Direction.allCases)
    func `every cell without flags`(cell: FileCell, direction: Direction) {
        #expect(decide(cell.entry, policy(direction)) == cell.expected(direction))
    }

    @Test(arguments: table(deletingFileCells), Direction.allCases)
    func `every cell with --delete`(cell: FileCell, direction: Direction) {
        let policy = policy(direction, deletes: true)
        #expect(decide(cell.entry, policy) == cell.expected(direction))
    }

    @Test(arguments: table(deletingFileCells + extraFileCells), Direction.allCases)
    func `every cell with --delete-extra`(cell: FileCell, direction: Direction) {
        let policy = policy(direction, extra: true)
        #expect(decide(cell.entry, policy) == cell.expected(direction))
    }

    @Test(arguments: table(forcedFileCells), Direction.allCases)
    func `every cell with --force`(cell: FileCell, direction: Direction) {
        let policy = policy(direction, force: true)
        #expect(decide(cell.entry, policy) == cell.expected(direction))
    }

    @Test(arguments: table(contentFileCells), Direction.allCases)
    func `every cell with --checksum`(cell: FileCell, direction: Direction) {
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
