import SyncModel
import SyncPlanner
import Testing

@Suite("Marks of damage")
struct DamageMarksTests {
    private func row(_ key: String, _ checksum: UInt64 = 1, inode: UInt64 = 2) -> ManifestEntry {
        ManifestEntry(
            key: ObjectKey(key),
            size: 3,
            etag: ETag(wire: "e"),
            crc64: CRC64(value: checksum),
            lastModified: nil,
            storageClass: .standard,
            localModified: Timestamp(seconds: 1),
            inode: inode
        )
    }

    @Test func `are read as they were written`() {
        var marks = DamageMarks()
        #expect(marks.text.isEmpty && !marks.covers(row("a")))
        for key in ["b", "a", "line\nend \u{FC}"] { marks.add(row(key, .max)) }
        let read = DamageMarks(text: marks.text)
        #expect(read == marks)
        #expect(read.keys.map(\.bytes) == marks.keys.map(\.bytes) && read.keys.count == 3)
        #expect(read.covers(row("a", .max)))
        // The file was written anew, or its row is another one.
        #expect(!read.covers(row("a", .max, inode: 9)))
        #expect(!read.covers(row("a", 7)) && !read.covers(row("c", .max)))
        marks.remove(ObjectKey("a"))
        #expect(!marks.covers(row("a", .max)))
    }

    @Test(arguments: ["*", "zz 1 2", "61 1", "61 g 2", "6 1 2"])
    func `that cannot be read cover every file`(text: String) {
        let marks = DamageMarks(text: text)
        #expect(marks.areTooMany && marks.covers(row("a")))
        #expect(marks.text == "*")
    }

    @Test func `are bounded, and beyond the bound cover every file`() {
        var marks = DamageMarks()
        for index in 0..<900 {
            marks.add(row("directory/\(index)"))
        }
        #expect(marks.text.utf8.count <= 60_000)
        #expect(!marks.areTooMany && marks.keys.count == 900)
        for index in 900..<1_000 { marks.add(row("directory/\(index)")) }
        #expect(marks.areTooMany && marks.covers(row("other")))
        #expect(DamageMarks(text: marks.text).areTooMany)
    }
}
