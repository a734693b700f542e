internal import SyncModel

/// The sizes of the parts of a stream whose length is unknown.
///
/// They grow evenly, so that 10,000 parts reach 5 TiB although the first ones are small: a stream
/// of `n` bytes has parts of at most about the root of `n` times 216 KB.
struct GrowingParts: Sendable, Hashable {
    /// The largest object of S3.
    static let reach: Int64 = 5 << 40

    private let first: Int64
    private let step: Int64

    /// The first part has at least `preferred` and at least `minimum` bytes.
    init(preferred: Int64, minimum: Int64) {
        first = min(max(preferred, minimum), PartLayout.maximumPartSize)
        let count = Int64(PartLayout.maximumPartCount)
        // The sum of `first + index * step` over all parts.
        let missing = max(0, Self.reach - first * count)
        let pairs = count * (count - 1) / 2
        step = (missing + pairs - 1) / pairs
    }

    /// In bytes, by the index from 0.
    func size(ofPartAt index: Int) -> Int {
        Int(min(first + Int64(index) * step, PartLayout.maximumPartSize))
    }
}
