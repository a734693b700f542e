internal import OSSBucket
internal import ObjectStorage
internal import SyncEngine
internal import SyncModel
internal import Synchronization

/// One version of a file that can be restored.
package struct FileVersion: Sendable, Hashable {
    /// The path beneath the mirror's directory.
    package let key: String
    /// The path in a form that is safe to print.
    package let displayKey: String
    /// Bytes.
    package let size: Int64
    /// When it was written to the bucket, or when the run began that put it in the trash; nil if
    /// that is not known.
    package let time: StoreTime?
    /// Where it is.
    package let place: RestoredFile.Place
    /// The run that put it in the trash; nil if none did.
    package let run: Int64?
    /// The version in a bucket that keeps versions.
    package var versionID: String?
}

extension MirrorRestoration {
    /// Finds all versions of files that are at or beneath paths; changes nothing.
    ///
    /// - Parameters:
    ///   - paths: Files and directories beneath the directory; "." means all.
    ///   - onVersion: Called with each: those of the bucket, then of both trashes; false
    ///     ends it.
    /// - Throws: `TransferError`.
    package func versions(
        of paths: [String],
        onVersion: @escaping @Sendable (FileVersion) -> Bool
    ) async throws(TransferError) {
        let all = paths.contains(where: RestoreRequest.isAll)
        let wanted = try all ? nil : paths.map(LocalMirror.key)
        let isWanted: @Sendable (String) -> Bool = { key in
            wanted?.contains { path in
                let rest = key.utf8.dropFirst(path.utf8.count)
                return key.utf8.starts(with: path.utf8)
                    && (rest.isEmpty || rest.first == UInt8(ascii: "/"))
            } ?? true
        }
        var outage: TransferError?
        if let mirror {
            var isBegun = false
            do throws(TransferError) {
                for prefix in wanted ?? [""] {
                    try await mirror.versions(prefix, isWanted) { version in
                        isBegun = true
                        return onVersion(version)
                    }
                }
            } catch {
                // Half a list looks like a whole one.
                guard Self.isOutage(error), !isBegun else { throw error }
                onWarning(error.message)
                outage = error
            }
        }
        let isFound = Atomic(false)
        let trashed: @Sendable (TrashedFile) -> Bool = { file in
            guard isWanted(file.key) else { return true }
            isFound.store(true, ordering: .relaxed)
            return onVersion(
                FileVersion(
                    key: file.key,
                    displayKey: file.displayKey,
                    size: file.size,
                    time: file.removed,
                    place: file.isRemote ? .bucketTrash : .trash,
                    run: file.run
                )
            )
        }
        _ = try await local.trash.list(age: .zero, onFile: trashed)
        if let mirror, try await hasRemoteTrash() {
            _ = try await mirror.remoteTrash().list(age: .zero, onFile: trashed)
        }
        if let outage, !isFound.load(ordering: .relaxed) { throw outage.unasked }
    }
}

extension MirrorRestoration {
    /// Downloads what the bucket has to another place.
    func copy(
        _ request: RestoreRequest,
        _ path: String,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        guard let mirror else { return RestoreReport() }
        guard request.outside != nil || request.target != nil else { return RestoreReport() }
        let collected = RestoredItems()
        var report = try await mirror.restoreObjects(
            request,
            from: .bucket,
            downloading: options
        ) { file in
            var file = file
            file.place = .bucket
            collected.add(file, onFile)
        }
        report.missing = []
        report.settledKeys = collected.report.settledKeys
        return report
    }

    /// True if the bucket has a trash, also one that no run here has seen: another machine may have
    /// made it.
    func hasRemoteTrash() async throws(TransferError) -> Bool {
        if try local.trash.hasRemote() { return true }
        guard let mirror else { return false }
        let prefix = mirror.remote.prefix + ".osssync/trash/"
        do throws(TransferError) {
            for try await _ in try mirror.bucketClient().objects(prefix: prefix) { return true }
        } catch {
            // What cannot be asked is told elsewhere.
            guard Self.isOutage(error) else { throw error }
        }
        return false
    }
}

extension MirrorRestoration {
    /// What both sides have at a path.
    struct Found {
        /// Nil for a directory of which nothing is here, and no marker.
        let explanation: Explanation?
        var isDirectory: Bool { explanation.map { $0.key.utf8.last == UInt8(ascii: "/") } ?? true }

        /// The rule that leaves the path out; nil if none does.
        var exclusion: String? {
            guard let outlook = explanation?.outlooks[.pull], outlook.isExcluded else { return nil }
            return outlook.rule ?? outlook.reason
        }

        var isOnBothSides: Bool { explanation?.local != nil && explanation?.remote != nil }

        /// True if the bucket has what is not here, or may have.
        var bringsSomething: Bool {
            guard let explanation else { return true }
            guard let outlook = explanation.outlooks[.pull], !outlook.isExcluded else {
                return false
            }
            if isDirectory { return true }
            guard explanation.remote != nil, let action = outlook.action else { return false }
            // What must be read to be sure may be another version.
            return ![.skip, .forget, .deleteLocal].contains(action)
        }
    }
}

extension TransferError {
    /// What is said where nothing was found: it may be in the bucket.
    var unasked: TransferError {
        with(message: "the trash here has nothing of it, and the bucket could not be asked")
    }
}

extension DirectoryMirror {
    /// What the bucket has of files whose paths begin so.
    fileprivate func versions(
        _ path: String,
        _ isWanted: (String) -> Bool,
        _ onVersion: (FileVersion) -> Bool
    ) async throws(TransferError) {
        let (client, skipped) = (try bucketClient(), remote.prefix.utf8.count)
        let isEncrypted = isEncrypted
        /// False if that is enough.
        func tell(
            _ key: String,
            _ size: Int64?,
            _ time: StoreTime?,
            _ versionID: String?,
            isLatest: Bool
        ) -> Bool {
            let key = String(decoding: key.utf8.dropFirst(skipped), as: UTF8.self)
            guard let size, isWanted(key), !key.utf8.starts(with: ".osssync/".utf8) else {
                return true
            }
            var version = FileVersion(
                key: key,
                displayKey: displayText(key.utf8),
                size: isEncrypted ? SealedFormat.plainSize(of: size) ?? size : size,
                time: time,
                place: isLatest ? .bucket : .versions,
                run: nil
            )
            version.versionID = versionID
            return onVersion(version)
        }
        var hasVersions = false
        do throws(TransferError) { hasVersions = try await keepsVersions() } catch {
            // A key that may not list versions finds none.
            guard error.code == .forbidden else { throw error }
        }
        if hasVersions {
            for try await found in client.versions(prefix: remote.prefix + path) {
                let (id, isLatest) = (found.versionID, found.isLatest)
                guard tell(found.key, found.size, found.lastModified, id, isLatest: isLatest) else {
                    return
                }
            }
        } else {
            for try await found in client.objects(prefix: remote.prefix + path) {
                guard tell(found.key, found.size, found.lastModified, nil, isLatest: true) else {
                    return
                }
            }
        }
    }
}

extension MirrorRestoration {
    /// True if the trash here is all that is left to look at.
    static func isOutage(_ error: TransferError) -> Bool {
        [TransferError.Code.remoteUnreachable, .credentials, .forbidden].contains(error.code)
    }

    /// True if the bucket keeps versions, and this key may list them.
    func keepsVersions() async throws(TransferError) -> Bool {
        guard let mirror, try mirror.shards() == nil else { return false }
        do throws(TransferError) {
            return try await mirror.keepsVersions()
        } catch {
            // A key that may not list versions finds none.
            guard Self.isOutage(error) else { throw error }
            return false
        }
    }

    /// When the newest version of each file in the trash was removed.
    func removalTimes() async throws(TransferError) -> [String: StoreTime] {
        let times = Mutex<[String: StoreTime]>([:])
        let note: @Sendable (TrashedFile) -> Bool = { file in
            guard let time = file.removed else { return true }
            times.withLock { $0[file.key] = max($0[file.key] ?? time, time) }
            return true
        }
        _ = try await local.trash.list(age: .zero, onFile: note)
        if let mirror, try local.trash.hasRemote() {
            _ = try await mirror.remoteTrash().list(age: .zero, onFile: note)
        }
        return times.withLock(\.self)
    }
}

extension DirectoryMirror {
    /// Restores each file from the trash that has the version that is meant, here or in the bucket.
    func restoreFromTrash(
        _ request: RestoreRequest,
        _ local: LocalMirror,
        downloading options: RunOptions,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        var report = try await restoreObjects(request, downloading: options) { file in
            var file = file
            file.place = .bucketTrash
            onFile(file)
        }
        var rest = request
        rest.settledKeys.formUnion(report.settledKeys)
        var found = try await local.trash.restore(rest, onFile: onFile)
        report.missing.removeAll { !found.missing.contains($0) }
        found.missing = []
        report.add(found)
        return report
    }
}
