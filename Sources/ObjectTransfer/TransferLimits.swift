/// Sizes and counts that bound what one transfer holds at once and what an interruption costs.
package struct TransferLimits: Sendable {
    /// Ranges or parts of one file that are under way at once.
    package var streamsPerFile: Int
    /// Bytes between two checkpoints of one stream.
    package var checkpointInterval: Int64
    /// Bytes of one stream that a kill may cost; above it the stream waits for its checkpoint.
    package var maximumUncheckpointed: Int64

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
