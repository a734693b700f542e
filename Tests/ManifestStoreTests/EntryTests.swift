import ManifestStore
import SyncModel
import SyncTestSupport
import Testing

@Suite("Entries")
struct EntryTests {
    @Test func `an entry comes back as it was recorded, with every optional value or none`()
        async throws
    {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let bare = ManifestEntry(
            key: "bare",
            size: 0,
            etag: ETag(wire: "\"\"quoted\"\""),
            crc64: nil,
            lastModified: nil,
            storageClass: .standard,
            localModified: Timestamp(seconds: 0),
            inode: 0
        )
        let full = Sample.entry("full", inode: UInt64.max)
        try await store.record([.upsert(bare), .upsert(full)])
        #expect(try await store.entry("bare") == bare)
        #expect(try await store.entry("full") == full)
        #expect(try await store.entry("fulL") == nil)
        #expect(try await store.entryCount() == 2)
    }

    @Test func `entries are found by inode, page by page`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        var entries = (10..<30).map { Sample.entry(ObjectKey("k\($0)"), inode: UInt64($0)) }
        entries.append(Sample.entry("k12a", inode: 12))
        entries.append(Sample.entry("k13a", size: 7, inode: 13))
        try await store.record(entries.map { .upsert($0) })
        for (range, expected) in [
            (KeyRange.all, ["k12", "k12a", "k13", "k13a", "k28"]),
            (KeyRange(prefix: "k1"), ["k12", "k12a", "k13", "k13a"]),
        ] {
            var found: [String] = []
            var last: ObjectKey?
            var pages = 0
            repeat {
                let page = try await store.entries(
                    inodes: [12, 13, 28],
                    in: range,
                    after: last,
                    scanning: 4
                )
                found += page.entries.map(\.key.display)
                last = page.last
                pages += 1
            } while last != nil
            #expect(found == expected && pages > 2)
        }
    }

    @Test func `that an entry came through a link comes back, and can end`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        func entry(isThroughLink: Bool) -> ManifestEntry {
            ManifestEntry(
                key: "k",
                size: 1,
                etag: ETag(wire: "e"),
                crc64: nil,
                lastModified: nil,
                storageClass: .standard,
                localModified: Timestamp(seconds: 1),
                inode: 1,
                isThroughLink: isThroughLink
            )
        }
        for isThroughLink in [true, false, true] {
            let entry = entry(isThroughLink: isThroughLink)
            try await store.record([.upsert(entry)])
            #expect(try await store.entry("k") == entry)
        }
    }

    @Test func `that an entry is of a symbolic link comes back, and can end`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        for isLink in [true, false, true] {
            let entry = ManifestEntry(
                key: "l.rclonelink",
                size: 1,
                etag: ETag(wire: "e"),
                crc64: nil,
                lastModified: nil,
                storageClass: .standard,
                localModified: Timestamp(seconds: 1),
                inode: 1,
                isLink: isLink
            )
            try await store.record([.upsert(entry)])
            #expect(try await store.entry("l.rclonelink") == entry)
            #expect(try entry.path.isLink == isLink)
        }
    }

    @Test func `what was fetched of an object is known of that version until it is dropped`()
        async throws
    {
        let directory = try StateDirectory()
        let store = try await directory.store()
        #expect(try await !store.hasFetchedContents())
        let first = FetchedContent(
            key: "k",
            size: 5,
            etag: ETag(wire: "a-2"),
            crc64: CRC64(value: UInt64.max)
        )
        let second = FetchedContent(
            key: "k",
            size: 6,
            etag: ETag(wire: "b-2"),
            crc64: CRC64(value: 7)
        )
        for content in [first, second] {
            try await store.record(.note(content))
            #expect(try await store.first(.fetchedContent("k")) == content)
        }
        #expect(try await store.first(.fetchedContent("l")) == nil)
        #expect(try await store.hasFetchedContents())
        try await store.dropFetchedContents()
        #expect(try await store.first(.fetchedContent("k")) == nil)
        try await store.record(.note(first))
        try await store.beginAnew([("bucket", "new")], keepsUploads: false)
        #expect(try await store.first(.fetchedContent("k")) == nil)
    }

    @Test func `a store begun anew knows nothing but its new settings`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record([.upsert(Sample.entry("a")), .upsert(Sample.entry("b"))])
        try await store.setSettings([("bucket", "old"), ("kept", "yes")])
        try await store.beginAnew([("bucket", "new")], keepsUploads: false)
        #expect(try await store.entryCount() == 0)
        #expect(try await store.rows(.entries(in: .all), limit: 10).isEmpty)
        #expect(try await store.setting("bucket") == "new")
        #expect(try await store.setting("kept") == "yes")
    }

    @Test(arguments: [
        Timestamp(seconds: -1, nanoseconds: 999_999_999),
        Timestamp(seconds: Int64.min, nanoseconds: 0),
        Timestamp(seconds: Int64.max, nanoseconds: 1),
        Timestamp(seconds: 253_402_300_800, nanoseconds: 123_456_789),
    ])
    func `times beyond 64 bits of nanoseconds come back exactly`(time: Timestamp) async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let entry = ManifestEntry(
            key: "k",
            size: 1,
            etag: ETag(wire: "e"),
            crc64: nil,
            lastModified: time,
            storageClass: .standard,
            localModified: time,
            inode: 1
        )
        try await store.record([.upsert(entry)])
        #expect(try await store.entry("k") == entry)
    }

    @Test func `keys are ordered and told apart by their bytes`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let keys: [ObjectKey] = [
            ObjectKey([0x01]), "a", "a\u{0}b", "a-b", "a/", "a/b", "a0", "e\u{301}", "\u{e9}",
            ObjectKey([0xFF, 0xFE]),
        ]
        try await store.record(keys.reversed().map { .upsert(Sample.entry($0)) })
        let stored = try await store.rows(.entries(in: .all), limit: 100)
        #expect(stored.map(\.key) == keys)
        #expect(stored.map(\.key) == keys.sorted())
    }

    @Test(arguments: [1, 2, 3, 7, 50])
    func `a cursor passes every entry once, whatever the size of a page`(limit: Int) async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let keys = (0..<23).map { ObjectKey("k" + String($0, radix: 3)) }.sorted()
        try await store.record(keys.map { .upsert(Sample.entry($0)) })
        var seen: [ObjectKey] = []
        while true {
            let page = try await store.rows(.entries(in: .all, after: seen.last), limit: limit)
            #expect(page.count <= limit)
            seen += page.map(\.key)
            if page.count < limit { break }
        }
        #expect(seen == keys)
    }

    @Test(arguments: UInt64(0)..<20)
    func `ranges have and count the entries of a naive filter`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let directory = try StateDirectory()
        let store = try await directory.store()
        let names: [ObjectKey] = [
            "a", "a-", "a/", "a/b", "a0", "a/b/c", "a\u{0}", "b", ObjectKey([0xFF]),
            ObjectKey([0xFF, 0x01]), ObjectKey([0x61, 0x2F, 0xFF]),
        ]
        let keys = names.filter { _ in Bool.random(using: &generator) }.sorted()
        try await store.record(keys.map { .upsert(Sample.entry($0)) })
        for name in names {
            let ranges: [KeyRange] = [
                KeyRange(name), KeyRange(prefix: name), KeyRange(after: name, through: nil),
                KeyRange(after: "a", through: name), .all,
            ]
            for range in ranges {
                let expected = keys.filter(range.contains)
                let found = try await store.rows(.entries(in: range), limit: 100)
                #expect(found.map(\.key) == expected)
                let later = try await store.rows(.entries(in: range, after: "a/"), limit: 2)
                #expect(later.map(\.key) == Array(expected.filter { "a/" < $0 }.prefix(2)))
                #expect(try await store.entryCount(in: range) == expected.count)
            }
        }
    }

    @Test func `a part of the keys is bounded after its first and with its last`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record(["a", "b", "c", "d"].map { .upsert(Sample.entry($0)) })
        let middle = try await store.rows(
            .entries(in: KeyRange(after: "a", through: "c")),
            limit: 10
        )
        #expect(middle.map(\.key) == ["b", "c"])
        #expect(try await store.rows(.entries(in: KeyRange("a")), limit: 10).count == 1)
        #expect(try await store.rows(.entries(in: .all, after: "d"), limit: 10).isEmpty)
        let none = KeyRange(after: "c", through: "b")
        #expect(try await store.rows(.entries(in: none), limit: 10).isEmpty)
    }

    @Test func `a later record replaces an earlier one, and forgetting removes it`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record([.upsert(Sample.entry("a", size: 1, etag: "one", inode: 1))])
        try await store.record([.upsert(Sample.entry("a", size: 2, etag: "two", inode: 2))])
        #expect(try await store.entry("a") == Sample.entry("a", size: 2, etag: "two", inode: 2))
        #expect(try await store.rows(.entries(size: 1), limit: 9).isEmpty)
        #expect(try await store.rows(.entries(inode: 1, size: 1), limit: 9).isEmpty)
        try await store.record([.forget("a"), .forget("never")])
        #expect(try await store.entry("a") == nil)
        #expect(try await store.entryCount() == 0)
    }

    @Test func `content is found by ETag, by inode and by size`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let entries = [
            Sample.entry("a", size: 10, etag: "x", inode: 1),
            Sample.entry("b", size: 10, etag: "y", inode: 2),
            Sample.entry("c", size: 20, etag: "x", inode: 1),
            Sample.entry("d/", size: 10, etag: "x", inode: 0),
        ]
        try await store.record(entries.map { .upsert($0) })
        func keys(_ found: [ManifestEntry]) -> Set<ObjectKey> { Set(found.map(\.key)) }
        let x = ETag(wire: "x")
        #expect(keys(try await store.rows(.entries(etag: x, size: 10), limit: 9)) == ["a", "d/"])
        #expect(try await store.rows(.entries(etag: x, size: 10), limit: 1).count == 1)
        #expect(keys(try await store.rows(.entries(inode: 1, size: 20), limit: 9)) == ["c"])
        #expect(keys(try await store.rows(.entries(size: 10), limit: 9)) == ["a", "b", "d/"])
        // Inode 0 stands for "none" and finds nothing.
        #expect(try await store.rows(.entries(inode: 0, size: 10), limit: 9).isEmpty)
    }

    @Test func `smaller entries than the least searchable size are found by their keys only`()
        async throws
    {
        let directory = try StateDirectory()
        let (store, _) = try await directory.open(smallestSearchable: 100)
        try await store.record([
            .upsert(Sample.entry("less", size: 99, etag: "x", inode: 1)),
            .upsert(Sample.entry("least", size: 100, etag: "x", inode: 1)),
        ])
        func found(_ size: Int64) async throws -> [[ObjectKey]] {
            [
                try await store.rows(.entries(size: size), limit: 9).map(\.key),
                try await store.rows(.entries(etag: ETag(wire: "x"), size: size), limit: 9).map(
                    \.key
                ),
                try await store.rows(.entries(inode: 1, size: size), limit: 9).map(\.key),
            ]
        }
        #expect(try await found(99) == [[], [], []])
        #expect(try await found(100) == [["least"], ["least"], ["least"]])
        #expect(try await store.entry("less")?.size == 99)
        // As a file grows and shrinks.
        try await store.record([
            .upsert(Sample.entry("less", size: 100, etag: "x", inode: 1)),
            .upsert(Sample.entry("least", size: 99, etag: "x", inode: 1)),
        ])
        #expect(try await found(99) == [[], [], []])
        #expect(try await found(100) == [["less"], ["less"], ["less"]])
    }

    @Test(arguments: [
        ManifestChange.upsert(Sample.entry("")),
        .upsert(Sample.entry(ObjectKey([UInt8](repeating: 0x61, count: 1_025)))),
        .upsert(Sample.entry("a", size: -1)),
        .upsert(Sample.entry("a", etag: String(repeating: "e", count: 1_025))),
    ])
    func `a value beyond the limits is refused and nothing of its call is written`(
        change: ManifestChange
    ) async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let error = await #expect(throws: ManifestError.self) {
            try await store.record([.upsert(Sample.entry("good")), change])
        }
        guard case .invalidValue = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await store.entryCount() == 0)
        #expect(await store.transactionCount == 0)
    }

    @Test func `a key of 1,024 bytes and an ETag of as many are kept`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let entry = Sample.entry(
            ObjectKey([UInt8](repeating: 0xFF, count: 1_024)),
            size: Int64.max,
            etag: String(repeating: "é", count: 512)
        )
        try await store.record([.upsert(entry)])
        #expect(try await store.entry(entry.key) == entry)
    }
}
