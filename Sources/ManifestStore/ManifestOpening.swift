internal import SyncModel

/// Finds, checks, migrates or makes the database.
struct ManifestOpening {
    /// The largest file that is checked as a whole each time.
    ///
    /// In a larger one damage is found when it is read, and the next opening sets it aside.
    static let checkedBytes: Int64 = 512 << 20
    /// A file of this size is checked wholly in a fraction of a second: also the order of its rows,
    /// where a wrong key would hide those that follow it.
    static let thoroughlyCheckedBytes: Int64 = 32 << 20

    let files: ManifestFiles
    let schema: Schema
    let usesWriteAheadLog: Bool

    func open(
        now: Timestamp
    ) throws(ManifestError) -> (connection: Connection, outcome: OpenOutcome) {
        let reason: String
        do throws(ManifestError) {
            if let connection = try openExisting() { return (connection, .opened) }
            guard try !isDamaged() else {
                throw .damaged(path: files.databasePath, detail: "an earlier run found it damaged")
            }
            try create()
            return (try openSound(), .created)
        } catch {
            guard error.isDamage else { throw error }
            if let connection = try openOnceMore() { return (connection, .opened) }
            reason = error.damageDetail
        }
        // The mark stays until the new database is there: if this is interrupted, the next opening
        // still says that the old one was lost.
        try files.markDamaged()
        let name = try files.moveAside(now: now)
        try create()
        let connection = try openSound()
        try files.unmarkDamaged()
        try files.pruneAside()
        return (connection, .recreated(movedAside: name, reason: reason))
    }

    private func isDamaged() throws(ManifestError) -> Bool {
        guard try !files.isMarkedDamaged else { return true }
        return try !files.companions(of: files.databasePath).isEmpty
    }

    /// Nil if there is no database.
    private func openExisting() throws(ManifestError) -> Connection? {
        let path = files.databasePath
        switch try files.kind(of: path) {
        case .absent: return nil
        case .other: throw .damaged(path: path, detail: "it is not a regular file")
        case .regular(size: 0): throw .damaged(path: path, detail: "it is empty")
        case .regular: break
        }
        guard try !files.isMarkedDamaged else {
            throw .damaged(path: path, detail: "an earlier run found it damaged")
        }
        for suffix in try files.companions(of: path) {
            guard case .regular = try files.kind(of: path + suffix) else {
                throw .damaged(path: path + suffix, detail: "it is not a regular file")
            }
        }
        return try openSound()
    }

    /// Opens what seems damaged once more; nil if it is damaged.
    ///
    /// Perhaps only a read had failed: where SQLite cannot read its schema, it calls the database
    /// malformed.
    private func openOnceMore() throws(ManifestError) -> Connection? {
        let path = files.databasePath
        guard try !files.isMarkedDamaged, case .regular = try files.kind(of: path) else {
            return nil
        }
        for file in [path] + (try files.companions(of: path).map { path + $0 }) {
            try files.readThrough(file)
        }
        do {
            return try openExisting()
        } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }

    /// Opens what should be a sound manifest; throws damage if it is not.
    private func openSound() throws(ManifestError) -> Connection {
        let expectedIdentity = try identityWithoutLog()
        let connection = try Connection(
            path: files.databasePath,
            mode: .readWrite,
            hasLocks: files.hasLocks
        )
        // Until it is known to be ours and not newer, closing it must change nothing.
        try connection.leavesLogOnClose(true)
        if !usesWriteAheadLog { try connection.execute(Schema.lockExclusively) }
        for setting in Schema.settings { try connection.execute(setting) }
        let version = try checkHeader(connection)
        // What the log has of the header counts, as for SQLite.
        if connection.isReadOnly, connection.isOfUnknownFormat {
            throw damage("its header has a format that no SQLite writes")
        }
        try checkContent(connection, version: version)
        try migrate(connection, from: version)
        let identity = try connection.firstValue(.selectIdentity)
        guard let identity, expectedIdentity == nil || identity == expectedIdentity else {
            throw damage("the log beside it belongs to another database")
        }
        try connection.leavesLogOnClose(false)
        try connection.useJournal(writeAheadLog: usesWriteAheadLog)
        return connection
    }

    /// The identity in the main file alone, if there is a log beside it that might say otherwise.
    ///
    /// A log does not name its database: SQLite would apply one that was left by another. Every
    /// transaction of ours writes the row of the identity, so the log's own is seen through it.
    /// Nil also if the main file can't be read by itself, as after a crash while the log was moved
    /// into it.
    private func identityWithoutLog() throws(ManifestError) -> SQLValue? {
        let path = files.databasePath
        guard case .regular(let size) = try files.kind(of: path + "-wal"), size > 0 else {
            return nil
        }
        guard let connection = try? Connection(path: path, mode: .immutable) else { return nil }
        return try? connection.firstValue(.selectIdentity)
    }

    func checkHeader(_ connection: Connection) throws(ManifestError) -> Int64 {
        guard try connection.integer(Schema.readApplicationID) == Schema.applicationID else {
            throw damage("it is not a manifest")
        }
        let version = try connection.integer(Schema.readVersion)
        guard version >= 1 else { throw damage("its version is \(version)") }
        guard version <= schema.version else {
            throw .newerSchema(
                path: files.databasePath,
                found: version,
                supported: schema.version
            )
        }
        return version
    }

    func checkContent(
        _ connection: Connection,
        version: Int64
    ) throws(ManifestError) {
        let found = try connection.execute(Schema.readObjects)
        guard found == (try schema.objects(ofVersion: version)) else {
            throw damage("its tables are not those of version \(version)")
        }
        let bytes = try connection.integer(Schema.pageCount) * connection.integer(Schema.pageSize)
        guard bytes <= Self.checkedBytes else { return }
        let isSmall = bytes <= Self.thoroughlyCheckedBytes
        let problems = try connection.execute(
            isSmall ? Schema.checkThoroughly : Schema.checkQuickly
        )
        guard problems == [[.text("ok")]] else {
            guard case .text(let problem)? = problems.first?.first else {
                throw damage("its check gave no answer")
            }
            if let code = Self.readFailure(in: problem) {
                throw .unusable(
                    path: files.databasePath,
                    reason: "a page can't be read (code \(code)); check the disk"
                )
            }
            throw damage(problem)
        }
    }

    /// SQLite's code of a failure of the disk that the check met; nil if it found damage.
    ///
    /// What cannot be read now may be sound: to set it aside would forget what only it knows.
    static func readFailure(in problem: String) -> Int? {
        let text = [UInt8](problem.utf8)
        let mark = [UInt8]("unable to get the page. error code=".utf8)
        let start = text.indices.first { text[$0...].starts(with: mark) }
        guard let start else { return nil }
        let digits = text[(start + mark.count)...].prefix(while: \.isDigit)
        guard let code = parseDecimal(digits).map({ Int($0) }) else { return nil }
        return Connection.isFailureOfDisk(code) ? code : nil
    }

    private func migrate(
        _ connection: Connection,
        from version: Int64
    ) throws(ManifestError) {
        guard version < schema.version else { return }
        try connection.transaction { () throws(ManifestError) in
            try schema.migrate(connection, from: version)
        }
    }

    private func create() throws(ManifestError) {
        try files.prepareNew()
        try fillNew()
        try files.publishNew()
    }

    /// Makes the new database and closes it, so that it can be renamed.
    private func fillNew() throws(ManifestError) {
        let connection = try Connection(
            path: files.newPath,
            mode: .readWrite,
            hasLocks: files.hasLocks
        )
        // Nobody has it yet: a crash leaves a file that is thrown away.
        try connection.execute(Schema.useMemoryJournal)
        try connection.execute(Schema.synchronizeNever)
        try connection.run(.begin)
        do {
            try connection.execute(Schema.writeApplicationID)
            try schema.migrate(connection, from: 0)
            let identity = (0..<16).map { _ in UInt8.random(in: 0...255) }
            try connection.run(.insertStore, [.blob(identity)])
            try connection.run(.commit)
        } catch {
            connection.rollBack()
            throw error
        }
        if usesWriteAheadLog { try connection.execute(Schema.useWriteAheadLog) }
        try connection.emptyLog()
    }

    private func damage(_ detail: String) -> ManifestError {
        .damaged(path: files.databasePath, detail: detail)
    }
}

extension Connection {
    fileprivate func integer(_ pragma: String) throws(ManifestError) -> Int64 {
        guard case .integer(let value)? = try execute(pragma).first?.first else {
            throw .damaged(path: path, detail: "'\(pragma)' gave no number")
        }
        return value
    }

    fileprivate func useJournal(writeAheadLog: Bool) throws(ManifestError) {
        let wanted = writeAheadLog ? Schema.useWriteAheadLog : Schema.useRollbackJournal
        let mode = try execute(wanted).first?.first
        if !writeAheadLog { try execute(Schema.lockNormally) }
        // A rollback journal is only safe against a power cut when every commit is synchronized.
        try synchronize(isFull: mode != .text("wal"))
    }

    func synchronize(isFull: Bool) throws(ManifestError) {
        try execute(isFull ? Schema.synchronizeAtCommits : Schema.synchronizeAtCheckpoints)
    }

    /// One transaction that waits for the disk, and with it for all that stand before it in the
    /// log.
    func commitDurably() throws(ManifestError) {
        let isFull = try integer(Schema.readSynchronous) >= Self.fullSynchronization
        if !isFull { try synchronize(isFull: true) }
        do {
            try transaction { () throws(ManifestError) in }
        } catch {
            // The connection is as before, whatever became of the transaction.
            if !isFull { try? synchronize(isFull: false) }
            throw error
        }
        if !isFull { try synchronize(isFull: false) }
    }

    /// `FULL` as the pragma says it.
    private static let fullSynchronization: Int64 = 2
}

extension ManifestError {
    /// Why the file is set aside, safe to print.
    var damageDetail: String {
        switch self {
        case .damaged(_, let detail): displayText(detail.utf8)
        default: message
        }
    }
}
