internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// What every attempt at a transfer that stands alone works with, in either direction.
package struct TransferServices: Sendable {
    /// The preferred size of a part or range, in bytes.
    package let partSize: Int64
    /// Parts or ranges under way at once.
    package let streams: Int
    package let environment: EngineEnvironment
    package let record: TransferRecord
    let disk: BlockingQueue
    private let hashing: BlockingQueue
    private let limiter: ConnectionLimiter
    private let onBegin: @Sendable (ProgressTracker.Transfer) -> Void
    private let onStartOver: @Sendable (StartOverReason) -> Void

    /// Makes the services of one transfer, for all its attempts.
    ///
    /// - Parameters:
    ///   - subject: What is transferred, without secrets; a record of anything else is not used.
    ///   - recordDirectory: Where the record is kept, nil for memory only.
    ///   - recordName: The name of the record's file.
    ///   - partSize: The preferred size of a part or range, in bytes.
    ///   - streams: Parts or ranges under way at once.
    ///   - environment: Clocks and chance.
    ///   - onBegin: Called when it is known what is there already.
    ///   - onStartOver: Called when something begins again.
    package init(
        subject: String,
        recordDirectory: String?,
        recordName: String,
        partSize: Int64,
        streams: Int,
        environment: EngineEnvironment,
        onBegin: @escaping @Sendable (ProgressTracker.Transfer) -> Void,
        onStartOver: @escaping @Sendable (StartOverReason) -> Void
    ) {
        self.partSize = partSize
        self.streams = streams
        self.environment = environment
        self.onBegin = onBegin
        self.onStartOver = onStartOver
        disk = BlockingQueue(label: "osssync.transfer", width: 1, threads: .system)
        hashing = BlockingQueue(label: "osssync.hash", width: 1, threads: .system)
        record = TransferRecord(
            subject: subject,
            directory: recordDirectory,
            fileName: recordName,
            disk: disk
        )
        limiter = ConnectionLimiter(
            maximum: streams,
            byteBudget: 1 << 30,
            monotonic: environment.monotonic
        )
    }

    /// The means of an attempt whose files are in `directory`.
    func means(_ store: any ObjectStore, _ directory: MirrorDirectory) -> TransferMeans {
        var limits = EngineLimits.standard
        limits.streamsPerFile = streams
        return TransferMeans(
            store: store,
            prefix: "",
            directory: directory,
            records: record,
            limiter: limiter,
            environment: environment,
            partSize: partSize,
            limits: limits,
            largestUnrecorded: -1,
            disk: disk,
            hashing: hashing,
            emit: { _ in },
            onStartOver: onStartOver
        )
    }

    /// Tells of the beginning of `transfer`, which `means` are for.
    func watch(_ transfer: ProgressTracker.Transfer, _ means: inout TransferMeans) {
        let onBegin = onBegin
        means.emit = { event in
            guard case .item(let item) = event else { return }
            switch item.state {
            case .started, .resumed: onBegin(transfer)
            case .planned, .done, .failed, .skipped: break
            }
        }
    }
}
