import ObjectTransfer
import SyncModel

@testable import ObjectStorage

/// The head of a response, line by line, and everything that is read from it.
func judgeHeaders(_ bytes: [UInt8]) throws(FuzzFailure) {
    var parser = ResponseHeadParser()
    var rest = bytes[...]
    while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
        let line = [UInt8](rest[..<end])
        let head: ResponseHead?
        do throws(TransportError) {
            head = try parser.accept(line.span)
        } catch {
            return try requirePrintable(error.message, "a refusal")
        }
        rest = rest[end...]
        // What follows are trailers.
        if let head { try judge(head) }
    }
}

private func judge(_ head: ResponseHead) throws(FuzzFailure) {
    try require((200...999).contains(head.status), "the status \(head.status)")
    try require((head.contentLength ?? 0) >= 0, "a negative length")
    for (name, value) in head.headers {
        let isPlain = !(name + value).utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
        try require(isPlain && !name.isEmpty, "a header with controls")
        try judge(value)
    }
    for dialect in [StorageDialect.oss, .s3] {
        let metadata = ObjectMetadata(head, size: head.contentLength ?? 0, dialect: dialect)
        try require(metadata.etag?.isUsable ?? true, "a tag of no use")
        try requirePrintable(metadata.requestID ?? "", "a request's id")
        let time = ModificationTime.of(
            userMetadata: metadata.userMetadata,
            lastModified: metadata.lastModified
        )
        if let time { try judge(time) }
    }
    try judgeContent(head)
}

/// Every header's value as each of the things that some header is read as.
private func judge(_ value: String) throws(FuzzFailure) {
    if let range = ContentRange(headerValue: value) {
        try require(range.range.length > 0 && range.range.offset >= 0, "a range of no bytes")
        try require(range.range.end <= range.totalSize ?? .max, "a range beyond its object")
    }
    let times = [
        Timestamp(httpText: value), Timestamp(extendedText: value), Timestamp(basicText: value),
        ModificationTime.parse(value),
    ]
    for case let time? in times { try judge(time) }
    if let pause = retryAfterDuration(value, serverDate: Timestamp(seconds: 1_700_000_000)) {
        try require(pause >= .zero && pause <= .seconds(86_400), "a pause of \(pause)")
    }
    let tag = ETag(wire: value)
    try require(ETag(wire: tag.quoted) == tag, "a tag that changes when it is sent back")
    if let number = parseDecimal(value.utf8) {
        try require(number >= 0 && parseUnsignedDecimal(value.utf8) == UInt64(number), value)
    }
}

/// A time that was read is written, and reads the same.
private func judge(_ time: Timestamp) throws(FuzzFailure) {
    try require(
        Timestamp(nanosecondsSince1970: time.nanosecondsSince1970) == time
            || abs(time.seconds) > 9_000_000_000,
        "a time that changes when it is stored"
    )
    guard abs(time.seconds) < 9_000_000_000 else { return }
    let text = ModificationTime.text(time)
    try require(ModificationTime.parse(text) == time, "\(text) reads differently")
    let civil = CivilTime(time)
    guard (0...9_999).contains(civil.year) else { return }
    let whole = Timestamp(seconds: time.seconds)
    try require(civil.timestamp == whole, "\(civil) is another time")
    try require(Timestamp(httpText: civil.httpText) == whole, "\(civil.httpText) reads differently")
    try require(Timestamp(basicText: civil.basicText) == whole, "\(civil.basicText) likewise")
}

/// The head as the answer to a read: taken only with the bytes that were asked for.
private func judgeContent(_ head: ResponseHead) throws(FuzzFailure) {
    let wanted = ByteRange(offset: 5, length: 10)
    let expectation = ContentExpectation(
        range: wanted,
        length: wanted.length,
        etag: ETag(wire: "\"E\""),
        totalSize: 100
    )
    let length: Int64?
    do throws(ContentFailure) {
        length = try expectation.validate(head)
    } catch {
        let failure = StorageError(kind: error.kind, operation: "GetObject")
        return try requirePrintable(failure.message, "a refusal")
    }
    try require(length == wanted.length, "\(length ?? -1) bytes for \(wanted.length)")
}
