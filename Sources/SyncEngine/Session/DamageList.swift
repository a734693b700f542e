internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// The damaged rows of one shard, in files that the runs of the other shards read; or of one state
/// of a directory, for the runs of the others, which have rows of the same files.
///
/// A state keeps them in the mirrors around its directory, too, and reads what is there of those:
/// what one of two nested mirrors has found damaged is not sent by the other.
///
/// 1. Each row gets a number, greater than any that this shard has used.
/// 2. Each shard notes up to which number of the others it has looked for other names of what
///    was damaged.
/// 3. A row whose file has good content again stays until every other shard has searched for its
///    other names, and until a run of the whole mirror has sent all there is: the damaged file may
///    have got another name before.
final class DamageList: Sendable {
    private static let rowsInFile = 256
    /// In place of a number, in the name of the file that says what a shard has searched.
    private static let searched = "searched"

    private struct Added {
        /// The number of the file that has the last rows.
        var file: Int
        /// Those that were added since the list was opened.
        var rows: [DamageFile.Row]
        /// The number of the next row.
        var next: Int
    }

    /// What all shards have written.
    private struct Contents {
        /// The numbers of this shard's files.
        var files: [Int] = []
        var rows: [String: [DamageFile.Row]] = [:]
        var searched: [String: [String: Int]] = [:]
    }

    /// What a manifest had that is lost.
    let own: [ManifestEntry]
    /// The same with what has good content again: the damaged file may have another name.
    let known: [ManifestEntry]
    /// The rows of the other shards whose files are damaged, or may have another name here.
    let others: [ManifestEntry]
    /// Those whose other names this shard has not looked for yet.
    let unsearched: [ManifestEntry]
    private let files: FolderOfShards
    /// The highest number of each other shard, when the list was opened.
    private let found: [String: Int]
    private let added: Mutex<Added>

    static let folder = "damaged"

    init(_ files: FolderOfShards) throws {
        self.files = files
        let contents = try Self.contents(files)
        let own = files.own
        let searched = contents.searched[own] ?? [:]
        known = (contents.rows[own] ?? []).map(\.entry)
        self.own = known.filter(\.isDamaged)
        let rows = contents.rows.filter { $0.key != own }
        found = rows.compactMapValues { rows in rows.map(\.number).max() }
        let new = rows.flatMap { shard, rows in
            rows.filter { $0.number > searched[shard] ?? 0 }.map(\.entry)
        }
        unsearched = new
        others =
            rows.values.flatMap { $0 }.map(\.entry).filter(\.isDamaged)
            + new.filter { !$0.isDamaged }
        let used =
            (contents.rows[own] ?? []).map(\.number)
            + contents.searched.values.compactMap { $0[own] }
        added = Mutex(
            Added(
                file: (contents.files.max() ?? -1) + 1,
                rows: [],
                next: (used.max() ?? 0) + 1
            )
        )
    }

    /// The parts of a file's name: nil for any other, as that of a write that was killed.
    private static func parts(of name: String) -> (shard: String, file: String)? {
        let parts = name.utf8.split(separator: UInt8(ascii: "-")).map { String(Substring($0)) }
        guard parts.count == 2, !parts[0].hasPrefix("."),
            parts[1] == searched || Int(parts[1]) != nil
        else { return nil }
        return (parts[0], parts[1])
    }

    /// Another run may write its files anew meanwhile, and rows move to files that were read
    /// before: then everything is read once more.
    private static func contents(_ files: FolderOfShards) throws -> Contents {
        for _ in 0..<4 {
            if let contents = try wholeContents(files) { return contents }
        }
        throw TransferError(
            code: .localState,
            message: "the lists of damaged files change all the time; "
                + "nothing was changed. Run again when fewer shards run"
        )
    }

    /// Nil if a file went away.
    private static func wholeContents(_ files: FolderOfShards) throws -> Contents? {
        var contents = Contents()
        for folder in [files] + files.around {
            // One that is between these two mirrors was read already.
            let known = contents.rows
            for name in try folder.names() {
                guard let parts = parts(of: name) else { continue }
                let isOwn = parts.shard == files.own
                if isOwn, !folder.prefix.isEmpty { continue }
                if isOwn, let number = Int(parts.file) { contents.files.append(number) }
                if parts.file == searched {
                    guard folder.prefix.isEmpty else { continue }
                    let file: SearchedFile? = try folder.read(name, advice: "Remove it")
                    // One that goes says that nothing is to be searched.
                    contents.searched[parts.shard] = file?.numbers
                } else if known[parts.shard] == nil {
                    let file: DamageFile? = try folder.read(name, advice: advice(files))
                    guard let file else { return nil }
                    let rows = file.rows.compactMap { $0.within(folder.prefix) }
                    contents.rows[parts.shard, default: []] += rows
                }
            }
        }
        return contents
    }

    private static func advice(_ files: FolderOfShards) -> String {
        files.isOfStates
            ? "Remove it, and run 'osssync verify' with each state of the directory"
            : "Remove it, and run the shard of its number with --checksum"
    }

    private func name(_ file: Int) -> String { "\(files.own)-\(file)" }

    func add(_ row: ManifestEntry) throws {
        try added.withLock { added in
            if added.rows.count == Self.rowsInFile {
                (added.file, added.rows) = (added.file + 1, [])
            }
            added.rows.append(DamageFile.Row(number: added.next, entry: row))
            added.next += 1
            try write(added.file, added.rows)
        }
    }

    /// Notes that this shard has looked for other names of what the others had when the list was
    /// opened.
    func noteSearched() throws {
        let name = files.own + "-" + Self.searched
        let file: SearchedFile? = try files.read(name, advice: "Remove it")
        guard file?.numbers ?? [:] != found else { return }
        if found.isEmpty {
            try files.remove(name)
        } else {
            try files.write(name, SearchedFile(numbers: found))
        }
    }

    /// Makes the list what the manifest has, nothing if that is nil, and what others are still to
    /// look for; with `keepsRepaired`, also what has good content again.
    func write(_ manifest: ManifestStore?, keepsRepaired: Bool) async throws {
        let contents = try Self.contents(files)
        let own = files.own
        let others = try files.shards().filter { $0 != own }
        let searched = others.map { contents.searched[$0]?[own] ?? 0 }.min() ?? .max
        var old = Dictionary(grouping: contents.rows[own] ?? [], by: \.entry.key)
        var next = added.withLock(\.next)
        var rows: [DamageFile.Row] = []
        var count = 0
        if let manifest {
            for try await page in manifest.pages(.damagedEntries, limit: Self.rowsInFile) {
                for entry in page {
                    let index = old[entry.key]?.firstIndex { $0.entry.inode == entry.inode }
                    if let known = index.flatMap({ old[entry.key]?.remove(at: $0) }) {
                        rows.append(DamageFile.Row(number: known.number, entry: entry))
                    } else {
                        rows.append(DamageFile.Row(number: next, entry: entry))
                        next += 1
                    }
                }
                try writeFull(&rows, &count)
            }
        }
        let left = old.values.joined().sorted { $0.number < $1.number }
        for row in left where keepsRepaired || row.number > searched {
            rows.append(DamageFile.Row(number: row.number, entry: row.entry.replacing()))
        }
        try writeFull(&rows, &count)
        if !rows.isEmpty {
            try write(count, rows)
            count += 1
        }
        for number in contents.files where number >= count {
            try files.remove(name(number))
            for folder in files.around { try? folder.remove(name(number)) }
        }
        added.withLock { $0 = Added(file: count, rows: [], next: next) }
    }

    private func write(_ file: Int, _ rows: [DamageFile.Row]) throws {
        try files.write(name(file), DamageFile(rows: rows))
        // A mirror around this one that cannot be told now is told by the next change.
        for folder in files.around {
            let rows = rows.map { $0.around(folder.prefix) }
            try? folder.write(name(file), DamageFile(rows: rows))
        }
    }

    /// Writes as many files as the rows fill.
    private func writeFull(_ rows: inout [DamageFile.Row], _ count: inout Int) throws {
        while rows.count >= Self.rowsInFile {
            try write(count, Array(rows.prefix(Self.rowsInFile)))
            rows.removeFirst(Self.rowsInFile)
            count += 1
        }
    }
}

/// Some rows of a shard's list: what a file is compared with.
struct DamageFile: StateFile, Hashable {
    static let heading = "osssync-damaged 1"

    let rows: [Row]

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        Self(rows: try fields("rows", value?.rows))
    }

    struct Row: JSONObject, Hashable {
        let number: Int
        /// Not damaged: its file has good content again.
        let entry: ManifestEntry

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            let row = value?.entry
            return Self(
                number: try fields("number", value?.number),
                entry: ManifestEntry(
                    key: try fields("key", row?.key),
                    size: try fields("size", row?.size),
                    etag: ETag(wire: try fields.optional("etag", row?.etag.text) ?? ""),
                    crc64: try fields("crc64", row?.crc64),
                    lastModified: nil,
                    storageClass: .standard,
                    localModified: try fields("modified", row?.localModified),
                    inode: try fields("inode", row?.inode),
                    changed: try fields.optional("changed", row?.changed),
                    isDamaged: try fields("damaged", row?.isDamaged)
                )
            )
        }

        /// The same for a mirror around this one, in which names begin with `prefix`.
        func around(_ prefix: [UInt8]) -> Row { named(ObjectKey(prefix + entry.key.bytes)) }

        /// The same for the mirror within whose names begin with `prefix`; nil for what is outside.
        func within(_ prefix: [UInt8]) -> Row? {
            guard entry.key.bytes.starts(with: prefix) else { return nil }
            return named(ObjectKey([UInt8](entry.key.bytes.dropFirst(prefix.count))))
        }

        private func named(_ key: ObjectKey) -> Row {
            var entry = entry
            entry.key = key
            return Row(number: number, entry: entry)
        }
    }
}

/// Up to which number of each other shard's rows one shard has looked for other names.
struct SearchedFile: StateFile, Hashable {
    static let heading = "osssync-searched 1"

    let numbers: [String: Int]

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        let items = value?.numbers.map { Item(shard: $0.key, number: $0.value) }
        return Self(
            numbers: Dictionary(
                try fields("shards", items).map { ($0.shard, $0.number) },
                uniquingKeysWith: max
            )
        )
    }

    private struct Item: JSONObject {
        let shard: String
        let number: Int

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            Self(
                shard: try fields("shard", value?.shard),
                number: try fields("number", value?.number)
            )
        }
    }
}
