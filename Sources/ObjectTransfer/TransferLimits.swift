internal import ObjectStorage

/// Sizes and counts that bound what one transfer holds at once and what an interruption costs.
package struct TransferLimits: Sendable {
    /// Ranges or parts of one file that are under way at once.
    package var streamsPerFile: Int
    /// Bytes between two checkpoints of one stream.
    package var checkpointInterval: Int64
    /// Bytes of one stream that a kill may cost; above it the stream waits for its checkpoint.
    package var maximumUncheckpointed: Int64
    /// Bytes that the system receives for one connection before they are read, at most; nil if that
    /// is not known.
    package var maximumUnread: Int64?
    /// The largest content of a known length that goes in one request although it is larger than a
    /// part, in bytes; 0 for none.
    package var largestSinglePut: Int64 = 0

    package init(streamsPerFile: Int, checkpointInterval: Int64, maximumUncheckpointed: Int64) {
        self.streamsPerFile = streamsPerFile
        self.checkpointInterval = checkpointInterval
        self.maximumUncheckpointed = maximumUncheckpointed
    }

    /// As the program runs.
    package static let standard = TransferLimits(
        streamsPerFile: 4,
        checkpointInterval: 2 << 20,
        maximumUncheckpointed: 4 << 20
    )
}

// MARK: - The first request of a single download

extension TransferLimits {
    /// What a kill may cost a download: the same for each of its streams.
    var maximumLoss: Int64 { maximumUncheckpointed * Int64(streamsPerFile) }

    /// What a kill may cost the first request, which asks for several ranges; nil if that is not
    /// known, or leaves too little to the other streams.
    ///
    /// That is what the system has received and what is not yet in the record: its file may be one
    /// interval behind.
    private var lossOfLongRequest: Int64? {
        guard let maximumUnread else { return nil }
        let loss = maximumUnread + maximumUncheckpointed + checkpointInterval
        return loss <= maximumLoss / 8 * 5 ? loss : nil
    }

    /// What the first request asks for, in bytes: several ranges where that costs a kill no more
    /// than it may.
    func firstRequestLength(rangeSize: Int64) -> Int64 {
        guard lossOfLongRequest != nil, rangeSize % FileSink.blockSize == 0 else {
            return min(rangeSize, maximumUncheckpointed * max(1, Int64(streamsPerFile) / 2))
        }
        let longest = maximumLoss * 2
        return longest - (rangeSize < longest ? longest % rangeSize : 0)
    }

    /// What any other request for an object of so many ranges asks for at most, in bytes.
    ///
    /// Streams for which the object has no range are not there, and leave their part to the others.
    func requestLength(rangeCount: Int64, rangeSize: Int64, isFirstUnderWay: Bool) -> Int64 {
        let others = max(1, rangeCount - 1)
        let usual = maximumUncheckpointed * max(1, Int64(streamsPerFile) / 2 / others)
        guard isFirstUnderWay else { return usual }
        let loss = lossOfLongRequest ?? firstRequestLength(rangeSize: rangeSize)
        let share = (maximumLoss - loss) / min(others, max(1, Int64(streamsPerFile) - 1))
        return min(usual, max(FileSink.blockSize, share - share % FileSink.blockSize))
    }
}
