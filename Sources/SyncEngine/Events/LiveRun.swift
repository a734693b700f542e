package import ObjectStorage

/// What a run that works now shows to other processes of its user.
package struct LiveRun: Sendable, Hashable {
    /// What runs, in one word: `pull`, `push`, `sync` or `verify`.
    package var title: String
    /// How far it is; of the transfers only those that are worth a line.
    package var progress: RunProgress
    /// Bytes per second over the last seconds; nil if that is not known.
    package var rate: Int64?
    /// Bytes per second over half a minute, from which the time left is estimated; nil while
    /// nothing moves.
    package var steadyRate: Int64?
    /// How long it will take; nil while that cannot be told.
    package var remaining: Duration?
    /// Since the run began.
    package var elapsed: Duration
    /// Why requests wait, safe to print; nil if they do not.
    package var waiting: String?

    /// Makes a report of a run.
    package init(
        title: String,
        progress: RunProgress,
        rate: Int64?,
        steadyRate: Int64?,
        remaining: Duration?,
        elapsed: Duration,
        waiting: String?
    ) {
        self.title = title
        self.progress = progress
        self.rate = rate
        self.steadyRate = steadyRate
        self.remaining = remaining
        self.elapsed = elapsed
        self.waiting = waiting
    }
}

extension LiveRun: StateFile {
    package static let heading = "osssync-live 1"

    package static func code(
        _ fields: inout JSONFields,
        _ value: Self?
    ) throws(JSONFailure) -> Self {
        Self(
            title: try fields("title", value?.title),
            progress: try fields("progress", value?.progress),
            rate: try fields.optional("rate", value?.rate),
            steadyRate: try fields.optional("steady_rate", value?.steadyRate),
            remaining: try fields.optional("remaining", value?.remaining?.components.seconds)
                .map { .seconds($0) },
            elapsed: .seconds(try fields("elapsed", value?.elapsed.components.seconds)),
            waiting: try fields.optional("waiting", value?.waiting)
        )
    }
}

extension RunProgress: JSONObject {
    package static func code(
        _ fields: inout JSONFields,
        _ value: Self?
    ) throws(JSONFailure) -> Self {
        var progress = Self(
            isPlanComplete: try fields("complete", value?.isPlanComplete),
            itemsPlanned: try fields("items", value?.itemsPlanned),
            itemsFinished: try fields("items_finished", value?.itemsFinished),
            bytesPlanned: try fields("bytes", value?.bytesPlanned),
            bytesFinished: try fields("bytes_finished", value?.bytesFinished),
            bytesResumed: try fields("bytes_resumed", value?.bytesResumed),
            active: try fields("active", value?.active)
        )
        progress.failed = try fields("failed", value?.failed)
        progress.keysCompared = try fields("compared", value?.keysCompared)
        progress.keysRecorded = try fields("recorded", value?.keysRecorded)
        return progress
    }
}

extension ActiveTransfer: JSONObject {
    package static func code(
        _ fields: inout JSONFields,
        _ value: Self?
    ) throws(JSONFailure) -> Self {
        var transfer = Self(
            action: try fields("action", value?.action),
            // Bytes that are not UTF-8 are in the shown form only.
            key: try fields("key", value?.key),
            displayKey: try fields("shown", value?.displayKey),
            size: try fields("size", value?.size),
            bytesFinished: try fields("bytes_finished", value?.bytesFinished),
            bytesResumed: try fields("bytes_resumed", value?.bytesResumed)
        )
        transfer.rate = try fields.optional("rate", value?.rate)
        transfer.waiting = try fields.optional("waiting", value?.waiting)
        return transfer
    }
}

extension ItemAction: JSONValue {}
