import SyncModel
import Testing

@testable import ManifestStore

@Suite("Split keys")
struct SplitKeyTests {
    private func store(
        _ directory: StateDirectory,
        keys: [ObjectKey]
    ) async throws -> ManifestStore {
        let store = try await directory.store()
        try await store.record(keys.map { .upsert(Sample.entry($0)) })
        return store
    }

    @Test(arguments: [(0, 4), (1, 4), (3, 4), (10, 1), (10, 0), (10, 3), (100, 8), (100, 100)])
    func `few entries are cut exactly`(count: Int, parts: Int) async throws {
        let directory = try StateDirectory()
        let keys = (0..<count).map { ObjectKey("k\($0 + 1_000)") }
        let store = try await store(directory, keys: keys)
        let cuts = try await store.splitKeys(count: parts)
        #expect(cuts.count == max(0, min(parts, count + 1) - 1) || cuts.count < parts)
        #expect(cuts == cuts.sorted() && Set(cuts).count == cuts.count)
        // A part ends with its cut.
        var sizes: [Int] = []
        var rest = keys[...]
        for cut in cuts {
            let part = rest.prefix { $0 <= cut }
            sizes.append(part.count)
            rest = rest.dropFirst(part.count)
        }
        sizes.append(rest.count)
        guard count >= parts, parts > 1 else { return }
        #expect(cuts.count == parts - 1)
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
    }

    @Test func `many entries are cut evenly by their sample`() async throws {
        let directory = try StateDirectory()
        // Most keys share one long beginning, as in a directory of photographs.
        let keys = (0..<28_000).map { index in
            ObjectKey(index % 10 == 0 ? "z\(index)" : "photos/2024/IMG_\(100_000 + index)")
        }
        let store = try await store(directory, keys: keys)
        let isSampled = try await store.withConnection { connection throws(ManifestError) in
            try connection.count(.countSample) >= 3 * 32
        }
        #expect(isSampled)
        let cuts = try await store.splitKeys(count: 3)
        #expect(cuts.count == 2)
        var sizes = [0, 0, 0]
        for key in keys { sizes[cuts.filter { $0 < key }.count] += 1 }
        for size in sizes { #expect((6_500...12_500).contains(size), "\(sizes)") }
    }

    @Test func `the sample follows entries that go and come`() async throws {
        let directory = try StateDirectory()
        let keys = (0..<5_000).map { ObjectKey("k\($0)") }
        let sampled = keys.filter { ManifestEntry.isSample($0) }.count
        let store = try await store(directory, keys: keys)
        func count() async throws -> Int {
            try await store.withConnection { connection throws(ManifestError) in
                try connection.count(.countSample)
            }
        }
        #expect(sampled > 5)
        #expect(try await count() == sampled)
        try await store.record(keys.map { .upsert(Sample.entry($0, size: 2)) })
        #expect(try await count() == sampled)
        try await store.record(keys.map { .forget($0) })
        #expect(try await count() == 0)
    }
}
