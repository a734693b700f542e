package import SyncModel

/// What is found of a manifest that is only looked at.
package enum InspectionOutcome: Sendable {
    case opened(ManifestStore)
    case absent
    /// The next run would set it aside.
    case damaged(reason: String)
    /// Reading it means to write: an older version, the log of a run that did not end, or a header
    /// that can only be judged as a run judges it.
    case unfinished
}

/// Opens the database to read it, writing nothing anywhere and holding nobody up.
struct ManifestInspection {
    let files: ManifestFiles
    let schema: Schema
    /// False to find damage only in what is read.
    var checksContent = true

    enum Found: ~Copyable {
        case opened(Connection)
        case absent
        case damaged(reason: String)
        case unfinished
    }

    func open() throws(ManifestError) -> sending Found {
        do throws(ManifestError) {
            return try openAsItIs()
        } catch {
            guard error.isDamage else { throw error }
        }
        // Perhaps only a read had failed, or a run has written meanwhile.
        do throws(ManifestError) {
            try files.readThrough(files.databasePath)
            return try openAsItIs()
        } catch {
            guard error.isDamage else { throw error }
            return .damaged(reason: error.damageDetail)
        }
    }

    private func openAsItIs() throws(ManifestError) -> sending Found {
        let path = files.databasePath
        let companions = try files.companions(of: path)
        let kind = try files.kind(of: path)
        if case .absent = kind, companions.isEmpty, try !files.isMarkedDamaged { return .absent }
        guard try !files.isMarkedDamaged else {
            throw .damaged(path: path, detail: "an earlier run found it damaged")
        }
        guard case .regular(let size) = kind, size > 0 else {
            throw .damaged(path: path, detail: "it is missing, empty or not a regular file")
        }
        var hasLog = false
        for suffix in companions {
            guard case .regular(let size) = try files.kind(of: path + suffix) else {
                throw .damaged(path: path + suffix, detail: "it is not a regular file")
            }
            if size > 0 { hasLog = true }
        }
        // Without a log the main file is all there is, and no lock is needed to read it.
        guard hasLog else { return try read(Connection(path: path, mode: .immutable)) }
        do throws(ManifestError) {
            return try readWithLog()
        } catch {
            switch error {
            case .unusable, .systemCall: return .unfinished
            default: throw error
            }
        }
    }

    private func readWithLog() throws(ManifestError) -> sending Found {
        let path = files.databasePath
        var expected: SQLValue?
        if let main = try? Connection(path: path, mode: .immutable) {
            expected = try? main.firstValue(.selectIdentity)
        }
        let connection = try Connection(path: path, mode: .readOnly, hasLocks: files.hasLocks)
        try connection.leavesLogOnClose(true)
        let identity = try connection.firstValue(.selectIdentity)
        guard let identity, expected == nil || identity == expected else {
            throw .damaged(path: path, detail: "the log beside it belongs to another database")
        }
        return try read(connection)
    }

    private func read(_ connection: sending Connection) throws(ManifestError) -> sending Found {
        let opening = ManifestOpening(files: files, schema: schema, usesWriteAheadLog: true)
        guard try opening.checkHeader(connection) == schema.version,
            !connection.isOfUnknownFormat
        else { return .unfinished }
        if checksContent { try opening.checkContent(connection, version: schema.version) }
        return .opened(connection)
    }
}

extension ManifestStore {
    /// Opens the manifest in `directory`, which exists, to look at it: nothing is made, changed,
    /// set aside or locked there.
    ///
    /// Without `checksContent`, damage is found only in what is read.
    package static func inspect(
        directory: String,
        hasLocks: Bool = true,
        checksContent: Bool = true,
        threads: BlockingThreads
    ) async throws(ManifestError) -> InspectionOutcome {
        guard !directory.utf8.contains(0) else {
            throw .unusable(path: directory, reason: "the path has a NUL byte")
        }
        let files = ManifestFiles(directory: directory, hasLocks: hasLocks)
        return try await inspect(
            ManifestInspection(files: files, schema: .current, checksContent: checksContent),
            threads
        )
    }

    static func inspect(
        _ inspection: ManifestInspection,
        _ threads: BlockingThreads
    ) async throws(ManifestError) -> InspectionOutcome {
        let store = ManifestStore(
            files: inspection.files,
            threads: threads,
            smallestSearchable: 0
        )
        return try await store.inspect(inspection)
    }

    private func inspect(_ inspection: ManifestInspection) throws(ManifestError)
        -> InspectionOutcome
    {
        let stamp = try inspection.files.stamp()
        switch try inspection.open() {
        case .opened(let connection):
            begin(connection)
            isOnlyLooking = true
            lookedAt = stamp
            return .opened(self)
        case .absent: return .absent
        case .unfinished: return .unfinished
        case .damaged(let reason):
            guard try inspection.files.stamp() == stamp else {
                throw .inUse(path: inspection.files.databasePath)
            }
            return .damaged(reason: reason)
        }
    }

    /// Copies the manifest in `directory` to an empty place, where it can be opened as by a run.
    ///
    /// - Throws: ``ManifestError/inUse(path:)`` if a run writes it all the time.
    package static func copy(
        from directory: String,
        to place: String,
        threads: BlockingThreads
    ) async throws(ManifestError) {
        let store = ManifestStore(
            files: ManifestFiles(directory: directory),
            threads: threads,
            smallestSearchable: 0
        )
        try await store.copy(to: ManifestFiles(directory: place))
    }

    private func copy(to other: ManifestFiles) throws(ManifestError) {
        for _ in 0..<3 {
            let stamp = try files.stamp()
            for suffix in [""] + ManifestFiles.companionSuffixes {
                // It is made anew from the log.
                guard suffix != "-shm" else { continue }
                try files.copy(files.databasePath + suffix, to: other.databasePath + suffix)
            }
            if try files.stamp() == stamp { return }
        }
        throw .inUse(path: files.databasePath)
    }
}
