internal import LocalStorage
package import ObjectStorage
package import SyncModel

/// What a record directory has of one unfinished transfer.
struct TransferRecord: StateFile, Hashable {
    static let heading = "osssync-transfer 1"

    var download: Checkpoint?
    /// CRC-64 of a download that is whole and about to get its name.
    var whole: CRC64?
    var upload: UploadRecord?
    /// Where a download goes.
    var file: String?

    /// Nil if there is none, or no whole one.
    static func read(
        _ name: String,
        in directory: RecordDirectory
    ) throws(LocalError) -> TransferRecord? {
        try directory.read(name).flatMap(TransferRecord.init(content:))
    }

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        TransferRecord(
            download: try fields.optional("download", value?.download),
            whole: try fields.optional("whole_crc64", value?.whole),
            upload: try fields.optional("upload", value?.upload),
            file: try fields.optional("file", value?.file)
        )
    }
}

/// An unfinished upload, and what it goes to, without secrets.
struct UploadRecord: JSONObject, Hashable {
    let target: String
    let checkpoint: UploadCheckpoint

    /// Nil if it is of another target, or has impossible values.
    func checkpoint(_ key: ObjectKey, to subject: String) -> UploadCheckpoint? {
        guard target == subject || ObjectName.areSame(target, subject), checkpoint.partSize > 0
        else { return nil }
        var checkpoint = checkpoint
        checkpoint.key = key
        return checkpoint
    }

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        let known = value?.checkpoint
        return UploadRecord(
            target: try fields("target", value?.target),
            checkpoint: UploadCheckpoint(
                key: try fields("key", known?.key),
                uploadID: try fields.optional("upload_id", known?.uploadID?.text).map(
                    UploadID.init
                ),
                partSize: try fields("part_size", known?.partSize),
                source: try fields("file", known?.source),
                token: try fields("token", known?.token),
                started: try fields("started", known?.started),
                parts: try fields("parts", known?.parts)
            )
        )
    }
}

// MARK: - The members

extension Checkpoint: JSONObject {
    package static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
    {
        Checkpoint(
            source: try fields("source", value?.source),
            etag: try fields("etag", value?.etag),
            totalLength: try fields("total_length", value?.totalLength),
            crc64: try fields.optional("crc64", value?.crc64),
            ranges: try fields("ranges", value?.ranges),
            rangeSize: try fields("range_size", value?.rangeSize),
            partialName: try fields("partial_name", value?.partialName),
            seal: try fields.optional("seal", value?.seal)
        )
    }
}

extension Checkpoint.VerifiedRange: JSONObject {
    package static var isRow: Bool { true }

    package static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
    {
        Self(
            offset: try fields("offset", value?.offset),
            length: try fields("length", value?.length),
            crc64: try fields("crc64", value?.crc64),
            marks: try fields.optional("marks", value?.marks)
        )
    }
}

extension RangeMark: JSONObject {
    package static var isRow: Bool { true }

    package static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
    {
        RangeMark(
            length: try fields("length", value?.length),
            crc64: try fields("crc64", value?.crc64)
        )
    }
}

extension Checkpoint.Seal: JSONObject {
    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        Self(
            identity: try fields("file", value?.identity),
            bootID: try fields("boot", value?.bootID)
        )
    }
}

extension UploadedPart: JSONObject {
    package static var isRow: Bool { true }

    package static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
    {
        guard let number = PartNumber(try fields("number", value?.number.value)) else {
            throw .unexpectedType(member: "number")
        }
        return UploadedPart(
            number: number,
            size: try fields("size", value?.size),
            etag: ETag(wire: try fields("etag", value?.etag.text)),
            crc64: try fields.optional("crc64", value?.crc64)
        )
    }
}

extension FileIdentity: JSONObject {
    package static var isRow: Bool { true }

    package static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
    {
        FileIdentity(
            size: try fields("size", value?.size),
            modified: try fields("modified", value?.modified),
            changed: try fields("changed", value?.changed),
            inode: try fields("inode", value?.inode),
            device: try fields("device", value?.device)
        )
    }
}

extension Timestamp: JSONObject {
    package static var isRow: Bool { true }

    package static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
    {
        let seconds = try fields("seconds", value?.seconds)
        let nanoseconds = try fields("nanoseconds", value.map { Int($0.nanoseconds) })
        guard (0..<1_000_000_000).contains(nanoseconds) else {
            throw .unexpectedType(member: "nanoseconds")
        }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }
}
