public import OSSTransfer
internal import ObjectTransfer
internal import SyncModel

/// Consecutive bytes of an object, in one of the three forms of HTTP.
public struct ObjectRange: Sendable, Hashable {
    private enum Value: Hashable {
        case range(RangeForm)
        /// As it would stand on the wire; no store is asked for it.
        case impossible(String)
    }

    private let value: Value

    /// The bytes from position `range.lowerBound` to `range.upperBound - 1`, counted from 0.
    ///
    /// What lies beyond the object's end is left out. Reading an empty range, or one that begins
    /// before 0, throws a `TransferError` of code `configuration`.
    public static func bytes(_ range: Range<Int64>) -> ObjectRange {
        guard range.lowerBound >= 0, !range.isEmpty else {
            let last = range.upperBound.subtractingReportingOverflow(1).partialValue
            return ObjectRange(value: .impossible("\(range.lowerBound)-\(last)"))
        }
        let bytes = ByteRange(offset: range.lowerBound, length: Int64(range.count))
        return ObjectRange(value: .range(.bounded(bytes)))
    }

    /// The bytes from position `offset`, counted from 0, to the object's end.
    ///
    /// Reading a range with a negative offset throws a `TransferError` of code `configuration`.
    public static func from(_ offset: Int64) -> ObjectRange {
        ObjectRange(value: offset < 0 ? .impossible("\(offset)-") : .range(.from(offset)))
    }

    /// The last `count` bytes; all of them if the object has fewer.
    ///
    /// Reading a range with a negative count throws a `TransferError` of code `configuration`.
    public static func last(_ count: Int64) -> ObjectRange {
        ObjectRange(value: count < 0 ? .impossible("-\(count)") : .range(.last(count)))
    }

    private init(value: Value) {
        self.value = value
    }

    /// - Throws: `TransferError` of code `configuration` if the range can hold no byte.
    package func form() throws(TransferError) -> RangeForm {
        switch value {
        case .range(let form): return form
        case .impossible(let text):
            throw TransferError(
                code: .configuration,
                message: "the range '\(text)' has no byte: it must not be empty, and counts "
                    + "from 0"
            )
        }
    }

    /// Reads `a-b` (inclusive, as on the wire), `a-` or `-n`, with or without `bytes=` before it.
    ///
    /// - Throws: `TransferError` of code `configuration`: for several ranges, which the services do
    ///   not serve alike in one request (`BucketClient.get(_:ranges:maxBytes:)` asks for each by
    ///   itself), and for what is no range.
    public init(parsing text: String) throws(TransferError) {
        let prefix = "bytes="
        let bytes = text.hasPrefix(prefix) ? text.utf8.dropFirst(prefix.utf8.count) : text.utf8[...]
        func failure(_ reason: String) -> TransferError {
            TransferError(
                code: .configuration,
                message: "'\(displayText(text))' \(reason)"
            )
        }
        guard !bytes.contains(UInt8(ascii: ",")) else {
            throw failure(
                "asks for several ranges in one request, which not every store supports; "
                    + "request each range separately"
            )
        }
        let noRange = failure("is not a range: use FIRST-LAST, FIRST- or -COUNT")
        guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")) else { throw noRange }
        let (before, after) = (bytes[..<dash], bytes[bytes.index(after: dash)...])
        switch (parseDecimal(before), parseDecimal(after)) {
        case (let first?, let last?) where first <= last && last < Int64.max:
            value = .range(.bounded(ByteRange(offset: first, length: last - first + 1)))
        case (let first?, nil) where after.isEmpty: value = .range(.from(first))
        case (nil, let count?) where before.isEmpty: value = .range(.last(count))
        default: throw noRange
        }
    }

    /// The range as it stands behind `bytes=` on the wire.
    public var text: String {
        switch value {
        case .range(let form): String(form.headerValue.dropFirst("bytes=".count))
        case .impossible(let text): text
        }
    }
}
