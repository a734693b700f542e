internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// The `manifest.json` of an inventory: which files hold its rows, and in which columns.
///
/// Sources: Alibaba Cloud, "Bucket inventory"; AWS, "Amazon S3 Inventory", "Inventory manifest".
struct InventoryManifest: Sendable, Hashable {
    private static let digitsOfMD5 = 32
    private static let sizeLimit = 256 << 20

    /// A gzip CSV file with some of the rows.
    struct File: Sendable, Hashable {
        /// The whole key in the bucket that the inventory was delivered to.
        let key: String
        let md5: [UInt8]

        /// Its last part, by which a copy beside the manifest is called.
        var name: String {
            String(decoding: key.utf8.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
        }
    }

    let sourceBucket: String
    let columns: InventoryColumns
    let files: [File]

    /// Reads the manifest; `name` is what messages call it.
    ///
    /// - Throws: `configuration` for anything but an inventory in CSV with keys and sizes.
    init(_ content: [UInt8], name: String) throws(SyncError) {
        func refusal(_ reason: String) -> SyncError { .inventory("'\(name)' \(reason)") }
        let json: JSONText
        func text(_ member: String) throws(SyncError) -> String {
            guard case .string(let text)? = json[member] else {
                throw refusal("is not the manifest of an inventory: it has no \(member)")
            }
            return text
        }
        do throws(JSONFailure) {
            json = try JSONText(parsing: content, maximumSize: Self.sizeLimit)
        } catch {
            throw refusal("is not the manifest of an inventory: \(error.message)")
        }
        sourceBucket = try text("sourceBucket")
        let format = try text("fileFormat")
        guard format.uppercased() == "CSV" else {
            throw refusal(
                "is an inventory in \(displayText(format.utf8)), and osssync reads CSV; choose CSV "
                    + "as the format of the inventory and use the next one, or write the keys to "
                    + "cut at into a file for --cuts"
            )
        }
        columns = try InventoryColumns(schema: try text("fileSchema"), name: name)
        guard case .array(let elements)? = json["files"] else {
            throw refusal("is not the manifest of an inventory: it has no files")
        }
        var files: [File] = []
        for element in elements {
            guard case .string(let key)? = element["key"], !key.isEmpty,
                case .string(let digits)? = element["MD5checksum"],
                let md5 = Self.bytes(digits)
            else { throw refusal("has a file without key or MD5checksum") }
            files.append(File(key: key, md5: md5))
        }
        self.files = files
    }

    private static func bytes(_ digits: String) -> [UInt8]? {
        let digits = [UInt8](digits.utf8)
        guard digits.count == digitsOfMD5 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index...(index + 1)], as: UTF8.self)
            guard pair.utf8.first != UInt8(ascii: "+"), let byte = UInt8(pair, radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}

/// Which column of an inventory holds what.
struct InventoryColumns: Sendable, Hashable {
    let count: Int
    let bucket: Int?
    let key: Int
    let size: Int
    /// Of an inventory of all versions.
    let isLatest: Int?
    let isDeleteMarker: Int?

    /// Reads a `fileSchema`, such as `Bucket, Key, Size`.
    init(schema: String, name: String) throws(SyncError) {
        let names = schema.utf8.split(
            separator: UInt8(ascii: ","),
            omittingEmptySubsequences: false
        )
        .map { field in
            String(decoding: field.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        }
        func column(_ name: String) -> Int? { names.firstIndex(of: name) }
        func required(_ field: String) throws(SyncError) -> Int {
            if let index = column(field) { return index }
            throw .inventory(
                "'\(name)' is an inventory without the column \(field); add the field to the "
                    + "configuration of the inventory and use the next one"
            )
        }
        count = names.count
        key = try required("Key")
        size = try required("Size")
        bucket = column("Bucket")
        isLatest = column("IsLatest")
        isDeleteMarker = column("IsDeleteMarker")
    }
}

extension SyncError {
    /// Of an inventory that cannot be used; nothing was changed by then.
    static func inventory(_ message: String) -> SyncError {
        SyncError(code: .configuration, message: message)
    }
}
