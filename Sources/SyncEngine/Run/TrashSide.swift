package import LocalStorage
package import ObjectTransfer
package import SyncModel
internal import Synchronization

/// A mirror's trash, here or in the bucket: a tree for each run, named by its time and number.
///
/// Listing it takes no lock; emptying it takes the directory's, as a run does.
package protocol TrashSide: Sendable {
    var environment: EngineEnvironment { get }

    /// The trees of this mirror's runs, the oldest first.
    func ownRuns() async throws -> [TrashOfRun]

    /// Hands each file of trees before `limit` to `onFile`, the oldest tree's first, until that
    /// returns false.
    func forEachFile(
        before limit: Timestamp,
        _ onFile: @escaping @Sendable (TrashedFile) -> Bool
    ) async throws

    /// Deletes the trees before `limit` of this mirror's runs; a kill leaves the rest.
    func delete(before limit: Timestamp) async throws -> TrashReport
}

extension TrashSide {
    /// Hands each file to `onFile`, the oldest run's first, until `onFile` returns false.
    ///
    /// - Parameters:
    ///   - age: Only of runs that began at least this long ago, by this machine's clock.
    ///   - ofOthers: False to leave out what emptying leaves: that of other mirrors.
    ///   - onFile: Called from any thread.
    /// - Returns: What was listed.
    /// - Throws: `TransferError` if the directory is no mirror, or a side cannot be read.
    package func list(
        age: Duration,
        ofOthers: Bool = true,
        onFile: @escaping @Sendable (TrashedFile) -> Bool
    ) async throws(TransferError) -> TrashReport {
        let report = Mutex(TrashReport())
        do {
            try await forEachFile(before: limit(age)) { file in
                guard ofOthers || file.host == nil else { return true }
                report.withLock { $0.add(file.size) }
                return onFile(file)
            }
        } catch {
            throw TransferError(any: error)
        }
        return report.withLock(\.self)
    }

    /// Deletes for good what runs of this mirror that began at least `age` ago left, by this
    /// machine's clock; while no run of this directory is active.
    package func empty(age: Duration) async throws(TransferError) -> TrashReport {
        do {
            return try await delete(before: limit(age))
        } catch {
            throw TransferError(any: error)
        }
    }

    /// When the last run of this machine began that left something, and its number.
    package func lastRun() async throws(TransferError) -> (time: StoreTime, number: Int64)? {
        do {
            let last = try await ownRuns().last { $0.number != nil }
            guard let last, let time = last.time, let number = last.number else { return nil }
            return (StoreTime(time), number)
        } catch {
            throw TransferError(any: error)
        }
    }

    private func limit(_ age: Duration) -> Timestamp {
        let age = age.components.seconds
        guard age > 0 else { return Timestamp(seconds: .max) }
        return Timestamp(seconds: environment.now().seconds - age + 1)
    }
}
