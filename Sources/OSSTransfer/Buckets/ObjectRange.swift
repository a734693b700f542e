internal import ObjectTransfer
internal import SyncModel

/// Consecutive bytes of an object, in one of the three forms of HTTP.
public struct ObjectRange: Sendable, Hashable {
    let form: RangeForm

    /// The bytes from position `range.lowerBound` to `range.upperBound - 1`, counted from 0.
    ///
    /// What lies beyond the object's end is left out. A range must hold a byte and begin at 0 or
    /// after it: anything else is a programmer's error.
    public static func bytes(_ range: Range<Int64>) -> ObjectRange {
        precondition(range.lowerBound >= 0 && !range.isEmpty, "a range holds at least a byte")
        let bytes = ByteRange(offset: range.lowerBound, length: Int64(range.count))
        return ObjectRange(form: .bounded(bytes))
    }

    /// The bytes from position `offset`, counted from 0, to the object's end.
    public static func from(_ offset: Int64) -> ObjectRange {
        precondition(offset >= 0, "positions count from 0")
        return ObjectRange(form: .from(offset))
    }

    /// The last `count` bytes; all of them if the object has fewer.
    public static func last(_ count: Int64) -> ObjectRange {
        precondition(count >= 0, "a count is not negative")
        return ObjectRange(form: .last(count))
    }

    private init(form: RangeForm) {
        self.form = form
    }

    /// Reads `a-b` (inclusive, as on the wire), `a-` or `-n`, with or without `bytes=` before it.
    ///
    /// - Throws: `SyncError` of code `configuration`: for several ranges, which the services do not
    ///   serve alike in one request (``BucketClient/get(_:ranges:maxBytes:)`` asks for each by
    ///   itself), and for what is no range.
    public init(parsing text: String) throws(SyncError) {
        let prefix = "bytes="
        let value = text.hasPrefix(prefix) ? text.utf8.dropFirst(prefix.utf8.count) : text.utf8[...]
        func failure(_ reason: String) -> SyncError {
            SyncError(
                code: .configuration,
                message: "'\(displayText(text))' \(reason)"
            )
        }
        guard !value.contains(UInt8(ascii: ",")) else {
            throw failure(
                "asks for several ranges in one request, which not every store supports; "
                    + "request each range separately"
            )
        }
        let noRange = failure("is not a range: use FIRST-LAST, FIRST- or -COUNT")
        guard let dash = value.firstIndex(of: UInt8(ascii: "-")) else { throw noRange }
        let (before, after) = (value[..<dash], value[value.index(after: dash)...])
        switch (parseDecimal(before), parseDecimal(after)) {
        case (let first?, let last?) where first <= last && last < Int64.max:
            form = .bounded(ByteRange(offset: first, length: last - first + 1))
        case (let first?, nil) where after.isEmpty: form = .from(first)
        case (nil, let count?) where before.isEmpty: form = .last(count)
        default: throw noRange
        }
    }

    /// The range as it stands behind `bytes=` on the wire.
    public var text: String { String(form.headerValue.dropFirst("bytes=".count)) }
}
