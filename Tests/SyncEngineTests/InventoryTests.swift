import ObjectTransfer
import SyncModel
import SyncTestSupport
import Testing

@testable import SyncEngine

/// What is read of an inventory, without its files.
@Suite("Inventories")
struct InventoryTests {
    private static let columns = InventoryColumns.known("Bucket, Key, Size")

    private static func manifest(_ changes: [String: String] = [:]) throws(SyncError)
        -> InventoryManifest
    {
        var members = [
            "sourceBucket": "\"media\"", "fileFormat": "\"CSV\"",
            "fileSchema": "\"Bucket, Key, Size, ETag\"",
            "files": "[{\"key\": \"i/data/a.csv.gz\", \"size\": 3, "
                + "\"MD5checksum\": \"F77449179760C3B13F1E76110F07ABCD\"}]",
        ]
        members.merge(changes) { $1 }
        let text = members.map { "\"\($0)\": \($1)" }.joined(separator: ", ")
        return try InventoryManifest([UInt8]("{\(text)}".utf8), name: "m")
    }

    private static func rows(
        _ text: String,
        _ columns: InventoryColumns = columns,
        pieces: Int = 1_000
    ) throws -> [String] {
        var rows = InventoryRows(columns, bucket: "media", prefix: "p/", name: "f")
        var found: [String] = []
        let bytes = [UInt8](text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            try rows.read(bytes[start..<min(bytes.count, start + pieces)]) { key, size in
                found.append("\(key.display) \(size)")
            }
        }
        try rows.finish { key, size in found.append("\(key.display) \(size)") }
        return found
    }

    @Test func `a manifest tells the columns and the files with their checksums`() throws {
        let manifest = try Self.manifest()
        #expect(manifest.sourceBucket == "media")
        #expect(manifest.columns == InventoryColumns.known("Bucket,Key,Size,ETag"))
        #expect(manifest.files.map(\.name) == ["a.csv.gz"])
        #expect(manifest.files.first?.md5.prefix(2) == [0xF7, 0x74])
    }

    @Test(arguments: [
        ("fileFormat", "\"ORC\"", "choose CSV"), ("fileFormat", "\"Parquet\"", "choose CSV"),
        ("fileSchema", "\"Bucket, Key\"", "without the column Size"),
        ("fileSchema", "\"Bucket, Size\"", "without the column Key"),
        ("sourceBucket", "1", "it has no sourceBucket"), ("files", "null", "it has no files"),
        ("files", "[{\"key\": \"a\"}]", "a file without key or MD5checksum"),
        ("files", "[{\"key\": \"a\", \"MD5checksum\": \"+1\"}]", "without key or MD5checksum"),
    ])
    func `a manifest that cannot be used says why`(name: String, value: String, said: String) {
        let error = #expect(throws: SyncError.self) { try Self.manifest([name: value]) }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains(said) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [1, 2, 5, 1_000])
    func `keys are decoded, and only those below the prefix are given`(pieces: Int) throws {
        let lines = [
            #""media","p/a+b%2B%C3%BC","12""#, "media,q/x,5", #""media","p/",0"#,
            #""media","p/""quoted""","7""# + "\r", "media,p/last,9",
        ]
        let text = lines.joined(separator: "\n")
        #expect(
            try Self.rows(text, pieces: pieces)
                == ["a b+\u{FC} 12", "\"\"quoted\"\" 7", "last 9"]
        )
    }

    @Test func `older versions and delete markers are left out`() throws {
        let columns = InventoryColumns.known(
            "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size"
        )
        let lines = [
            "media,p/new,v2,true,false,1", "media,p/new,v1,false,false,2",
            "media,p/gone,v2,true,true,", "media,p/gone,v1,false,false,3", "",
        ]
        let text = lines.joined(separator: "\n")
        #expect(try Self.rows(text, columns) == ["new 1"])
    }

    @Test(arguments: [
        ("media,p/a", 1, "it has 2 columns"), ("media,p/a,1\nmedia,p/b,1,2\n", 2, "4 columns"),
        ("other,p/a,1", 1, "the bucket 'other'"), ("media,p/%4,1", 1, "not URL-encoded"),
        ("media,,1", 1, "not URL-encoded"), ("media,p/a,-1", 1, "'-1' is not a size"),
        ("media,p/a,", 1, "'' is not a size"), ("media,p/a,1e3", 1, "not a size"),
        ("media,\"p/a,1", 1, "a quotation mark is not closed"),
        ("\n\nmedia,\"p/a\"b,1", 3, "a quotation mark is not closed"),
    ])
    func `a broken line is named`(text: String, line: Int, said: String) {
        let error = #expect(throws: SyncError.self) { try Self.rows(text) }
        #expect(error?.message.hasPrefix("'f', line \(line): ") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(said) == true, "\(error?.message ?? "")")
    }

    @Test func `a line without end is refused before it fills the memory`() {
        let error = #expect(throws: SyncError.self) {
            try Self.rows(String(repeating: "x", count: 100_000))
        }
        #expect(error?.message.contains("longer than") == true)
    }

    @Test(arguments: UInt64(0)..<50)
    func `keys in any order are counted as those in order are`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let names = Set((0..<200).map { _ in Int.random(in: 0..<100_000, using: &generator) })
        let keys = names.map { ObjectKey("k\($0)") }.sorted()
        var ordered = KeySample(limit: 32)
        for key in keys { ordered.add(key, size: Int64(key.bytes.count)) }
        var shuffled = KeySample(limit: 32)
        let other = keys.shuffled(using: &generator)
        for key in other { shuffled.add(key, size: Int64(key.bytes.count)) }
        var recount = shuffled.recounting()
        for key in other { recount.add(key, size: Int64(key.bytes.count)) }
        #expect(recount.sample.points == ordered.points)
        #expect(recount.sample.objects == ordered.objects)
        #expect(recount.sample.bytes == ordered.bytes)
    }

    @Test func `an array takes as long as its slowest task`() {
        let shards = [(0, 1_000), (1, 3_000), (2, 1_000), (3, 1_000)].map { number, objects in
            ShardReport(number: number, firstKey: [], endKey: nil, objects: objects, bytes: 0)
        }
        #expect(ShardReport.assumedDuration(of: shards, tasks: 1) == .seconds(6))
        #expect(ShardReport.assumedDuration(of: shards, tasks: 2) == .seconds(4))
        #expect(ShardReport.assumedDuration(of: shards, tasks: 8) == .seconds(3))
        let unknown = ShardReport(number: 0, firstKey: [], endKey: nil, objects: nil, bytes: nil)
        #expect(ShardReport.assumedDuration(of: [unknown], tasks: 1) == nil)
    }
}

extension InventoryColumns {
    fileprivate static func known(_ schema: String) -> InventoryColumns {
        do {
            return try InventoryColumns(schema: schema, name: "m")
        } catch {
            preconditionFailure("the schema has all columns")
        }
    }
}
