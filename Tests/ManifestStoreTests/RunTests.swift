import ManifestStore
import SyncModel
import Testing

@Suite("Runs")
struct RunTests {
    private func begin(_ store: ManifestStore, at seconds: Int64 = 5) async throws -> RunID {
        try await store.beginRun(
            direction: "sync",
            started: Timestamp(seconds: seconds, nanoseconds: 6),
            remote: "oss://bucket/prefix"
        )
    }

    @Test func `a run that was killed has no end, and a finished one has all its numbers`()
        async throws
    {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let killed = try await begin(store)
        let finished = try await begin(store, at: 9)
        let record = RunRecord(
            outcome: .incomplete,
            seconds: 1.5,
            counts: Sample.counts,
            message: "two keys are unsafe"
        )
        try await store.finishRun(finished, record)
        let runs = try await store.rows(.runs, limit: 10)
        #expect(runs.map(\.id) == [finished, killed])
        #expect(runs.map(\.record) == [record, nil])
        #expect(runs.first?.direction == "sync")
        #expect(runs.first?.remote == "oss://bucket/prefix")
        #expect(runs.first?.started == Timestamp(seconds: 9, nanoseconds: 6))
        #expect(try await store.rows(.runs, limit: 1).count == 1)
    }

    @Test func `the paths of a limited run are kept and outlive its end`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let limited = try await store.beginRun(
            direction: "pull",
            started: Timestamp(seconds: 5),
            remote: "r",
            paths: "a\nb/c"
        )
        _ = try await begin(store)
        #expect(try await store.rows(.runs, limit: 9).map(\.paths) == [nil, "a\nb/c"])
        let record = RunRecord(outcome: .complete, seconds: 1, counts: Sample.counts, message: nil)
        try await store.finishRun(limited, record)
        let long = try await store.beginRun(
            direction: "pull",
            started: Timestamp(seconds: 5),
            remote: "r",
            paths: String(repeating: "p", count: 5_000)
        )
        let runs = try await store.rows(.runs, limit: 9)
        #expect(runs.last?.paths == "a\nb/c")
        #expect(runs.first { $0.id == long }?.paths?.utf8.count == 4_096)
    }

    @Test func `numbers ascend, also after the store was opened again`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        #expect(try await begin(store) == RunID(1))
        try await store.checkpointAndClose()
        let again = try await directory.store()
        #expect(try await begin(again) == RunID(2))
    }

    @Test func `the oldest runs are dropped with their items`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let first = try await begin(store)
        let item = RunItem(key: "k", action: "skip", state: "skipped", message: nil)
        try await store.record(.addItems([item], first))
        for _ in 0..<1_000 { _ = try await begin(store) }
        let runs = try await store.rows(.runs, limit: 2_000)
        #expect(runs.count == 1_000)
        #expect(runs.last?.id == RunID(2))
        #expect(try await store.rows(.items(run: first), limit: 9).isEmpty)
    }

    @Test func `items are kept of the last twenty runs that have any`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let item = RunItem(key: "k", action: "skip", state: "skipped", message: nil)
        for _ in 0..<30 {
            let run = try await begin(store)
            try await store.record(.addItems(Array(repeating: item, count: 3), run))
        }
        // As of a timer that finds nothing to do.
        for _ in 0..<100 { _ = try await begin(store) }
        var kept: [Int64] = []
        for number in Int64(1)...30 {
            let count = try await store.rows(.items(run: RunID(number)), limit: 9).count
            if count == 3 { kept.append(number) } else { #expect(count == 0) }
        }
        #expect(kept == Array(11...30))
        #expect(try await store.rows(.runs, limit: 999).count == 130)
    }

    /// An earlier version kept the items of a thousand runs.
    @Test func `many old items are dropped in several runs`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let first = try await begin(store)
        let item = RunItem(key: "k", action: "skip", state: "skipped", message: nil)
        for _ in 0..<10 {
            try await store.record(
                .addItems(Array(repeating: item, count: 10_000), first)
            )
        }
        for _ in 0..<21 {
            let run = try await begin(store)
            try await store.record(.addItems([item], run))
        }
        // One beginning drops 16 batches of 4,096.
        let left = try await store.rows(.items(run: first), limit: 200_000)
        #expect(left.count == 100_000 - 16 * 4_096)
        _ = try await begin(store)
        #expect(try await store.rows(.items(run: first), limit: 9).isEmpty)
    }

    @Test func `items are numbered in order and read by a cursor`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let run = try await begin(store)
        let long = String(repeating: "é", count: 5_000)
        let items = (0..<7).map { index in
            RunItem(
                key: ObjectKey("k\(index)"),
                action: "delete-local",
                state: "failed",
                message: index == 6 ? long : index == 5 ? nil : "m\(index)"
            )
        }
        try await store.record(.addItems(Array(items[..<4]), run))
        try await store.record(.addItems(Array(items[4...]), run))
        var pages = store.pages(.items(run: run), limit: 5)
        let first = try #require(try await pages.next())
        #expect(first.map(\.number) == [1, 2, 3, 4, 5])
        #expect(first.map(\.item) == Array(items[..<5]))
        let rest = try #require(try await pages.next())
        #expect(rest.map(\.item.key) == ["k5", "k6"])
        #expect(rest.first?.item.message == nil)
        // Cut between characters, with room for the ellipsis.
        #expect(rest.last?.item.message == String(repeating: "é", count: 2_046) + "…")
    }

    @Test func `what is no direction, no word or no number is refused`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        func refusal(_ problem: String) -> ManifestError { .invalidValue(problem) }
        await #expect(throws: refusal("its direction is 'up', of '1' in the table run")) {
            try await store.beginRun(direction: "up", started: Timestamp(seconds: 1), remote: "")
        }
        let run = try await begin(store)
        await #expect(
            throws: refusal("its action is 'No Word', of 'k' in the table run_item")
        ) {
            let item = RunItem(key: "k", action: "No Word", state: "done", message: nil)
            try await store.record(.addItems([item], run))
        }
        await #expect(throws: refusal("its duration is not a number, of '1' in the table run")) {
            let record = RunRecord(
                outcome: .complete,
                seconds: .nan,
                counts: Sample.counts,
                message: nil
            )
            try await store.finishRun(run, record)
        }
        await #expect(throws: ManifestError.rejected("there is no run 99")) {
            let record = RunRecord(
                outcome: .complete,
                seconds: 0,
                counts: Sample.counts,
                message: nil
            )
            try await store.finishRun(RunID(99), record)
        }
    }
}

@Suite("Planned deletions")
struct PlannedDeletionTests {
    private func deletion(_ key: ObjectKey, _ side: DeletionSide) -> PlannedDeletion {
        PlannedDeletion(
            key: key,
            side: side,
            size: 12,
            etag: side == .remote ? ETag(wire: "tag") : nil,
            identity: side == .local && !key.isDirectoryMarker ? Sample.source : nil
        )
    }

    private func begin(_ store: ManifestStore) async throws -> RunID {
        try await store.beginRun(
            direction: "pull",
            started: Timestamp(seconds: 1),
            remote: "oss://b/"
        )
    }

    @Test func `each side is counted and read by itself`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let run = try await begin(store)
        let local = ["a", "b/", "b/c", "d"].map { deletion($0, .local) }
        let remote = ["a", "z"].map { deletion($0, .remote) }
        try await store.record((local + remote).map { .planDeletion($0, run) })
        try await store.record(.planDeletion(deletion("a", .local), run))
        let count = try await store.plannedDeletionCount(run: run)
        #expect(count == PlannedDeletionCount(local: 4, remote: 2))
        func page(after: ObjectKey?) async throws -> [PlannedDeletion] {
            try await store.rows(.deletions(run: run, side: .local, after: after), limit: 3)
        }
        #expect(try await page(after: nil) == Array(local[..<3]))
        #expect(try await page(after: "b/c") == Array(local[3...]))
        let other = try await store.rows(.deletions(run: run, side: .remote), limit: 9)
        #expect(other == remote)
    }

    @Test func `backwards, a directory comes after what it holds`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let run = try await begin(store)
        let keys: [ObjectKey] = ["b/", "b/c/", "b/c/d", "b/e"]
        try await store.record(keys.map { deletion($0, .local) }.map { .planDeletion($0, run) })
        var seen: [ObjectKey] = []
        let backwards = RowSelection.deletionsBackwards(run: run, side: .local)
        for try await page in store.pages(backwards, limit: 3) { seen += page.map(\.key) }
        #expect(seen == keys.reversed())
    }

    @Test func `a plan stays until its run or a later one drops it`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let first = try await begin(store)
        try await store.record(.planDeletion(deletion("a", .local), first))
        try await store.clearPlannedDeletions(run: first)
        #expect(try await store.plannedDeletionCount(run: first).local == 0)
        try await store.record(.planDeletion(deletion("a", .local), first))
        let second = try await begin(store)
        try await store.record(.planDeletion(deletion("b", .local), second))
        #expect(try await store.lastPlannedRun(before: first) == nil)
        #expect(try await store.lastPlannedRun(before: second) == first)
        try await store.dropPlannedDeletions(before: second)
        #expect(try await store.lastPlannedRun(before: second) == nil)
        #expect(try await store.plannedDeletionCount(run: first).local == 0)
        #expect(try await store.plannedDeletionCount(run: second).local == 1)
    }

    @Test func `a path longer than any key can be planned`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let run = try await begin(store)
        let long = deletion(ObjectKey([UInt8](repeating: 0x61, count: 131_072)), .local)
        try await store.record(.planDeletion(long, run))
        let found = try await store.rows(.deletions(run: run, side: .local), limit: 1)
        #expect(found == [long])
    }
}

@Suite("Settings")
struct SettingTests {
    @Test func `settings are kept, replaced and removed`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        #expect(try await store.setting("remote.bucket") == nil)
        try await store.setSettings([("remote.bucket", "one"), ("remote.prefix", "p/\u{0}é")])
        try await store.setSetting("remote.bucket", "two")
        #expect(try await store.setting("remote.bucket") == "two")
        #expect(try await store.setting("remote.prefix") == "p/\u{0}é")
        try await store.setSetting("remote.bucket", nil)
        #expect(try await store.setting("remote.bucket") == nil)
        try await store.checkpointAndClose()
        let again = try await directory.store()
        #expect(try await again.setting("remote.prefix") == "p/\u{0}é")
    }

    @Test func `settings of one call are set together or not at all`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let tooLong = String(repeating: "x", count: 65_537)
        await #expect(throws: ManifestError.self) {
            try await store.setSettings([("a", "1"), ("b", tooLong)])
        }
        #expect(try await store.setting("a") == nil)
    }
}
