package import ObjectTransfer

/// Sizes and counts that bound what a run holds at once.
///
/// The program has one set of them; a simulation makes them small, so that few and small files meet
/// every boundary.
package struct RunLimits: Sendable {
    package var transfer: TransferLimits
    /// Files above this size count as large: few at once, each with several streams.
    package var largeItem: Int64
    /// Files of this size and more are worth a question before they are transferred again.
    package var smallestWorthAsking: Int64
    /// Smaller ones are transferred anew under another name: a copy takes as many requests.
    package var smallestSearchable: Int64
    /// Items that wait in one lane of the queue.
    package var laneCapacity: Int
    /// Rows of the manifest for each of the listings that run side by side.
    package var rowsPerListing: Int
    /// Files that are published together.
    package var publicationGroup: Int
    /// Decisions that are written together; rows, walked entries and deletions that are read so.
    package var batch: Int
    /// Items of a kind that wait for a later part of the run.
    package var waiting = 10_000

    package init(
        transfer: TransferLimits,
        largeItem: Int64,
        smallestWorthAsking: Int64,
        smallestSearchable: Int64,
        laneCapacity: Int,
        rowsPerListing: Int,
        publicationGroup: Int,
        batch: Int
    ) {
        self.transfer = transfer
        self.largeItem = largeItem
        self.smallestWorthAsking = smallestWorthAsking
        self.smallestSearchable = smallestSearchable
        self.laneCapacity = laneCapacity
        self.rowsPerListing = rowsPerListing
        self.publicationGroup = publicationGroup
        self.batch = batch
    }

    /// As the program runs.
    package static let standard = RunLimits(
        transfer: .standard,
        largeItem: 32 << 20,
        smallestWorthAsking: 1 << 20,
        smallestSearchable: 256 << 10,
        laneCapacity: 2_048,
        rowsPerListing: 8_000,
        publicationGroup: 256,
        batch: 1_000
    )
}
