/// Sizes and counts that bound what a run holds at once and what an interruption costs.
///
/// The program has one set of them; a simulation makes them small, so that few and small files meet
/// every boundary.
package struct EngineLimits: Sendable {
    /// Ranges or parts of one file that are under way at once.
    package var streamsPerFile: Int
    /// Bytes between two checkpoints of one stream.
    package var checkpointInterval: Int64
    /// Bytes of one stream that a kill may cost; above it the stream waits for its checkpoint.
    package var maximumUncheckpointed: Int64
    /// Files above this size count as large: few at once, each with several streams.
    package var largeItem: Int64
    /// Files of this size and more are worth a question before they are transferred again.
    package var smallestWorthAsking: Int64
    /// Items that wait in one lane of the queue.
    package var laneCapacity: Int
    /// Rows of the manifest for each of the listings that run side by side.
    package var rowsPerListing: Int
    /// Files that are published together.
    package var publicationGroup: Int
    /// Decisions that are written together; rows, walked entries and deletions that are read so.
    package var batch: Int

    package init(
        streamsPerFile: Int,
        checkpointInterval: Int64,
        maximumUncheckpointed: Int64,
        largeItem: Int64,
        smallestWorthAsking: Int64,
        laneCapacity: Int,
        rowsPerListing: Int,
        publicationGroup: Int,
        batch: Int
    ) {
        self.streamsPerFile = streamsPerFile
        self.checkpointInterval = checkpointInterval
        self.maximumUncheckpointed = maximumUncheckpointed
        self.largeItem = largeItem
        self.smallestWorthAsking = smallestWorthAsking
        self.laneCapacity = laneCapacity
        self.rowsPerListing = rowsPerListing
        self.publicationGroup = publicationGroup
        self.batch = batch
    }

    /// As the program runs.
    package static let standard = EngineLimits(
        streamsPerFile: 4,
        checkpointInterval: 2 << 20,
        maximumUncheckpointed: 4 << 20,
        largeItem: 32 << 20,
        smallestWorthAsking: 1 << 20,
        laneCapacity: 2_048,
        rowsPerListing: 8_000,
        publicationGroup: 256,
        batch: 1_000
    )
}
