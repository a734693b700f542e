package import LocalStorage
package import SyncModel

/// Removes what killed processes left of single transfers, and what no later one will resume.
///
/// A record that another transfer has open, and a partial file that is being written, are locked
/// and stay.
package struct RecordSweep: Sendable {
    /// A process takes less time to write a small file.
    private static let writingSeconds: Int64 = 3_600

    private let directory: RecordDirectory
    private let base: String?
    private let now: Timestamp
    private let ageSeconds: Int64

    /// - Parameters:
    ///   - path: The directory of the records.
    ///   - base: What the paths in them are relative to; nil for absolute ones.
    ///   - now: The time of day.
    ///   - ageSeconds: Downloads that were not resumed for so long are given up.
    /// - Throws: If the directory cannot be used.
    package init(path: String, base: String?, now: Timestamp, ageSeconds: Int64) throws(LocalError)
    {
        directory = try RecordDirectory(path: path)
        self.base = base
        self.now = now
        self.ageSeconds = ageSeconds
    }

    /// - Returns: How many files were removed.
    package func run() throws(LocalError) -> Int {
        var removed = 0
        for name in try directory.names(endingIn: RecordPlace.downloadSuffix) {
            guard let lock = try directory.lockRecordIfFree(name) else { continue }
            defer { lock.release() }
            removed += try sweep(name)
        }
        let limit = now.seconds - Self.writingSeconds
        return removed + (try Self.removeLeftovers(in: directory, olderThan: limit))
    }

    /// Removes temporary files of records that no process has, others that were last written before
    /// `limit`, in seconds since 1970, and files of locks that no process has.
    @discardableResult
    package static func removeLeftovers(
        in directory: RecordDirectory,
        olderThan limit: Int64?
    ) throws(LocalError) -> Int {
        var removed = 0
        for name in try directory.temporaryNames() {
            var lock: RecordLock?
            if let record = RecordPlace.record(ofTemporary: name) {
                lock = try directory.lockRecordIfFree(record)
            }
            defer { lock?.release() }
            if lock == nil {
                let modified = try directory.modified(name)?.seconds ?? .max
                guard modified < limit ?? .max else { continue }
            }
            try directory.remove(name)
            removed += 1
        }
        for name in try directory.lockedNames() {
            // Let go of again, it removes its file.
            if try directory.lockRecordIfFree(name) != nil { removed += 1 }
        }
        return removed
    }

    /// Deletes a record that an earlier process left, and the partial file beside `destination`
    /// that it names, whatever is downloaded.
    package static func discard(
        _ name: String,
        in directory: RecordDirectory,
        beside destination: FileDestination
    ) throws(LocalError) {
        let checkpoint = try TransferRecord.read(name, in: directory)?.download
        let parent = try destination.openIfPresent(.standard)
        if let checkpoint { try parent?.partials.remove(checkpoint.partialName) }
        try parent?.partials.remove(of: destination.partials, except: nil)
        try directory.remove(name)
    }

    private func sweep(_ name: String) throws(LocalError) -> Int {
        guard let record = try TransferRecord.read(name, in: directory) else {
            // A power cut left it empty, or damaged.
            try directory.remove(name)
            return 1
        }
        guard let file = record.file,
            let destination = try? FileDestination(base.map { $0 + "/" + file } ?? file)
        else { return 0 }
        let checkpoint = record.download
        let isOld = try directory.modified(name).map { now.seconds - $0.seconds >= ageSeconds }
        var (removed, isUseless) = (0, checkpoint == nil || isOld == true)
        if let parent = try destination.openIfPresent(.standard) {
            let kept = isOld == true ? nil : checkpoint?.partialName
            if let kept, record.whole == nil {
                // A power cut can leave a record of a file that already has its name. Without that
                // file, the directory may be the mount point of a volume that is not mounted.
                if try parent.partials.open(kept, expectedSize: nil) == nil {
                    let found = try parent.identity(of: destination.name)
                    isUseless = isUseless || found != .absent
                }
            }
            if kept == nil, let old = checkpoint?.partialName,
                try parent.partials.open(old, expectedSize: nil) != nil
            {
                try parent.partials.remove(old)
                removed += 1
            }
            removed += try parent.partials.remove(of: destination.partials, except: kept)
        } else if checkpoint != nil {
            // The volume may not be mounted, and its partial file is found by this record alone.
            return removed
        }
        guard isUseless else { return removed }
        try directory.remove(name)
        return removed + 1
    }
}
