import SyncModel
import Synchronization
import Testing

@testable import ManifestStore

@Suite("The number of the last run that changed something")
struct RunNumberTests {
    private final class Marks: Sendable {
        let numbers = Mutex<[Int64]>([])
        var all: [Int64] { numbers.withLock { $0 } }
    }

    private let directory: StateDirectory

    init() throws {
        directory = try StateDirectory()
    }

    @Test func `is in the marker before the first change, and once`() async throws {
        let store = try await directory.store()
        let marks = Marks()
        await store.number(5) { number in marks.numbers.withLock { $0.append(number) } }
        try await store.setSetting("other", "1")
        try await store.record([.finishDownload("a")])
        #expect(marks.all == [])
        #expect(try await store.runNumber() == RunNumber(current: nil, pending: nil))
        try await store.record([.upsert(Sample.entry("a"))])
        try await store.record([.forget("a")])
        #expect(marks.all == [5])
        #expect(try await store.runNumber() == RunNumber(current: 5, pending: 5))
    }

    @Test func `that cannot be written keeps every change back, and is tried again`() async throws {
        let store = try await directory.store()
        let marks = Marks()
        await store.number(2) { number throws(ManifestError) in
            let count = marks.numbers.withLock { numbers in
                numbers.append(number)
                return numbers.count
            }
            if count == 1 { throw .notMarked(reason: "the disk is full", isOutOfRoom: true) }
        }
        await #expect(
            throws: ManifestError.notMarked(reason: "the disk is full", isOutOfRoom: true)
        ) {
            try await store.record([.upsert(Sample.entry("a"))])
        }
        #expect(try await store.entryCount() == 0)
        // The marker may have it all the same.
        let number = try await store.runNumber()
        #expect(number == RunNumber(current: nil, pending: 2))
        #expect(number.accepts(2))
        try await store.record([.upsert(Sample.entry("a"))])
        #expect(marks.all == [2, 2])
        #expect(try await store.entryCount() == 1)
    }

    @Test func `is left out for want of room by a run that only reads the directory`() async throws
    {
        for isOutOfRoom in [true, false] {
            let store = try await StateDirectory().store()
            let failure = ManifestError.notMarked(reason: "no", isOutOfRoom: isOutOfRoom)
            await store.number(3) { _ throws(ManifestError) in throw failure }
            await store.goOnUnnumbered()
            let change = ManifestChange.upsert(Sample.entry("a"))
            if isOutOfRoom {
                try await store.record([change])
            } else {
                await #expect(throws: failure) { try await store.record([change]) }
            }
            #expect(try await store.entryCount() == (isOutOfRoom ? 1 : 0))
            // The marker, which kept its number, stays accepted.
            #expect(try await store.runNumber().accepts(nil) == false)
            try await store.endNumber()
            #expect(try await store.runNumber() == RunNumber(current: nil, pending: 3))
        }
    }

    @Test func `is another one once the run has ended`() async throws {
        let store = try await directory.store()
        let marks = Marks()
        func begin(_ number: Int64) async {
            await store.number(number) { number in marks.numbers.withLock { $0.append(number) } }
        }
        await begin(5)
        try await store.endNumber()
        #expect(marks.all == [], "it changed nothing")
        await begin(5)
        try await store.record([.upsert(Sample.entry("a"))])
        // Cut off here, and the next run changes nothing.
        #expect(try await store.runNumber().accepts(5))
        await begin(7)
        try await store.endNumber()
        #expect(marks.all == [5, 8])
        #expect(try await store.runNumber() == RunNumber(current: 8, pending: 8))
        await begin(9)
        try await store.record([.upsert(Sample.entry("b"))])
        try await store.endNumber()
        try await store.endNumber()
        #expect(marks.all == [5, 8, 9, 10])
        #expect(try await !store.runNumber().accepts(9))
    }

    @Test func `that cannot be written at the end is accepted as it was`() async throws {
        let store = try await directory.store()
        await store.number(3) { number throws(ManifestError) in
            guard number == 3 else {
                throw .notMarked(reason: "the disk is full", isOutOfRoom: true)
            }
        }
        try await store.record([.upsert(Sample.entry("a"))])
        try await store.endNumber()
        let number = try await store.runNumber()
        #expect(number.accepts(3) && number.accepts(4))
    }

    @Test func `that the manifest could not record stays accepted`() async throws {
        let store = try await directory.store()
        await store.number(3) { number throws(ManifestError) in
            guard number == 3 else {
                throw .notMarked(reason: "the disk is full", isOutOfRoom: true)
            }
        }
        // The marker has it, and the transaction that was to record it failed.
        let number = try await store.beginNumber()
        #expect(number == 3)
        try await store.endNumber()
        #expect(try await store.runNumber().accepts(3))
    }

    @Test func `is accepted as it is or as it was about to be`() {
        let number = RunNumber(current: 4, pending: 5)
        #expect(number.accepts(4) && number.accepts(5))
        for other in [nil, 3, 6] as [Int64?] { #expect(!number.accepts(other)) }
        #expect(RunNumber(current: nil, pending: nil).accepts(9))
        #expect(number.next(after: nil) == 7)
        #expect(number.next(after: 8) == 9)
        #expect(number.next(after: 9) == 11)
        #expect(RunNumber(current: .max, pending: nil).next(after: .max) > 0)
    }
}
