package import LocalStorage
package import ObjectTransfer
package import SyncModel

/// The trash in the bucket, which pushes and syncs fill with `TrashPlace.remote`.
///
/// Each call opens the mirror, with the checks of every run: nothing is changed in the bucket for a
/// directory that is linked with another remote, or with the bucket as it was.
package struct BucketTrash: TrashSide {
    let settings: MirrorSettings

    package var environment: EngineEnvironment { settings.environment }

    package func ownRuns() async throws -> [TrashOfRun] {
        let mark = try await session(locks: false).trashMark(environment)
        return try await objects.runs().filter {
            $0.name.suffix(mark.utf8.count).elementsEqual(mark.utf8)
        }
    }

    package func forEachFile(
        before limit: Timestamp,
        _ onFile: @escaping @Sendable (TrashedFile) -> Bool
    ) async throws {
        let mark = try await session(locks: false).trashMark(environment)
        try await objects.forEachPage([]) { copies in
            for copy in copies where copy.run.time.map({ $0 < limit }) ?? false {
                let path = try? RelativePath(key: copy.key, links: .skip, names: .escape)
                var file = TrashedFile(
                    key: path?.text ?? copy.key.text,
                    displayKey: path?.display ?? copy.key.display,
                    size: copy.object.size,
                    run: copy.run.number,
                    removed: copy.run.time.map { StoreTime($0) },
                    isRemote: true
                )
                file.host = copy.run.host(unless: mark)
                guard onFile(file) else { return false }
            }
            return true
        }
    }

    package func delete(before limit: Timestamp) async throws -> TrashReport {
        let session = try await session(locks: true)
        defer { withExtendedLifetime(session.lock) {} }
        let mark = session.trashMark(environment)
        return try await objects.delete(before: limit, pages: .max) { run in
            run.host(unless: mark) == nil
        }
    }

    func session(locks: Bool) async throws(TransferError) -> MirrorSession {
        try await MirrorSession.open(settings, locks: locks, allowsRebinding: false)
    }

    var objects: TrashedObjects {
        let limiter = ConnectionLimiter(
            maximum: RunOptions.standard.connectionLimit,
            monotonic: environment.monotonic,
            sleep: environment.sleep
        )
        return TrashedObjects(store: LimitedStore(settings.store, limiter), prefix: settings.prefix)
    }
}

extension MirrorEngine {
    /// The mirror's trash in the bucket.
    package var trash: BucketTrash { BucketTrash(settings: settings) }
}
