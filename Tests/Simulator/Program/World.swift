internal import CVirtualFiles
internal import ObjectStorage
internal import SyncModel

/// One simulation: a bucket, a disk, a clock, the engine between them, and what must always hold.
///
/// Unchecked, because a simulation has one thread.
final class World: @unchecked Sendable {
    static let prefix = ObjectKey("mirror/")
    static let bucketName = "bucket"

    let history: History
    let scheduler: Scheduler
    let disk = VirtualDisk()
    var service: VirtualService
    var model = Model()
    var tree = DiskTree()
    var statistics = Statistics()
    private(set) var violations: [Violation] = []

    /// Faults that struck, by the operation.
    private(set) var struck: [Int: [String]] = [:]

    /// The run that goes on.
    var run: RunState?
    /// The one before.
    var lastRun: RunState?
    var runCount = 0
    /// The wall clock is so far from the true time.
    var wallOffset = Duration.zero
    var bootCount = 0
    /// The remote's name differs from the first one.
    var isRenamed = false
    var savedManifest: [String: [UInt8]]?
    /// What the service said some changes ago, for listings that lag behind.
    var staleBucket = VirtualBucket()
    /// Versions that the tool asked for or made, by their serial numbers.
    var knownSerials: Set<Int> = []
    /// Unfinished uploads of others.
    var foreignUploads: Set<String> = []
    /// Unfinished uploads of which a run said that the service does not let it abort them.
    var namedUploads: Set<String> = []
    /// A manifest was lost with all that only it knew.
    var manifestWasLost = false
    /// The manifest was damaged or is a copy of another time: its rows may be wrong.
    var manifestIsOld = false
    /// Bytes that were received of each version, for what comes twice.
    var received = ReceivedBytes()
    var waste = Waste()
    var sentParts = SentParts()
    var sentNonces = SentNonces()
    /// The machine's clock was so wrong that uploads look older or newer than their requests.
    var clockWasWrong = false
    /// The remote's host in the manifest; nil if that is not known.
    var recordedHost: String?
    /// A copy of the directory.
    var backup: Backup?
    /// The directory is another one than the manifest was made with, or was put back.
    var directoryWasReplaced = false
    var volumes: [Name: Volume] = [:]
    var volumeNumbers: [Name: Int] = [:]
    /// Users wrote the ignore file that is there, and no run.
    var ignoreFileIsUsers = true
    /// Names that users hid, or that were hidden in an earlier run.
    var hiddenNames: Set<String> = []
    /// All that any ignore file hid here once: runs may leave it alone.
    var onceHiddenNames: Set<String> = []
    /// When each content was first seen in the trash.
    var trashedAt: [ContentID: Duration] = [:]
    /// What else is known of a wide world.
    var wide = WideState()
    /// A second bucket, of another remote.
    var secondService: VirtualService?
    /// What the manifest said when it was last looked at.
    var rows: [ObjectKey: ManifestEntry] = [:]
    /// Partial files of which the disk once failed to take the content, by their paths.
    var unwritten: Set<String> = []
    /// Partial files that were there when the disk failed to take everything in this run.
    var doubted: Set<String> = []

    var setup: Setup { history.setup }

    init(_ history: History, keepsTrace: Bool) {
        self.history = history
        model.names = history.setup.names
        scheduler = Scheduler(keepsLines: keepsTrace)
        var dialect = history.setup.dialect == .oss ? StorageDialect.oss : StorageDialect.s3
        dialect.minimumPartSize = history.setup.minimumPartSize
        dialect.maximumCopySize = history.setup.maximumCopySize
        service = VirtualService(
            dialect: dialect,
            bucketName: Self.bucketName,
            pageSize: history.setup.pageSize
        )
        service.bucket.isSealed = history.setup.isEncrypted == true
    }

    // MARK: - Time

    /// What time it is.
    var now: Timestamp {
        Timestamp(nanosecondsSince1970: 1_767_323_045_000_000_000 + nanoseconds(scheduler.elapsed))
    }

    /// What the machine believes that it is.
    var wallTime: Timestamp {
        Timestamp(nanosecondsSince1970: now.nanosecondsSince1970 + nanoseconds(wallOffset))
    }

    private func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    // MARK: - Reports

    func trace(_ text: @autoclosure () -> String) {
        scheduler.trace.note(text())
    }

    func report(_ promise: Violation.Promise, _ what: String) {
        let violation = Violation(promise: promise, what: "run \(runCount): \(what)")
        scheduler.trace.say("VIOLATION \(violation)")
        violations.append(violation)
    }

    /// Takes the prefix off a key of the bucket; nil for a key outside it.
    static func relative(_ key: ObjectKey) -> ObjectKey? {
        guard key.hasPrefix(prefix), key.bytes.count > prefix.bytes.count else { return nil }
        return ObjectKey([UInt8](key.bytes.dropFirst(prefix.bytes.count)))
    }

    static func whole(_ key: ObjectKey) -> ObjectKey { ObjectKey(prefix.bytes + key.bytes) }
}

// MARK: - The whole history

extension World {
    /// Carries out the history; the violations are what there is to know.
    func play() {
        begin()
        statistics.seeds += 1
        if let nodes = setup.nodes { return NodeSimulation(self, nodes).play() }
        for (index, operation) in history.operations.enumerated() {
            statistics.operations += 1
            trace("operation \(index)")
            let before = runCount
            switch operation {
            case .world(let change): apply(change)
            case .run(let options): carryOut(options)
            case .nodes: break
            }
            if runCount > before, let lastRun { struck[index] = lastRun.dice.struck }
            guard violations.isEmpty else { return }
        }
        finish()
    }

    private func begin() {
        disk.reset(entropy: history.seed)
        disk.setTime(wallTime)
        DiskSettings.apply(setup)
        beginWider()
        disk.unseen {
            DiskEdits.makeDirectory([UInt8](VirtualDisk.mirror.utf8))
            DiskEdits.makeDirectory([UInt8](VirtualDisk.outside.utf8))
            let canary = [UInt8]((VirtualDisk.outside + "/canary").utf8)
            DiskEdits.write(canary, [UInt8]("untouched".utf8), truncates: true)
            writeBootID()
        }
        scheduler.onStep = { [weak self] number in self?.stepBegins(number) }
        // What lies beside the prefix is nobody's business.
        service.bucket.put(
            "mirror-beside",
            bytes: [1, 2, 3],
            metadata: [:],
            now: now,
            author: .world
        )
        _ = service.takeEffects()
        staleBucket = service.bucket
    }

    func writeBootID() {
        bootCount += 1
        let text = "boot-\(bootCount)-of-this-machine\n"
        let path = [UInt8](VirtualDisk.bootIDPath.utf8)
        DiskEdits.write(path, [UInt8](text.utf8), truncates: true)
        DiskEdits.synchronizeAll(VIRTUAL_FILES_ROOT)
    }

    private func stepBegins(_ number: Int) {
        disk.setTime(wallTime)
        service.now = now
        guard let run else { return }
        if let point = run.isDyingAt, let interruption = run.options.interruption {
            interrupt(interruption, at: point)
        }
        interrupt(at: .step, number, "between two steps")
        guard run.wantsCancel else { return }
        run.wantsCancel = false
        run.task?.cancel()
    }
}
