internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// What all attempts at one transfer share, in either direction.
struct TransferAttempts: Sendable {
    /// What messages call it, safe to print.
    let subject: String
    /// The preferred size of a part or range, in bytes.
    let partSize: Int64
    /// The largest content that goes in one request although it is larger than a part, in bytes.
    let largestSinglePut: Int64
    /// Parts or ranges under way at once.
    let streams: Int
    /// Bytes that a pause may cost.
    var pauseLoss: Int64 = 0
    /// False if a partial file takes no more room than what it holds.
    var reservesSpace = true
    let reconnects: ConnectionSettings.ReconnectPolicy?
    let onNotice: @Sendable (TransferNotice) -> Void
    /// The same for waits of single requests, which a monitor hears of by itself.
    private let onWait: @Sendable (TransferNotice) -> Void
    let progress: TransferProgress.Updates
    /// Raised when there may be a network again.
    let network = Condition()
    let environment = SystemClocks.engine(hostName: "")
    let record: CheckpointFile
    let disk = BlockingQueue(label: "osssync.transfer", width: 1, threads: .system)
    private let hashing = BlockingQueue(label: "osssync.hash", width: 2, threads: .system)
    private let limiter: ConnectionLimiter

    /// - Parameters:
    ///   - subject: What messages call it, safe to print.
    ///   - options: What both directions have in common.
    ///   - object: What is transferred, without secrets; a record of anything else is not used.
    ///   - place: Where the record is kept; nil for memory only.
    ///   - monitor: Hears of notices, too.
    ///   - onNotice: The caller's.
    init(
        _ subject: String,
        _ options: some TransferOptions,
        _ object: String,
        _ place: RecordPlace?,
        monitor: TransferMonitor?,
        onNotice: @escaping @Sendable (TransferNotice) -> Void
    ) {
        self.subject = subject
        partSize = options.preferredPartSize
        largestSinglePut = options.largestSinglePut
        streams = options.streams
        reconnects = options.reconnects
        self.onNotice = monitor.noting(subject, onNotice)
        onWait = onNotice
        progress = TransferProgress.Updates(
            progressState: ProgressState(),
            interval: options.progressInterval,
            sleep: environment.sleep
        )
        record = CheckpointFile(
            subject: object,
            place: place,
            disk: disk,
            environment: environment
        )
        limiter = ConnectionLimiter(
            maximum: options.streams,
            monotonic: environment.monotonic,
            sleep: environment.sleep
        )
    }

    var progressState: ProgressState { progress.progressState }
}

// MARK: - Running one

extension TransferAttempts {
    /// Runs an attempt, again after a lost connection if the options ask for it.
    ///
    /// - Throws: `TransferError` of code `cancelled` after a pause.
    func run<Value: Sendable>(
        _ gate: PauseGate,
        _ attempt: @escaping @Sendable () async throws(ItemFailure) -> Value
    ) async throws(TransferError) -> Value {
        try await watching { await reconnecting(gate, attempt) }
    }

    /// Reports failures of what is done between attempts as those of the transfer.
    func reporting<Value>(
        _ body: () async throws(ItemFailure) -> Value
    ) async throws(TransferError) -> Value {
        try await watching { () async -> Result<Value, ItemFailure> in
            do throws(ItemFailure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
    }

    private func watching<Value>(
        _ body: () async -> Result<Value, ItemFailure>
    ) async throws(TransferError) -> Value {
        let result = await ConnectionWatch.$current.withValue(makeWatch(), operation: body)
        return try result.mapError { TransferError($0, of: subject) }.get()
    }

    /// Tells that requests wait for a connection, once for all that lose it at the same time.
    private func makeWatch() -> ConnectionWatch {
        let told = Mutex<(moved: Int64, pause: Duration)?>(nil)
        return ConnectionWatch(network: network) { [progressState, onWait] wait in
            let moved = progressState.snapshot.moved
            let isNew = told.withLock { told in
                if let told, told.moved == moved, wait.pause <= told.pause { return false }
                told = (moved, wait.pause)
                return true
            }
            guard isNew else { return }
            progressState.lose()
            onWait(.waiting(pause: wait.pause, message: wait.error.message))
        }
    }
}

// MARK: - What one needs

extension TransferAttempts {
    /// The means of an attempt whose files are in `directory`.
    func context(_ store: any ObjectReader, _ directory: MirrorDirectory) -> TransferContext {
        var limits = TransferLimits.standard
        limits.streamsPerFile = streams
        limits.maximumUnread = ReceiveBuffer.maximum
        limits.largestSinglePut = largestSinglePut
        let environment = environment
        var context = TransferContext(
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
        context.reservesSpace = reservesSpace
        return context
    }

    /// The means of what has no file.
    func context(_ store: any ObjectReader) async throws(ItemFailure) -> TransferContext {
        let directory = try await disk.reporting { () throws(LocalError) in
            try MirrorDirectory(ofSingleFiles: "/", calls: .standard)
        }
        return context(store, directory)
    }

    /// Reports progress to `progressState` and everything else to the caller's closure.
    private var observer: TransferObserver {
        TransferObserver(
            began: { [progressState, onNotice] transfer, _ in
                progressState.begin(transfer)
                guard transfer.bytesResumed > 0 else { return }
                onNotice(.resumed(bytes: transfer.bytesResumed))
            },
            startedOver: { [onNotice] in onNotice(.startedOver($0)) },
            warned: { [onNotice] in onNotice(.warning(message: $0)) }
        )
    }
}

// MARK: - Options

/// What the options of both directions have in common.
protocol TransferOptions {
    var recordDirectory: String? { get }
    var identity: String? { get }
    var base: String? { get }
    var preferredPartSize: Int64 { get }
    var largestSinglePut: Int64 { get }
    var streams: Int { get }
    var reconnects: ConnectionSettings.ReconnectPolicy? { get }
    var progressInterval: Duration { get }
}

extension DownloadOptions: TransferOptions {
    var preferredPartSize: Int64 { partSize }
    var largestSinglePut: Int64 { 0 }
}

extension UploadOptions: TransferOptions {
    var preferredPartSize: Int64 { partSize ?? 2 << 20 }
    var largestSinglePut: Int64 { partSize == nil ? Self.largestSinglePut : 0 }
}

extension TransferOptions {
    /// Where the record of a transfer of `path` is; `object` is nil for a download.
    func recordPlace(of path: String, object: String?, isOwned: Bool) -> RecordPlace? {
        recordDirectory.map { directory in
            RecordPlace(
                directory: directory,
                identity: identity,
                file: path,
                base: base,
                object: object,
                isOwned: isOwned
            )
        }
    }

    /// Refuses what no transfer can have.
    func check(largestPart: Int64) throws(TransferError) {
        try SettingBounds.check(preferredPartSize, "partSize", 1...largestPart)
        try SettingBounds.check(streams, "streams", 1...64)
        try SettingBounds.check(progressInterval, "progressInterval", SettingBounds.wait)
        try reconnects?.check()
    }
}
