/// What a `Range` header can ask for: the three forms of RFC 9110, "Byte Ranges", one at a time.
package enum RangeForm: Sendable, Hashable {
    /// `a-b`; what lies beyond the object's end is left out of the answer.
    case bounded(ByteRange)
    /// `a-`
    case from(Int64)
    /// `-n`; the whole object if it is shorter.
    case last(Int64)

    /// The value of the header.
    package var headerValue: String {
        switch self {
        case .bounded(let range): range.headerValue
        case .from(let offset): "bytes=\(offset)-"
        case .last(let count): "bytes=-\(count)"
        }
    }

    /// The bytes that are meant of an object of `size` bytes; nil if there are none.
    package func bytes(ofObjectOf size: Int64) -> ByteRange? {
        let start: Int64
        var end = size
        switch self {
        case .bounded(let range):
            start = range.offset
            end = min(end, range.end)
        case .from(let offset): start = offset
        case .last(let count): start = max(0, size - count)
        }
        guard start < end else { return nil }
        return ByteRange(offset: start, length: end - start)
    }
}
