internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// What every attempt at a single transfer needs, in either direction.
package struct SingleTransfer: Sendable {
    /// The preferred size of a part or range, in bytes.
    package let partSize: Int64
    /// Parts or ranges under way at once.
    package let streams: Int
    package let environment: EngineEnvironment
    package let record: CheckpointFile
    let disk: BlockingQueue
    private let hashing: BlockingQueue
    private let limiter: ConnectionLimiter
    private let observer: TransferObserver

    /// Makes the services of one transfer, for all its attempts.
    ///
    /// - Parameters:
    ///   - subject: What is transferred, without secrets; a record of anything else is not used.
    ///   - place: Where the record is kept, nil for memory only.
    ///   - partSize: The preferred size of a part or range, in bytes.
    ///   - streams: Parts or ranges under way at once.
    ///   - environment: Clocks and random numbers.
    ///   - observer: Notified of what happens.
    package init(
        subject: String,
        place: RecordPlace?,
        partSize: Int64,
        streams: Int,
        environment: EngineEnvironment,
        observer: TransferObserver
    ) {
        self.partSize = partSize
        self.streams = streams
        self.environment = environment
        self.observer = observer
        disk = BlockingQueue(label: "osssync.transfer", width: 1, threads: .system)
        hashing = BlockingQueue(label: "osssync.hash", width: 2, threads: .system)
        record = CheckpointFile(
            subject: subject,
            place: place,
            disk: disk
        )
        limiter = ConnectionLimiter(
            maximum: streams,
            monotonic: environment.monotonic,
            sleep: environment.sleep
        )
    }

    /// The means of an attempt whose files are in `directory`.
    func context(_ store: any ObjectReader, _ directory: MirrorDirectory) -> TransferContext {
        var limits = TransferLimits.standard
        limits.streamsPerFile = streams
        limits.maximumUnread = ReceiveBuffer.maximum
        let environment = environment
        return TransferContext(
            store: LimitedStore(store, limiter),
            prefix: "",
            directory: directory,
            records: record,
            hasRecords: true,
            environment: environment,
            partSize: partSize,
            limits: limits,
            largestUnrecorded: -1,
            disk: disk,
            hashing: hashing,
            observer: observer,
            uploadToken: { _, _ in environment.randomName(UploadCheckpoint.tokenLength) }
        )
    }
}
