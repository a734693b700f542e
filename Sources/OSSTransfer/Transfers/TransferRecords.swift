internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

/// The records of unfinished transfers in a directory: ``DownloadOptions/recordDirectory`` and
/// ``UploadOptions/recordDirectory``.
public struct TransferRecords: Sendable, Hashable {
    /// The directory; made if it is missing.
    public let directory: String
    /// What the paths of downloads are relative to, as in ``DownloadOptions/base``.
    public let base: String?

    /// Names the directory; nothing is read.
    public init(directory: String, base: String? = nil) {
        self.directory = directory
        self.base = base
    }

    /// Removes what no transfer will use again: partial files and locks that killed processes left,
    /// and downloads that were not resumed for a long time, with their partial files.
    ///
    /// What a running transfer uses is locked and stays, in this process and in others. Unfinished
    /// uploads stay: `MultipartUpload.abort()` deletes their parts. So does a download whose
    /// directory does not exist: it may be on a volume that is not mounted. Call it when
    /// an app starts, for one.
    ///
    /// - Parameter age: Downloads that were not resumed for so long are given up: 30 days.
    /// - Returns: How many files were removed.
    /// - Throws: `TransferError` of code `localState`; `configuration` for a negative age.
    @discardableResult
    public func sweep(
        abandonedAfter age: Duration = .seconds(30 * 86_400)
    ) async throws(TransferError) -> Int {
        guard age >= .zero else {
            throw TransferError(
                code: .configuration,
                message: "the age of a download is not negative"
            )
        }
        let (directory, base, now) = (directory, base, SystemClocks.now())
        let disk = BlockingQueue(label: "osssync.sweep", width: 1, threads: .system)
        do throws(LocalError) {
            return try await disk.run { () throws(LocalError) in
                try RecordSweep(
                    path: directory,
                    base: base,
                    now: now,
                    ageSeconds: age.components.seconds
                ).run()
            }
        } catch {
            throw TransferError(error)
        }
    }
}
