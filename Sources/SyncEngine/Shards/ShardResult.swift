internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What a run of a shard came to, in a file beside the shard's manifest: what `finish` judges.
///
/// It is written once everything that it tells of is durable, and removed when the next run of the
/// shard begins.
struct ShardResult: Sendable, Hashable {
    static let fileName = "result"
    private static let heading = "osssync-result 1"

    let round: String
    let cutting: String
    let check: DeletionGuard
    /// Items that failed or were skipped, or any other reason why the shard is to be run again.
    let problems: Int
    let waiting: Int
    let mayConfirm: Bool
    let transferred: Int
    let bytes: Int64
    /// True if both sides of the shard are equal once the planned deletions are done.
    let isInStep: Bool
    /// What no run mirrors, of the shard.
    let notMirrored: Int
    /// What the manifest records at the end of the run.
    let recorded: Int

    /// True if the run was in this round, of the same cutting and direction.
    func isOf(_ round: Round) -> Bool {
        self.round == round.name && cutting == round.cutting && check.direction == round.direction
    }

    /// True if another run in the same round would have nothing to do.
    var isComplete: Bool {
        problems == 0 && check.isListingProven && check.isScanProven && check.isSameDirectory
    }
}

extension ShardResult {
    var content: [UInt8] {
        var record = StateRecord(Self.heading)
        record.add("round", round)
        record.add("cutting", cutting)
        record.add("direction", check.direction.rawValue)
        for (name, value) in numbers { record.add(name, value) }
        for (name, value) in flags { record.add(name, value) }
        return record.content
    }

    private var numbers: [(String, Int)] {
        [
            ("deletions", check.deletions), ("rows", check.rows), ("listed", check.listedObjects),
            ("walked", check.walkedEntries), ("left-out", check.leftOutNames),
            ("left-out-objects", check.leftOutObjects),
            ("failed", check.failedItems), ("skipped", check.skippedItems),
            ("vanished", check.vanishedItems), ("problems", problems), ("waiting", waiting),
            ("transferred", transferred), ("bytes", Int(bytes)), ("recorded", recorded),
            ("not-mirrored", notMirrored),
        ]
    }

    private var flags: [(String, Bool)] {
        [
            ("listing-proven", check.isListingProven), ("walk-proven", check.isScanProven),
            ("same-directory", check.isSameDirectory), ("rebuilt", check.isManifestRebuilt),
            ("may-confirm", mayConfirm), ("in-step", isInStep),
        ]
    }

    /// Nil for what was never written.
    init?(content: [UInt8]) {
        guard let record = StateRecord(Self.heading, content: content),
            let round = record.text("round"), let cutting = record.text("cutting"),
            let direction = record.text("direction").flatMap({ SyncDirection(rawValue: $0) }),
            let isListingProven = record.flag("listing-proven"),
            let isScanProven = record.flag("walk-proven"),
            let isSameDirectory = record.flag("same-directory"),
            let isRebuilt = record.flag("rebuilt"), let mayConfirm = record.flag("may-confirm"),
            let isInStep = record.flag("in-step")
        else { return nil }
        var numbers: [String: Int] = [:]
        for (name, value) in record.values {
            if let number = Int(String(decoding: value, as: UTF8.self)) { numbers[name] = number }
        }
        func number(_ name: String) -> Int { numbers[name] ?? 0 }
        (self.round, self.cutting) = (round, cutting)
        var check = DeletionGuard(
            direction: direction,
            deletions: number("deletions"),
            rows: number("rows"),
            listedObjects: number("listed"),
            walkedEntries: number("walked"),
            isListingProven: isListingProven,
            isScanProven: isScanProven,
            failedItems: number("failed"),
            skippedItems: number("skipped"),
            vanishedItems: number("vanished"),
            isSameDirectory: isSameDirectory,
            isManifestRebuilt: isRebuilt,
            allowsEmpty: false,
            limit: .percent(0)
        )
        check.leftOutNames = number("left-out")
        check.leftOutObjects = number("left-out-objects")
        self.check = check
        (problems, waiting) = (number("problems"), number("waiting"))
        (self.mayConfirm, self.isInStep) = (mayConfirm, isInStep)
        (transferred, bytes) = (number("transferred"), Int64(number("bytes")))
        (recorded, notMirrored) = (number("recorded"), number("not-mirrored"))
        guard self.content == content else { return nil }
    }

    /// Nil if there is none.
    ///
    /// - Throws: `localState` if it was cut short or altered.
    static func read(
        _ folder: [String],
        in directory: MirrorDirectory
    ) throws(SyncError) -> ShardResult? {
        let content: [UInt8]?
        do throws(LocalError) {
            content = try directory.stateFolder(folder, makes: false)?.read(fileName)
        } catch {
            throw SyncError(error)
        }
        guard let content else { return nil }
        guard let result = ShardResult(content: content) else {
            throw Cutting.damaged(
                (folder + [fileName]).joined(separator: "/"),
                advice: "Remove it, and run the shard again"
            )
        }
        return result
    }
}

extension ShardCounts {
    /// Of the shards of these numbers, without the deletions that wait.
    init(of results: [ShardResult?], _ numbers: [Int], _ round: Round) {
        let known = results.compactMap { $0 }
        count = numbers.count
        complete = known.count { $0.isComplete }
        missing = zip(numbers, results).filter { $1 == nil }.map { $0.0 }
        self.round = round.name
        transferred = known.reduce(0) { $0 + $1.transferred }
        bytes = known.reduce(0) { $0 + $1.bytes }
        isInStep = !numbers.isEmpty && known.count == count && known.allSatisfy(\.isInStep)
    }
}

extension DeletionGuard {
    /// The guard of a whole mirror from those of its shards: proven if all are, rebuilt if any is.
    static func sum(
        of checks: [DeletionGuard],
        _ direction: SyncDirection,
        allowsEmpty: Bool,
        limit: DeletionLimit
    ) -> DeletionGuard {
        func total(_ value: (DeletionGuard) -> Int) -> Int {
            checks.reduce(0) { $0 + value($1) }
        }
        var sum = DeletionGuard(
            direction: direction,
            deletions: total(\.deletions),
            rows: total(\.rows),
            listedObjects: total(\.listedObjects),
            walkedEntries: total(\.walkedEntries),
            isListingProven: checks.allSatisfy(\.isListingProven),
            isScanProven: checks.allSatisfy(\.isScanProven),
            failedItems: total(\.failedItems),
            skippedItems: total(\.skippedItems),
            vanishedItems: total(\.vanishedItems),
            isSameDirectory: checks.allSatisfy(\.isSameDirectory),
            isManifestRebuilt: checks.contains(where: \.isManifestRebuilt),
            allowsEmpty: allowsEmpty,
            limit: limit
        )
        sum.leftOutNames = total(\.leftOutNames)
        sum.leftOutObjects = total(\.leftOutObjects)
        sum.renames = total(\.renames)
        return sum
    }
}
