internal import ObjectStorage
internal import SyncModel

// The form of a checkpoint in a record directory. The 64-bit checksums are texts, as every reader
// of JSON keeps them.
extension Checkpoint {
    static let recordName = "download"

    var json: JSONText {
        var members: [JSONText.Member] = [
            .init(name: "source", value: .string(source)),
            .init(name: "etag", value: .string(etag)),
            .init(name: "total_length", value: .integer(totalLength)),
            .init(name: "crc64", value: crc64.map { .string(String($0)) } ?? .null),
            .init(name: "range_size", value: .integer(rangeSize)),
            .init(name: "partial_name", value: .string(partialName)),
            .init(
                name: "ranges",
                value: .array(
                    ranges.map { range in
                        .array(
                            [
                                .integer(range.offset), .integer(range.length),
                                .string(String(range.crc64)),
                            ]
                                + (range.marks ?? []).map { mark in
                                    .array([.integer(mark.length), .string(String(mark.crc64))])
                                }
                        )
                    }
                )
            ),
        ]
        if let seal { members.append(.init(name: "seal", value: seal.json)) }
        return .object(members)
    }

    /// Nil if it is not what ``json`` makes.
    init?(_ json: JSONText) {
        guard let source = json["source"]?.stringValue, let etag = json["etag"]?.stringValue,
            let totalLength = json["total_length"]?.integerValue,
            let rangeSize = json["range_size"]?.integerValue,
            let partialName = json["partial_name"]?.stringValue,
            case .array(let elements)? = json["ranges"]
        else { return nil }
        var ranges: [VerifiedRange] = []
        for element in elements {
            guard case .array(let fields) = element, fields.count >= 3,
                let offset = fields[0].integerValue, let length = fields[1].integerValue,
                let crc64 = fields[2].stringValue.flatMap(UInt64.init)
            else { return nil }
            let marks = fields.dropFirst(3).compactMap(RangeMark.init)
            ranges.append(
                VerifiedRange(
                    offset: offset,
                    length: length,
                    crc64: crc64,
                    marks: marks.isEmpty ? nil : marks
                )
            )
        }
        self.source = source
        self.etag = etag
        self.totalLength = totalLength
        crc64 = json["crc64"]?.stringValue.flatMap(UInt64.init)
        self.ranges = ranges
        self.rangeSize = rangeSize
        self.partialName = partialName
        seal = json["seal"].flatMap { Seal($0) }
    }
}

extension RangeMark {
    fileprivate init?(_ json: JSONText) {
        guard case .array(let fields) = json, fields.count == 2,
            let length = fields[0].integerValue,
            let crc64 = fields[1].stringValue.flatMap(UInt64.init)
        else { return nil }
        self.init(length: length, crc64: crc64)
    }
}

extension Checkpoint.Seal {
    var json: JSONText {
        .array([
            .integer(size), .integer(modifiedSeconds), .integer(Int64(modifiedNanoseconds)),
            .integer(changedSeconds), .integer(Int64(changedNanoseconds)),
            .string(String(inode)), .string(String(device)), .string(bootID),
        ])
    }

    init?(_ json: JSONText) {
        guard case .array(let fields) = json, fields.count == 8,
            let identity = FileIdentity(fields.prefix(7)), let bootID = fields[7].stringValue
        else { return nil }
        self.init(identity, bootID: bootID)
    }
}

extension FileIdentity {
    /// In the order of ``Checkpoint/Seal/json``.
    init?(_ fields: some Collection<JSONText>) {
        let fields = Array(fields)
        guard fields.count == 7, let size = fields[0].integerValue,
            let modified = Timestamp(fields[1], fields[2]),
            let changed = Timestamp(fields[3], fields[4]),
            let inode = fields[5].stringValue.flatMap(UInt64.init),
            let device = fields[6].stringValue.flatMap(UInt64.init)
        else { return nil }
        self.init(size: size, modified: modified, changed: changed, inode: inode, device: device)
    }

    var json: [JSONText] {
        [
            .integer(size), .integer(modified.seconds), .integer(Int64(modified.nanoseconds)),
            .integer(changed.seconds), .integer(Int64(changed.nanoseconds)),
            .string(String(inode)), .string(String(device)),
        ]
    }
}

extension Timestamp {
    init?(_ seconds: JSONText, _ nanoseconds: JSONText) {
        guard let seconds = seconds.integerValue,
            let nanoseconds = nanoseconds.integerValue, (0..<1_000_000_000).contains(nanoseconds)
        else { return nil }
        self.init(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }
}

extension JSONText {
    static func integer(_ value: Int64) -> JSONText { .number(String(value)) }

    var integerValue: Int64? {
        if case .number(let digits) = self { Int64(digits) } else { nil }
    }

    var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
