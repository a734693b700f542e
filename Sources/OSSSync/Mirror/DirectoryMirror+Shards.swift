public import SyncEngine
public import SyncModel

extension DirectoryMirror {
    /// Asks whether a directory is a mirror, before a task of an array opens it: where its disk is
    /// not mounted, nothing is to be written into the mount point.
    ///
    /// - Parameter directory: Its path.
    /// - Throws: `SyncError` of code `refused` if nothing was mirrored into the directory yet.
    public static func requireMirror(in directory: String) throws(SyncError) {
        try MirrorEngine.requireMirror(in: directory)
    }

    /// Cuts the mirror into shards, each a range of keys with a manifest of its own, so that many
    /// processes on many machines can each do some of them; one that is cut is cut anew.
    ///
    /// A directory that belongs to a user's configuration is linked first if it is not.
    ///
    /// - Parameters:
    ///   - options: How many shards, or where they begin.
    ///   - onWarning: Called with what a user should know.
    /// - Returns: The shards in key order.
    /// - Throws: `SyncError`: `locked` while a run is at work; the mirror is as it was then.
    public func cut(
        _ options: CutOptions,
        onWarning: @escaping @Sendable (String) -> Void
    ) async throws(SyncError) -> [ShardReport] {
        if !options.isDryRun { try linkIfConfigured() }
        return try await engine(connectionLimit: options.connectionLimit, asOf: nil)
            .cut(options, onWarning: onWarning)
    }

    /// Ends a round: deletes what the runs of all shards have planned, if all of them have come to
    /// their ends and nothing speaks against it.
    ///
    /// - Parameters:
    ///   - round: The name that the runs of the shards were given.
    ///   - direction: What those runs were.
    ///   - options: Those of the runs; the limits of deletions can be others.
    ///   - onEvent: Called from any thread; the last event is the summary.
    /// - Returns: What was done.
    /// - Throws: `SyncError`: `locked` while a run of a shard is at work, `configuration` if the
    ///   options differ from those of the runs.
    public func finish(
        round: String,
        _ direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> RunSummary {
        try await engine(connectionLimit: options.connectionLimit, asOf: nil)
            .finish(round: round, direction, options: options, onEvent: onEvent)
    }

    /// A round over the shards, or the newest one.
    ///
    /// - Returns: Nil if there is none.
    /// - Throws: `SyncError` of code `localState` if what is recorded of it is damaged.
    public func round(_ name: String?) throws(SyncError) -> RoundReport? {
        try engine(connectionLimit: 1, asOf: nil).round(name)
    }

    /// The shards in key order, and what their last runs came to.
    ///
    /// - Returns: Nil if the mirror is not cut.
    /// - Throws: `SyncError` of code `localState` if what is recorded of them is damaged.
    public func shards() throws(SyncError) -> [ShardState]? {
        try engine(connectionLimit: 1, asOf: nil).shards()
    }
}
