internal import SyncModel

/// What a GET asked for, to hold its answer against (oss-protocol, "GetObject").
struct ContentExpectation: Sendable {
    /// Nil if the whole object was asked for.
    var range: ByteRange?
    /// Nil if nothing is known of the size.
    var length: Int64?
    /// Nil if any version will do.
    var etag: ETag?
    /// The size of the whole object, if an earlier answer told it.
    var totalSize: Int64?
    /// A range whose bytes depend on the object's size, instead of `range`.
    var form: RangeForm?

    /// Nil for an answer that is not a success; else the number of bytes that will come, where the
    /// answer says so.
    func validate(_ head: ResponseHead) throws(ContentFailure) -> Int64? {
        if let found = head["etag"].map({ ETag(wire: $0) }), let etag, found != etag {
            throw .integrity(.objectChanged(expected: etag, found: found))
        }
        let announced: Int64?
        switch head.status {
        case 206: announced = try validatePart(head)
        // Some servers of S3 send the range, and say so, with the status of a whole object.
        case 200 where asksForPart && head.has("content-range") && head.contentLength != nil:
            announced = try validatePart(head)
        case 200: announced = try validateWhole(head)
        default: throw .unexpectedStatus(head.status)
        }
        try validateEncoding(head)
        return announced
    }

    private var asksForPart: Bool { range != nil || form != nil }

    /// What the range must be if the whole object has `size` bytes.
    private func expectedRange(_ size: Int64?) -> ByteRange? {
        guard let form else { return range }
        return size.flatMap { form.bytes(ofObjectOf: $0) }
    }

    private func validatePart(_ head: ResponseHead) throws(ContentFailure) -> Int64 {
        let value = head["content-range"]
        let parsed = value.flatMap { ContentRange(headerValue: $0) }
        // The range may be cut at the object's real end, so this comes first.
        if let totalSize, let size = parsed?.totalSize, size != totalSize,
            parsed?.range.offset == expectedRange(size)?.offset
        {
            throw .integrity(.otherSize(expected: totalSize, found: size))
        }
        guard let found = parsed, let range = expectedRange(found.totalSize), found.range == range
        else { throw .integrity(.wrongContentRange(found: value.map { displayText($0.utf8) })) }
        if let length = head.contentLength, length != range.length {
            throw .integrity(.wrongLength(expected: range.length, found: length))
        }
        return range.length
    }

    private func validateWhole(_ head: ResponseHead) throws(ContentFailure) -> Int64? {
        let announced = head.contentLength
        if let range {
            // A whole object that is exactly the range is what was asked for.
            guard range.offset == 0, announced == range.length,
                totalSize ?? range.length == range.length
            else { throw .integrity(.rangeIgnored) }
        }
        if let form {
            guard let announced,
                form.bytes(ofObjectOf: announced) == ByteRange(offset: 0, length: announced)
            else { throw .integrity(.rangeIgnored) }
        }
        if let length, let announced, announced != length {
            throw .integrity(.wrongLength(expected: length, found: announced))
        }
        return announced ?? length
    }

    /// An object that is stored encoded comes as it is stored, with its ETag and its length; one
    /// that was encoded on the way has lost them.
    private func validateEncoding(_ head: ResponseHead) throws(ContentFailure) {
        guard let encoding = head["content-encoding"], !encoding.isEmpty,
            encoding.lowercased() != "identity"
        else { return }
        guard head.has("etag"), head.contentLength != nil else {
            throw .integrity(.unexpectedEncoding(displayText(encoding.utf8)))
        }
    }
}

/// Why an answer is not what a GET asked for.
enum ContentFailure: Error, Sendable, Hashable {
    case integrity(IntegrityFailure)
    case unexpectedStatus(Int)
    case withoutSize

    var kind: StorageError.Kind {
        switch self {
        case .integrity(let failure): .integrity(failure)
        case .unexpectedStatus(let status):
            .protocolViolation("status \(status) in answer to a read")
        case .withoutSize: .protocolViolation("the answer does not contain the object's size")
        }
    }
}
