internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// `.osssyncignore` at the top of a mirrored directory: what runs leave alone there.
///
/// It is mirrored like any other file, so that all mirrors of a prefix share it.
enum IgnoreFile {
    static let name = ".osssyncignore"
    /// Enough for a person; every pattern is held against every path, and whoever may write to the
    /// bucket may write this file.
    private static let maximumSize: Int64 = 64 << 10
    /// The setting in the manifest that tells whether the patterns are those of the last run.
    private static let fingerprintSetting = "filter.fingerprint"
    /// The setting that tells what the last download of the ignore file brought.
    private static let receivedSetting = "filter.received"
    /// Its value once a run was about to delete the file.
    private static let removed = "removed"

    static var key: ObjectKey { ObjectKey(name) }

    /// The rules of the file, and those that were accepted before; none if there is no such file.
    ///
    /// - Throws: If it is there and cannot be read or understood: a run without it could upload
    ///   what was never meant to leave the machine.
    static func rules(
        in directory: MirrorDirectory,
        _ manifest: ManifestStore,
        isRebuilt: Bool,
        records: Bool
    ) async throws -> IgnoreRules {
        let row = try await manifest.entry(key)
        let received = try await manifest.setting(receivedSetting)
        let found: (text: [UInt8], modified: Timestamp)?
        do {
            found = try read(in: directory)
        } catch let error as Unusable {
            // What is as recorded may have come from the bucket.
            guard error.isTooLarge ? row != nil : row.map({ error.isContent(of: $0) }) == true
            else { throw error.asSyncError }
            return IgnoreRules(
                current: try IgnoreRules.onlyIgnoreFile,
                problem: error.asSyncError
            )
        }
        let text = found?.text ?? []
        let accepted = try AcceptedRules(in: directory)
        if accepted == nil, found == nil { return IgnoreRules() }
        let current = try FileFilter(ignoreFile: text)
        // What was accepted outlives the manifest, which then cannot tell whose the file is; nor
        // can a later run, until it has a row.
        let isDoubtful = isRebuilt && accepted != nil
        if isDoubtful, records, found != nil {
            try await manifest.setSetting(receivedSetting, fingerprint(text))
        }
        let isReceived: Bool
        if let found, let row, isContent(found.text, of: row) {
            let recorded = row.localModified.nanosecondsSince1970
            let (moved, overflows) = found.modified.nanosecondsSince1970
                .subtractingReportingOverflow(recorded)
            // A file system that rounds times does not accept anything.
            isReceived = !overflows && moved.magnitude < 2_000_000_000
        } else if let found {
            // A kill may have come before the row was written.
            isReceived = isDoubtful || fingerprint(found.text) == received
        } else {
            isReceived = isDoubtful || row == nil || received == removed
        }
        guard isReceived, let before = accepted else {
            let now = AcceptedRules([text])
            if records, accepted?.texts != now.texts { try now.write(to: directory) }
            if records, received == removed { try await manifest.setSetting(receivedSetting, nil) }
            return IgnoreRules(current: current)
        }
        let now = try before.following(text)
        if records, now.texts != before.texts { try now.write(to: directory) }
        return IgnoreRules(
            current: current,
            held: try now.texts.filter { $0 != text }.map {
                text throws(FileFilter.InvalidPattern) in
                try FileFilter(ignoreFile: text)
            }
        )
    }

    /// Says that it is this run that deletes the file, for its object is gone: not the user.
    static func noteRemoval(in manifest: ManifestStore) async throws(ManifestError) {
        try await manifest.setSetting(receivedSetting, removed)
        try await manifest.makeDurable()
    }

    /// Why the file cannot be used.
    private struct Unusable: Error {
        let reason: String
        /// Empty if it is too large.
        var text: [UInt8] = []
        var isTooLarge: Bool { text.isEmpty }

        func isContent(of row: ManifestEntry) -> Bool { IgnoreFile.isContent(text, of: row) }

        var asSyncError: SyncError {
            SyncError(
                code: .configuration,
                message: "'\(IgnoreFile.name)' cannot be used: \(reason). Nothing was transferred."
            )
        }
    }

    private static func read(
        in directory: MirrorDirectory
    ) throws -> (text: [UInt8], modified: Timestamp)? {
        let path = try RelativePath(key: key)
        let file: OpenFile
        do throws(LocalError) {
            file = try directory.openForReading(path)
        } catch {
            if case .absent = error { return nil }
            throw error
        }
        let identity = try file.identity()
        guard identity.size <= maximumSize else { throw Unusable(reason: tooLarge) }
        let text = try file.read(at: 0, length: Int(identity.size))
        do throws(FileFilter.InvalidPattern) {
            _ = try FileFilter(ignoreFile: text)
        } catch {
            throw Unusable(reason: error.message, text: text)
        }
        return (text, identity.modified)
    }

    private static let tooLarge = "it is larger than 64 KiB"

    private static func isContent(_ text: [UInt8], of row: ManifestEntry) -> Bool {
        guard Int64(text.count) == row.size else { return false }
        return row.crc64.map { $0 == CRC64(of: text) } ?? true
    }

    private static func fingerprint(_ text: [UInt8]) -> String {
        String(CRC64(of: text).value, radix: 16)
    }

    /// Checks a downloaded ignore file before it gets its name.
    ///
    /// One that cannot be used would end every later run here. What passes is known as the bucket's
    /// from now on.
    static func check(
        _ partialName: String,
        _ context: TransferContext
    ) async throws(ItemFailure) {
        let directory = context.directory
        do {
            let text = try await context.disk.run { () throws(LocalError) -> [UInt8]? in
                guard let file = try directory.openPartial(partialName, expectedSize: nil) else {
                    return nil
                }
                let size = try file.identity().size
                return size > maximumSize ? nil : try file.read(at: 0, length: Int(size))
            }
            guard let text else { throw FileFilter.InvalidPattern(message: tooLarge) }
            _ = try FileFilter(ignoreFile: text)
            try await context.manifest.setSetting(receivedSetting, fingerprint(text))
        } catch let error as FileFilter.InvalidPattern {
            await context.removePartial(partialName)
            throw unusable(error.message)
        } catch {
            throw ItemFailure(any: error)
        }
    }

    /// Why an object is no ignore file, before it is fetched.
    static func check(_ object: RemoteObject) throws(ItemFailure) {
        if object.size > maximumSize { throw unusable(tooLarge) }
    }

    private static func unusable(_ reason: String) -> ItemFailure {
        .local(
            message: "the bucket's ignore file cannot be used: \(reason). It was not taken, and "
                + "the rules here stay as they are; fix the object",
            stops: nil
        )
    }

    /// Records the patterns of this run; true if they are others than those of the last one.
    static func records(
        _ filter: FileFilter,
        in manifest: ManifestStore
    ) async throws(ManifestError) -> Bool {
        let found = String(CRC64(of: filter.text).value, radix: 16)
        let none = String(CRC64(of: []).value, radix: 16)
        let recorded = try await manifest.setting(fingerprintSetting)
        guard found != recorded ?? none else { return false }
        try await manifest.setSetting(fingerprintSetting, found)
        return true
    }
}
