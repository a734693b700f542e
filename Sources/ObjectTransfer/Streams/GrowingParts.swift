internal import ObjectStorage
internal import SyncModel

/// The sizes of the parts of a stream.
///
/// If its length is unknown, the first 1,000 parts have one size, so that the tags of most objects
/// can be computed from their content. Later parts grow evenly, so that 10,000 of them reach 5 TiB.
struct GrowingParts: Sendable, Hashable {
    /// The largest object of S3.
    static let reach: Int64 = 5 << 40
    static let evenCount = 1_000

    private let first: Int64
    private let step: Int64

    private init(first: Int64, step: Int64) {
        self.first = first
        self.step = step
    }

    /// The first part has at least `preferred` and at least `minimum` bytes.
    init(preferred: Int64, minimum: Int64) {
        first = min(max(preferred, minimum), PartLayout.maximumPartSize)
        let growing = Int64(PartLayout.maximumPartCount - Self.evenCount)
        // The sum of `step * 1`, `step * 2` and so on.
        let missing = max(0, Self.reach - first * Int64(PartLayout.maximumPartCount))
        let steps = growing * (growing + 1) / 2
        step = (missing + steps - 1) / steps
    }

    /// Those of a stream of this length, if it is known.
    init(length: Int64?, preferred: Int64, _ dialect: StorageDialect) throws(ItemFailure) {
        guard let length else {
            guard !dialect.partsHaveOneSize else {
                let size = max(preferred, dialect.minimumPartSize)
                self.init(first: min(size, PartLayout.maximumPartSize), step: 0)
                return
            }
            self.init(preferred: preferred, minimum: dialect.minimumPartSize)
            return
        }
        let layout = PartLayout(
            objectSize: length,
            preferredPartSize: preferred,
            minimumPartSize: dialect.minimumPartSize
        )
        guard let layout, length <= dialect.maximumObjectSize else {
            throw .tooLarge(size: length, limit: dialect.maximumObjectSize)
        }
        self.init(first: layout.partSize, step: 0)
    }

    /// What is said before so many bytes are read in vain.
    var warning: String {
        "the store takes parts of one size only, so at most \(capacity) bytes of this stream can "
            + "be stored; specify a larger "
            + Wording.of(library: "partSize", program: "--part-size") + " for more"
    }

    /// What all parts together can hold, in bytes.
    var capacity: Int64 {
        step > 0 ? Self.reach : min(first * Int64(PartLayout.maximumPartCount), Self.reach)
    }

    /// In bytes, by the index from 0.
    func size(ofPartAt index: Int) -> Int {
        let steps = Int64(max(0, index + 1 - Self.evenCount))
        return Int(min(first + steps * step, PartLayout.maximumPartSize))
    }
}
