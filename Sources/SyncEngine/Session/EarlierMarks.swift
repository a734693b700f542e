internal import ManifestStore
internal import SyncModel

/// Marks of damage as they were before the rows had them.
enum EarlierMarks {
    /// A line for each, or `*` for all files.
    private static let setting = "verify.damaged"
    private static let rowsAtOnce = 1_000

    /// Gives the rows the marks that an earlier version left beside them.
    ///
    /// What cannot be read marks all files: each is then read once.
    static func give(to manifest: ManifestStore) async throws(ManifestError) {
        guard let text = try await manifest.setting(setting) else { return }
        if let marks = EarlierMark.all(in: text) {
            var changes: [ManifestChange] = []
            for mark in marks {
                guard let row = try await manifest.entry(mark.key), mark.covers(row) else {
                    continue
                }
                changes.append(.upsert(row.replacing(isDamaged: true)))
            }
            try await manifest.record(changes)
        } else {
            try await markAll(manifest)
        }
        try await manifest.setSetting(setting, nil)
    }

    private static func markAll(_ manifest: ManifestStore) async throws(ManifestError) {
        var last: ObjectKey?
        while true {
            let rows = try await manifest.entries(in: .all, after: last, limit: rowsAtOnce)
            guard let end = rows.last else { return }
            last = end.key
            let files = rows.filter { $0.crc64 != nil && !RelativePath.isDirectory($0.key) }
            try await manifest.record(files.map { .upsert($0.replacing(isDamaged: true)) })
        }
    }
}

/// A damaged file as a line of the setting has it: key, checksum and inode of its row.
private struct EarlierMark {
    let key: ObjectKey
    let checksum: UInt64
    let inode: UInt64

    /// Nil if the text is not of lines.
    static func all(in text: String) -> [EarlierMark]? {
        var marks: [EarlierMark] = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count == 3, let key = bytes(fields[0]),
                let checksum = UInt64(fields[1], radix: 16),
                let inode = UInt64(fields[2], radix: 16)
            else { return nil }
            marks.append(EarlierMark(key: ObjectKey(key), checksum: checksum, inode: inode))
        }
        return marks
    }

    /// True if the file was not written since.
    func covers(_ row: ManifestEntry) -> Bool {
        checksum == row.crc64?.value && inode == row.inode
    }

    private static func bytes(_ digits: Substring) -> [UInt8]? {
        let digits = Array(digits.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<(index + 2)], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
