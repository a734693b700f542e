internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// Mirrors one directory and one remote.
package struct MirrorEngine: Sendable {
    var settings: MirrorSettings

    package init(settings: MirrorSettings) {
        self.settings = settings
    }

    /// Makes one side what the other is.
    ///
    /// Cancelling the task ends the run with what is needed to go on kept.
    ///
    /// - Returns: What was done, also where items failed.
    /// - Throws: Why the run could not be done or ended early; the last event is the summary of
    ///   what was done until then.
    package func run(
        _ direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> RunSummary {
        let session = try await MirrorSession.open(
            settings,
            locks: !options.isDryRun,
            allowsRebinding: options.allowsRebinding
        )
        if direction != .push { try session.requireWritable(settings) }
        let run = MirrorRun(
            settings: settings,
            session: session,
            direction: direction,
            options: options,
            onEvent: onEvent
        )
        return options.isDryRun ? try await run.preview() : try await run.perform()
    }
}

extension DecisionPolicy {
    /// The longest key of either service, in bytes.
    private static let longestKey = 1_023

    init(_ direction: SyncDirection, _ options: RunOptions, prefix: ObjectKey) {
        let choice: ConflictChoice =
            switch options.conflictPolicy {
            case .keepBoth: .keepBoth
            case .local: .local
            case .remote: .remote
            case .skip: .skip
            case .fail: .fail
            }
        self.init(
            direction: Direction(direction),
            deletesKnown: options.deletesKnown,
            deletesExtra: options.deletesExtra,
            replacesLocalChanges: options.replacesLocalChanges,
            comparesContent: options.comparesContent,
            conflict: choice,
            judgesInodes: true,
            followsLinkObjects: true,
            maximumKeyLength: Self.longestKey - prefix.bytes.count
        )
    }
}

extension Direction {
    init(_ direction: SyncDirection) {
        self =
            switch direction {
            case .pull: .pull
            case .push: .push
            case .sync: .sync
            }
    }
}
