internal import SyncModel

struct BucketRecord: Sendable {
    let name: String
    let createdMilliseconds: Int64
    /// `Enabled`, `Suspended`, or nil if it never was.
    let versioning: String?

    /// True if every write makes a version of its own.
    var keepsVersions: Bool { versioning == "Enabled" }
    /// True if answers carry version ids.
    var hasVersions: Bool { versioning != nil }
}

/// One version of one object, or a delete marker.
struct ObjectRecord: Sendable {
    let id: Int64
    let key: ObjectKey
    let versionID: String
    let isLatest: Bool
    let isMarker: Bool
    let content: ObjectContent
    let modifiedMilliseconds: Int64
    let kind: ObjectKind
    let storageClass: StorageClass
    /// What ``HeaderText`` made of the headers; few requests read them.
    let headerText: String
    let symlinkTarget: ObjectKey?
    let restore: RestoreRecord?
    let tagging: String?

    /// As they were sent with the object, names in lower case.
    var headers: [(name: String, value: String)] { HeaderText.decode(headerText) }

    var modified: Timestamp {
        Timestamp(
            seconds: modifiedMilliseconds / 1_000,
            nanoseconds: Int32(modifiedMilliseconds % 1_000 * 1_000_000)
        )
    }

    /// The text of `x-oss-restore` and of a listing's `RestoreInfo`.
    var restoreText: String? {
        guard storageClass.isArchived, let restore else { return nil }
        guard restore.pollsLeft == 0 else { return #"ongoing-request="true""# }
        let expiry = CivilTime(Timestamp(seconds: restore.expiryMilliseconds / 1_000)).httpText
        return #"ongoing-request="false", expiry-date="\#(expiry)""#
    }

    /// True if the content can't be read before it is restored.
    var needsRestore: Bool {
        storageClass.isArchived && restore?.pollsLeft != 0
    }
}

/// What is known of an object's bytes.
struct ObjectContent: Sendable {
    let size: Int64
    let etag: String
    let crc64: CRC64?
    /// In base64; nil for what was not written in one piece.
    let md5: String?

    /// Written in one piece.
    init(_ blob: StoredBlob) {
        size = blob.size
        etag = hexadecimal(blob.md5, uppercase: true)
        crc64 = blob.crc64
        md5 = Base64.encode(blob.md5)
    }

    init(size: Int64, etag: String, crc64: CRC64?, md5: String?) {
        self.size = size
        self.etag = etag
        self.crc64 = crc64
        self.md5 = md5
    }

    static let none = ObjectContent(size: 0, etag: "", crc64: nil, md5: nil)
}

struct RestoreRecord: Sendable {
    /// How many HEADs still answer that the restore is going on; 0 once it is done.
    let pollsLeft: Int64
    let expiryMilliseconds: Int64
}

/// Consecutive bytes of a blob.
struct Segment: Sendable, Hashable {
    let blob: String
    let offset: Int64
    let length: Int64
}

/// A version to be written.
struct NewObject: Sendable {
    let key: ObjectKey
    let content: ObjectContent
    let segments: [Segment]
    let kind: ObjectKind
    let storageClass: StorageClass
    let headers: [(name: String, value: String)]
    var symlinkTarget: ObjectKey?
    var tagging: String?
}

struct UploadRecord: Sendable {
    let id: String
    let key: ObjectKey
    let initiatedMilliseconds: Int64
    let storageClass: StorageClass
    let headers: [(name: String, value: String)]
    let tagging: String?
    let isSequential: Bool
    let sequence: Int64
}

struct PartRecord: Sendable {
    let number: Int
    let size: Int64
    let etag: String
    let crc64: CRC64
    let modifiedMilliseconds: Int64
    let blob: String
    let checksum: Checksum?
}

/// Stored headers as one text: `name:value` lines; neither can hold a line break.
enum HeaderText {
    static func encode(_ headers: [(name: String, value: String)]) -> String {
        headers.map { "\($0.name):\($0.value)" }.joined(separator: "\n")
    }

    static func decode(
        _ text: String,
        beginningWith prefix: String = ""
    ) -> [(name: String, value: String)] {
        text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard line.starts(with: prefix.utf8),
                let colon = line.firstIndex(of: UInt8(ascii: ":"))
            else { return nil }
            let value = line[line.index(after: colon)...]
            return (String(Substring(line[..<colon])), String(Substring(value)))
        }
    }
}
