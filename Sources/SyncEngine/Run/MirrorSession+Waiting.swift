internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

extension MirrorSession {
    /// How often a directory that another run holds is tried again; not every file system can wait
    /// for a lock, and none for two at once.
    private static let lockInterval = Duration.seconds(1)

    /// Opens the session, waiting for another run as long as the options say.
    static func open(
        _ settings: MirrorSettings,
        _ options: RunOptions,
        _ direction: SyncDirection,
        mayFetchRules: Bool,
        _ onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(TransferError) -> MirrorSession {
        let start = settings.environment.monotonic()
        var isWaiting = false
        while true {
            do throws(TransferError) {
                return try await open(
                    settings,
                    locks: !options.isDryRun,
                    allowsRebinding: options.allowsRebinding,
                    mayFetchRules: mayFetchRules,
                    sends: direction != .pull,
                    onWait: { onEvent(.warning(message: $0)) }
                )
            } catch {
                let waited = settings.environment.monotonic() - start
                let left = options.lockTimeout.map { $0 - waited } ?? Self.lockInterval
                guard error.code == .locked, left > .zero else { throw error }
                if !isWaiting { onEvent(.warning(message: "waiting: \(error.message)")) }
                isWaiting = true
                do {
                    try await settings.environment.sleep(min(left, Self.lockInterval))
                } catch {
                    throw TransferError(any: error)
                }
            }
        }
    }

    /// Checks that the places which a run writes to can be written, and opens that of old versions.
    func requirePlaces(
        _ settings: MirrorSettings,
        _ direction: SyncDirection,
        _ options: RunOptions
    ) throws(TransferError) {
        if direction != .push { try requireWritable(settings) }
        guard let path = options.backupDirectory, !options.isDryRun else { return }
        do throws(LocalError) {
            try directory.trash.keepOldVersions(in: path)
        } catch {
            throw TransferError(code: .configuration, message: error.message, underlying: error)
        }
    }

    /// Why every run of this direction would be refused, whatever is in the directory; nil if none
    /// would be.
    func refusal(of direction: SyncDirection, _ settings: MirrorSettings) -> String? {
        if let reason = settings.timeRefusal(of: direction) { return reason }
        guard direction != .push else { return nil }
        do throws(LocalError) {
            try directory.requireOwn()
            return nil
        } catch {
            return error.message
        }
    }
}
