internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// Reads the rows of one CSV file of an inventory, given piece by piece.
struct InventoryRows {
    /// A key has at most 1,023 bytes, each three when it is encoded.
    private static let longestLine = 64 << 10

    private let columns: InventoryColumns
    private let bucket: [UInt8]
    private let prefix: [UInt8]
    /// What messages call the file.
    private let name: String
    /// The beginning of a line whose end has not come yet.
    private var rest: [UInt8] = []
    private var line = 0
    private var fields: [Range<Int>] = []

    init(_ columns: InventoryColumns, bucket: String, prefix: ObjectKey, name: String) {
        (self.columns, self.bucket) = (columns, [UInt8](bucket.utf8))
        (self.prefix, self.name) = (prefix.bytes, name)
    }

    /// Calls `body` with the key below the prefix and the size of each object there; what is no
    /// longer an object's newest version is left out.
    mutating func read(
        _ piece: ArraySlice<UInt8>,
        _ body: (ObjectKey, Int64) -> Void
    ) throws(SyncError) {
        var piece = piece
        if !rest.isEmpty {
            guard let end = piece.firstIndex(of: UInt8(ascii: "\n")) else {
                rest += piece
                return try checkRest()
            }
            rest += piece[..<end]
            let first = rest
            rest = []
            try readLine(first[...], body)
            piece = piece[(end + 1)...]
        }
        while let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
            try readLine(piece[..<end], body)
            piece = piece[(end + 1)...]
        }
        rest += piece
        try checkRest()
    }

    /// Reads the last line, which need not have an end.
    mutating func finish(_ body: (ObjectKey, Int64) -> Void) throws(SyncError) {
        guard !rest.isEmpty else { return }
        try readLine(rest[...], body)
    }

    private mutating func checkRest() throws(SyncError) {
        guard rest.count > Self.longestLine else { return }
        line += 1
        throw broken("it is longer than \(Self.longestLine) bytes")
    }

    private func broken(_ reason: String) -> SyncError {
        .inventory("'\(name)', line \(line): \(reason)")
    }

    private mutating func readLine(
        _ bytes: ArraySlice<UInt8>,
        _ body: (ObjectKey, Int64) -> Void
    ) throws(SyncError) {
        line += 1
        let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
        if bytes.isEmpty { return }
        guard split(bytes) else { throw broken("a quotation mark is not closed") }
        guard fields.count == columns.count else {
            throw broken("it has \(fields.count) columns, and the manifest names \(columns.count)")
        }
        if let column = columns.bucket, !bytes[fields[column]].elementsEqual(bucket) {
            throw broken(
                "it is about the bucket '\(displayText(bytes[fields[column]]))', not "
                    + "'\(displayText(bucket))'"
            )
        }
        if let column = columns.isDeleteMarker, try flag(bytes, column, "IsDeleteMarker") { return }
        if let column = columns.isLatest, try !flag(bytes, column, "IsLatest") { return }
        guard let key = percentDecode([UInt8](bytes[fields[columns.key]]), style: .form),
            !key.isEmpty
        else { throw broken("the key is not URL-encoded") }
        guard let size = Self.number(bytes[fields[columns.size]]) else {
            throw broken("'\(displayText(bytes[fields[columns.size]]))' is not a size")
        }
        guard key.starts(with: prefix) else { return }
        // The object that stands for the mirror's directory itself.
        if key.count == prefix.count { return }
        body(ObjectKey(key[prefix.count...]), size)
    }

    private func flag(
        _ bytes: ArraySlice<UInt8>,
        _ column: Int,
        _ name: String
    ) throws(SyncError) -> Bool {
        switch String(decoding: bytes[fields[column]], as: UTF8.self).lowercased() {
        case "true": return true
        case "false": return false
        case let other: throw broken("'\(displayText(other.utf8))' is no value of \(name)")
        }
    }

    /// Finds the fields, without their quotation marks; false if one is not closed.
    ///
    /// A mark within a field, which is written twice, stays so: no field that is read has one.
    private mutating func split(_ bytes: ArraySlice<UInt8>) -> Bool {
        fields.removeAll(keepingCapacity: true)
        var index = bytes.startIndex
        while true {
            if index < bytes.endIndex, bytes[index] == UInt8(ascii: "\"") {
                let start = index + 1
                index = start
                while true {
                    guard let mark = bytes[index...].firstIndex(of: UInt8(ascii: "\"")) else {
                        return false
                    }
                    index = mark + 1
                    guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "\"") else { break }
                    index += 1
                }
                fields.append(start..<(index - 1))
                guard index < bytes.endIndex else { return true }
                guard bytes[index] == UInt8(ascii: ",") else { return false }
            } else {
                let end = bytes[index...].firstIndex(of: UInt8(ascii: ",")) ?? bytes.endIndex
                fields.append(index..<end)
                index = end
                guard index < bytes.endIndex else { return true }
            }
            index += 1
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...18).contains(digits.count) else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        return value
    }
}
