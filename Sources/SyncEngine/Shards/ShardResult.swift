internal import LocalStorage
package import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
package import SyncPlanner

/// What a run of a shard came to, in a file beside the shard's manifest: what `finish` judges.
///
/// It is written once everything that it tells of is durable, and removed when the next run of the
/// shard begins.
struct ShardResult: Sendable, Hashable {
    static let fileName = "result"

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

extension ShardResult: StateFile {
    static let heading = "osssync-result 1"

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        ShardResult(
            round: try fields("round", value?.round),
            cutting: try fields("cutting", value?.cutting),
            check: try fields("check", value?.check),
            problems: try fields("problems", value?.problems),
            waiting: try fields("waiting", value?.waiting),
            mayConfirm: try fields("may_confirm", value?.mayConfirm),
            transferred: try fields("transferred", value?.transferred),
            bytes: try fields("bytes", value?.bytes),
            isInStep: try fields("in_step", value?.isInStep),
            notMirrored: try fields("not_mirrored", value?.notMirrored),
            recorded: try fields("recorded", value?.recorded)
        )
    }

    /// Nil if there is none.
    ///
    /// - Throws: `localState` if it was cut short or altered.
    static func read(
        _ folder: [String],
        in directory: MirrorDirectory
    ) throws(TransferError) -> ShardResult? {
        let name = (folder + [fileName]).joined(separator: "/")
        return try read(name, advice: "Remove it, and run the shard again") {
            () throws(LocalError) in
            try directory.state.folder(folder, makes: false)?.read(fileName)
        }
    }
}

/// Without what a run allows, which is that of the run that judges.
extension DeletionGuard: JSONObject {
    package static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
    {
        var check = DeletionGuard(
            direction: try fields("direction", value?.direction),
            deletions: try fields("deletions", value?.deletions),
            rows: try fields("rows", value?.rows),
            listedObjects: try fields("listed", value?.listedObjects),
            walkedEntries: try fields("walked", value?.walkedEntries),
            isListingProven: try fields("listing_proven", value?.isListingProven),
            isScanProven: try fields("walk_proven", value?.isScanProven),
            failedItems: try fields("failed", value?.failedItems),
            skippedItems: try fields("skipped", value?.skippedItems),
            vanishedItems: try fields("vanished", value?.vanishedItems),
            isSameDirectory: try fields("same_directory", value?.isSameDirectory),
            isManifestRebuilt: try fields("rebuilt", value?.isManifestRebuilt),
            allowsEmpty: false,
            limit: .percent(0)
        )
        check.renames = try fields("renames", value?.renames)
        check.heldRows = try fields("held_rows", value?.heldRows)
        check.keptRows = try fields("kept_rows", value?.keptRows)
        check.leftOutNames = try fields("left_out", value?.leftOutNames)
        check.leftOutObjects = try fields("left_out_objects", value?.leftOutObjects)
        check.bare.rows = try fields("bare_rows", value?.bare.rows)
        check.bare.objects = try fields("bare_objects", value?.bare.objects)
        check.bare.entries = try fields("bare_entries", value?.bare.entries)
        return check
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
        sum.keptRows = total(\.keptRows)
        sum.leftOutNames = total(\.leftOutNames)
        sum.leftOutObjects = total(\.leftOutObjects)
        sum.bare = Bare(
            rows: total(\.bare.rows),
            objects: total(\.bare.objects),
            entries: total(\.bare.entries)
        )
        (sum.renames, sum.heldRows) = (total(\.renames), total(\.heldRows))
        return sum
    }
}
