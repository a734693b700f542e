internal import ObjectStorage
internal import SyncModel

// The form of an unfinished upload in a record directory.
extension UploadCheckpoint {
    static let recordName = "upload"

    /// `target` is what is uploaded to, without secrets.
    func json(target: String) -> JSONText {
        .object([
            .init(name: "target", value: .string(target)),
            .init(name: "upload_id", value: uploadID.map { .string($0.text) } ?? .null),
            .init(name: "part_size", value: .integer(partSize)),
            .init(name: "file", value: .array(source.json)),
            .init(name: "token", value: .string(token)),
            .init(name: "started", value: .integer(started.seconds)),
            .init(
                name: "parts",
                value: .array(
                    parts.map { part in
                        .array([
                            .integer(Int64(part.number.value)), .integer(part.size),
                            .string(part.etag.text),
                            part.crc64.map { .string(String($0.value)) } ?? .null,
                        ])
                    }
                )
            ),
        ])
    }

    /// Nil if it is not what ``json(target:)`` makes for this target.
    init?(_ json: JSONText, key: ObjectKey, target: String) {
        guard let recorded = json["target"]?.stringValue,
            recorded == target || ObjectName.areSame(recorded, target),
            let partSize = json["part_size"]?.integerValue, partSize > 0,
            case .array(let file)? = json["file"], let source = FileIdentity(file),
            let token = json["token"]?.stringValue,
            let started = json["started"]?.integerValue, case .array(let elements)? = json["parts"]
        else { return nil }
        var parts: [UploadedPart] = []
        for element in elements {
            guard case .array(let fields) = element, fields.count == 4,
                let number = fields[0].integerValue.flatMap({ PartNumber(Int($0)) }),
                let size = fields[1].integerValue, let etag = fields[2].stringValue
            else { return nil }
            parts.append(
                UploadedPart(
                    number: number,
                    size: size,
                    etag: ETag(wire: etag),
                    crc64: fields[3].stringValue.flatMap(UInt64.init).map { CRC64(value: $0) }
                )
            )
        }
        self.init(
            key: key,
            uploadID: json["upload_id"]?.stringValue.map { UploadID($0) },
            partSize: partSize,
            source: source,
            token: token,
            started: Timestamp(seconds: started),
            parts: parts
        )
    }
}
