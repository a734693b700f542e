import Dispatch
import SyncModel
import Testing

@testable import ManifestStore

@Suite("Grouped commits")
struct GroupCommitTests {
    /// Keeps the store busy until `count` calls wait, so that they meet.
    private func meet<Value: Sendable>(
        _ store: ManifestStore,
        count: Int,
        _ calls: @escaping @Sendable (Int) async -> Value
    ) async -> [Value] {
        let gate = DispatchSemaphore(value: 0)
        store.queue.begin { gate.wait() }
        return await withTaskGroup(of: (Int, Value).self) { group in
            for index in 0..<count {
                group.addTask { (index, await calls(index)) }
            }
            while store.waitingCallCount < count { await Task.yield() }
            gate.signal()
            var values: [Int: Value] = [:]
            for await (index, value) in group { values[index] = value }
            return values.keys.sorted().compactMap { values[$0] }
        }
    }

    private func outcome(
        _ body: () async throws(ManifestError) -> Void
    ) async -> ManifestError? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `calls that wait at the same time share one transaction`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record(.beginDownload(Sample.download("d")))
        let before = await store.transactionCount
        let errors = await meet(store, count: 200) { index in
            await outcome { () async throws(ManifestError) in
                if index == 7 {
                    try await store.record(.saveRange("d", Sample.range(0), partialName: "p1"))
                } else {
                    try await store.record([.upsert(Sample.entry(ObjectKey("k\(index)")))])
                }
            }
        }
        #expect(errors.allSatisfy { $0 == nil })
        #expect(await store.transactionCount == before + 1)
        #expect(try await store.entryCount() == 199)
    }

    @Test func `calls one after the other have a transaction each`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        for index in 0..<5 {
            try await store.record([.upsert(Sample.entry(ObjectKey("k\(index)")))])
        }
        #expect(await store.transactionCount == 5)
        try await store.record([])
        #expect(await store.transactionCount == 5)
    }

    @Test func `a refused call fails alone, and none of its steps is kept`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let run = try await store.beginRun(
            direction: "pull",
            started: Timestamp(seconds: 1),
            remote: "oss://b/p"
        )
        let item = RunItem(key: "i", action: "skip", state: "skipped", message: nil)
        let errors = await meet(store, count: 21) { index in
            await outcome { () async throws(ManifestError) in
                switch index {
                case 3:
                    try await store.record(.saveRange("none", Sample.range(0), partialName: "p"))
                case 8: try await store.record(.addItems([item], RunID(99)))
                case 12:
                    try await store.record([
                        .upsert(Sample.entry("half")), .addItems([item], RunID(99)),
                    ])
                case 20: try await store.record(.addItems([item], run))
                default: try await store.record([.upsert(Sample.entry(ObjectKey("k\(index)")))])
                }
            }
        }
        #expect(errors.indices.filter { errors[$0] != nil } == [3, 8, 12])
        #expect(errors[3] == .checkpointGone("none"))
        guard case .rejected? = errors[8] else {
            Issue.record("\(String(describing: errors[8]))")
            return
        }
        #expect(try await store.entryCount() == 17)
        #expect(try await store.entry("half") == nil)
        #expect(try await store.rows(.items(run: run), limit: 9).count == 1)
    }

    @Test func `a group is bounded by its rows, and everybody gets an answer`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let perCall = ManifestLimits.rowsPerTransaction / 4
        let errors = await meet(store, count: 10) { index in
            await outcome { () async throws(ManifestError) in
                let changes = (0..<perCall).map { row in
                    ManifestChange.upsert(Sample.entry(ObjectKey("\(index)-\(row)")))
                }
                try await store.record(changes)
            }
        }
        #expect(errors.allSatisfy { $0 == nil })
        #expect(await store.transactionCount == 3)
        #expect(try await store.entryCount() == 10 * perCall)
    }

    @Test func `a full disk fails the whole group, loses nothing and is no damage`()
        async throws
    {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record([.upsert(Sample.entry("kept"))])
        // SQLite's own limit fails as a full disk does.
        func limitPages(_ count: Int) async throws {
            _ = try await store.withConnection { connection throws(ManifestError) in
                try connection.execute("PRAGMA max_page_count = \(count)")
            }
        }
        try await limitPages(1)
        let errors = await meet(store, count: 4) { index in
            await outcome { () async throws(ManifestError) in
                let changes = (0..<100).map { row in
                    ManifestChange.upsert(Sample.entry(ObjectKey("\(index)-\(row)")))
                }
                try await store.record(changes)
            }
        }
        #expect(errors == Array(repeating: .diskFull(path: directory.databasePath), count: 4))
        #expect(try await store.entryCount() == 1)
        try await limitPages(1_000_000)
        try await store.record([.upsert(Sample.entry("later"))])
        #expect(try await store.entryCount() == 2)
    }

    @Test func `a cancelled task still records what it has reached`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                #expect(Task.isCancelled)
                let error = await outcome { () async throws(ManifestError) in
                    try await store.record([.upsert(Sample.entry("a"))])
                }
                #expect(error == nil)
            }
        }
        #expect(try await store.entry("a") != nil)
    }

    @Test func `after closing every call says so`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.checkpointAndClose()
        try await store.checkpointAndClose()
        await #expect(throws: ManifestError.closed) {
            try await store.record([.upsert(Sample.entry("a"))])
        }
        await #expect(throws: ManifestError.closed) { try await store.entryCount() }
    }
}
