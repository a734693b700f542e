internal import SyncModel

/// The parts that an object was completed from; they are stored among its headers, under a name
/// that is never sent.
struct ObjectParts: Sendable {
    struct Part: Sendable {
        let number: Int
        let range: ByteRange
        let checksum: Checksum?
    }

    private static let headerName = "x-amz-part-list"

    let parts: [Part]

    init(_ records: [PartRecord]) {
        var offset: Int64 = 0
        parts = records.map { record in
            defer { offset += record.size }
            return Part(
                number: record.number,
                range: ByteRange(offset: offset, length: record.size),
                checksum: record.checksum
            )
        }
    }

    /// Nil for an object that was not made of parts.
    init?(_ object: ObjectRecord) {
        guard let text = object.headers.first(where: { $0.name == Self.headerName })?.value else {
            return nil
        }
        var offset: Int64 = 0
        var parts: [Part] = []
        for item in text.split(separator: ",") {
            let fields = item.split(separator: " ")
            guard fields.count > 1, let number = parseDecimal(fields[0].utf8),
                let size = parseDecimal(fields[1].utf8)
            else { return nil }
            parts.append(
                Part(
                    number: Int(number),
                    range: ByteRange(offset: offset, length: size),
                    checksum: fields.count > 2
                        ? Checksum(storedText: String(fields[2])) : nil
                )
            )
            offset += size
        }
        self.parts = parts
    }

    /// How an object's row has them.
    var stored: (name: String, value: String) {
        let items = parts.map { part in
            "\(part.number) \(part.range.length)"
                + (part.checksum.map { " " + $0.storedText } ?? "")
        }
        return (Self.headerName, items.joined(separator: ","))
    }
}

extension ObjectRecord {
    /// What belongs to the content and stays with a copy whose other headers are new.
    var contentHeaders: [(name: String, value: String)] {
        checksumHeaders + (ObjectParts(self).map { [$0.stored] } ?? [])
    }
}

extension OperationContext {
    /// The answer to `?partNumber`, which S3 knows for reading; nil if it was not asked for.
    func partAnswer(
        _ object: ReadableObject,
        _ headers: [(name: String, value: String)]
    ) throws -> Answer? {
        guard dialect == .s3, let text = request.parameter("partNumber") else { return nil }
        guard let number = parseDecimal(text.utf8), (1...10_000).contains(number) else {
            throw ServiceError.invalidArgument(
                "Part number must be an integer between 1 and 10000, inclusive",
                name: "partNumber",
                value: text
            )
        }
        guard request.header("range") == nil else {
            throw ServiceError(
                400,
                "InvalidRequest",
                "Cannot specify both Range header and partNumber query parameter."
            )
        }
        let size = object.source.content.size
        let list = ObjectParts(object.source)
        let whole = ByteRange(offset: 0, length: size)
        let parts =
            list?.parts ?? [ObjectParts.Part(number: 1, range: whole, checksum: nil)]
        guard let part = parts.first(where: { $0.number == number }) else {
            throw ServiceError(
                416,
                "InvalidPartNumber",
                "The requested partnumber is not satisfiable",
                details: [
                    ("PartNumberRequested", text), ("ActualPartCount", String(parts.count)),
                ]
            )
        }
        var answer = headers
        if list != nil { answer.append(("x-amz-mp-parts-count", String(parts.count))) }
        if request.header("x-amz-checksum-mode")?.uppercased() == "ENABLED" {
            let own = part.checksum.map { [($0.algorithm.headerName, $0.value)] }
            answer += list == nil ? checksumHeaders(object.named) : own ?? []
        }
        guard !part.range.isEmpty else {
            return Answer(200, headers: answer, body: .content(object.content, part.range))
        }
        answer.append(
            ("Content-Range", "bytes \(part.range.offset)-\(part.range.end - 1)/\(size)")
        )
        return Answer(206, headers: answer, body: .content(object.content, part.range))
    }
}
