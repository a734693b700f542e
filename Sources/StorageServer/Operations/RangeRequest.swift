internal import SyncModel

/// The value of a `Range` header: oss-protocol 3.4.
enum RangeRequest: Equatable {
    case fromTo(Int64, Int64)
    case from(Int64)
    case suffix(Int64)
    /// Another unit, several ranges, or no numbers.
    case unreadable

    init(_ header: String) {
        self = .unreadable
        let prefix = "bytes="
        guard header.hasPrefix(prefix) else { return }
        let fields = header.dropFirst(prefix.count)
            .split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count == 2 else { return }
        switch (parseDecimal(fields[0].utf8), parseDecimal(fields[1].utf8)) {
        case (let first?, let last?): self = .fromTo(first, last)
        case (let first?, nil) where fields[1].isEmpty: self = .from(first)
        case (nil, let count?) where fields[0].isEmpty: self = .suffix(count)
        default: return
        }
    }

    /// The bytes to send; nil for the whole object with 200.
    ///
    /// Without `x-oss-range-behavior: standard`, what can't be satisfied exactly is ignored.
    func range(of size: Int64, for request: Request) throws(ServiceError) -> ByteRange? {
        let isStandard =
            request.dialect == .s3 || request.serviceHeader("range-behavior") == "standard"
        var unsatisfiable = ServiceError(
            416,
            "InvalidRange",
            "The requested range cannot be satisfied.",
            details: [
                ("ActualObjectSize", String(size)),
                ("RangeRequested", request.header("range") ?? ""),
            ]
        )
        unsatisfiable.headers = [("Content-Range", "bytes */\(size)")]
        switch self {
        case .unreadable: return nil
        case .fromTo(let first, let last):
            guard first <= last else { return nil }
            if last < size { return ByteRange(offset: first, length: last - first + 1) }
            guard isStandard else { return nil }
            guard first < size else { throw unsatisfiable }
            return ByteRange(offset: first, length: size - first)
        case .from(let first):
            if first < size { return ByteRange(offset: first, length: size - first) }
            guard isStandard else { return nil }
            throw unsatisfiable
        case .suffix(let count):
            guard count > 0 else { throw unsatisfiable }
            if count <= size { return ByteRange(offset: size - count, length: count) }
            guard isStandard else { return nil }
            guard size > 0 else {
                guard request.dialect == .s3 else { return nil }
                throw unsatisfiable
            }
            return ByteRange(offset: 0, length: size)
        }
    }
}
