internal import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

// Temporary files of one single file, whose names are known beforehand.
extension MirrorDirectory {
    /// Makes a temporary file of the first of `names` that is free.
    func createPartial(
        _ size: Int64,
        in directory: OpenDirectory,
        _ names: [PartialName]
    ) throws(LocalError) -> (name: String, file: OpenFile) {
        var failure: LocalError?
        for name in names {
            do throws(LocalError) {
                return try newPartial(name, in: directory, mode: 0o600) {
                    (name, file) throws(LocalError) in
                    try reserve(size, of: file.descriptor)
                    return (name.text, file)
                }
            } catch {
                // Another process was faster, or the name is that of something else.
                guard error.errno == EEXIST else { throw explained(error, neededBytes: size) }
                failure = error
            }
        }
        throw failure ?? .lockHeld(by: "another transfer of the same file")
    }

    /// Removes the temporary files of a single file but that of the name `kept`.
    ///
    /// - Returns: How many were removed.
    /// - Throws: `lockHeld` if a transfer writes one of them.
    @discardableResult
    package func removePartials(
        of series: PartialSeries,
        except kept: String?
    ) throws(LocalError) -> Int {
        var removed = 0
        for name in series.names where name.text != kept {
            guard let (file, _) = try open(name) else { continue }
            try lock(file)
            // Whoever had the lock may have removed it, and another one have taken the name.
            guard try file.status().linkCount == 1 else { continue }
            try removePartial(name.text)
            removed += 1
        }
        return removed
    }
}
