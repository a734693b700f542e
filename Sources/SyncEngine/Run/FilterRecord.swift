internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What the manifest knows of the patterns that runs before this one had.
struct FilterRecord: RunStep {
    /// The setting that shows whether the patterns changed since the last run.
    private static let fingerprint = "filter.fingerprint"
    /// The setting of a file of patterns in the mirror: what it said when it was last used.
    private static let accepted = "filter.accepted:"

    let setup: RunSetup

    init(_ setup: RunSetup) { self.setup = setup }

    /// Says that other filters apply than in the last run, and records those of this one.
    ///
    /// - Throws: `refused` for a file of patterns in the mirror whose new content is not the
    ///   user's, in a run that sends.
    func update(hasRows: Bool, records: Bool) async throws {
        for file in filter.files { try await accept(file, records: records) }
        // What other patterns exclude elsewhere, a limited run cannot say.
        guard !paths.isLimited, try await isOther(records: records), hasRows else { return }
        let fate = options.deletesExcluded ? "is deleted where it is unchanged" : "is skipped"
        let change =
            filter.text.isEmpty
            ? "the filters of the last run do not apply any more; what they excluded is mirrored"
            : "the filters have changed since the last run; what they exclude now \(fate)"
        setup.onEvent(.warning(message: change))
    }

    private func isOther(records: Bool) async throws(ManifestError) -> Bool {
        let found = String(CRC64(of: filter.text).value, radix: 16)
        let none = String(CRC64(of: []).value, radix: 16)
        let recorded = try await session.manifest.setting(Self.fingerprint)
        guard found != recorded ?? none else { return false }
        if records { try await session.manifest.setSetting(Self.fingerprint, found) }
        return true
    }

    /// Others who write to the bucket, and the disk, may change a file in the mirror: what it hid
    /// before is not sent because of that.
    ///
    /// Not asked in a sharded mirror, where the row is another shard's.
    private func accept(_ file: PatternFile, records: Bool) async throws {
        guard settings.shard == nil,
            let key = GivenPath.key(of: file.path, beneath: settings.directory)
        else { return }
        let setting = Self.accepted + key.text
        let found = Base64.encode(file.content)
        let known = try await session.manifest.setting(setting)
        guard known != found else { return }
        if let row = try await session.manifest.entry(key), try isAsRecorded(row) {
            let isDamaged = row.crc64 != nil && row.crc64 != CRC64(of: file.content)
            if isDamaged || row.isFetched, try !hides(file, known) {
                guard direction != .pull else { return }
                throw TransferError(
                    code: .refused,
                    message: "'\(key.display)', a file of --exclude-from, was "
                        + (isDamaged ? "damaged by the disk" : "changed in the bucket")
                        + " since it was last used here: what it excluded may be sent; nothing was "
                        + "transferred. Check it, then touch it and run the same command again, or "
                        + "keep it outside the directory"
                )
            }
        }
        if records { try await session.manifest.setSetting(setting, found) }
    }

    /// True for patterns that hide what earlier ones did.
    private func hides(_ file: PatternFile, _ known: String?) throws -> Bool {
        guard let known, let earlier = Base64.decode(known.utf8) else { return known == nil }
        return try FileFilter(ignoreFile: file.content)
            .surelyHides(allOf: FileFilter(ignoreFile: earlier))
    }

    /// True for a file that has not been written since a run recorded it.
    private func isAsRecorded(_ row: ManifestEntry) throws -> Bool {
        guard case .file(let file) = try session.directory.identity(of: row.path) else {
            return false
        }
        let entry = LocalEntry(path: row.key, kind: .file(file))
        let change = LocalChange(of: entry, since: row, judgesInodes: policy.judgesInodes)
        return change == .same || change == .shortened
    }
}
