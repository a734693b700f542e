internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Tags of this machine that have the content of one from the bucket.
///
/// A directory that is copied with such a tag is left out, although its original is not: the copy
/// of the tag was made here. That is for the user to say, who is told of it in every run.
final class TagCopies: Sendable {
    /// The setting with what fetched tags had in them: texts of ``Content``.
    private static let setting = "tags.fetched"
    private static let limit = 1_000
    /// Rows of an original that a directory is compared with.
    private static let comparedRows = 100
    /// Files of a copy that are noted.
    private static let listedFiles = 10_000

    private struct Content: Hashable {
        let size: Int64
        let crc64: CRC64

        var text: String { "\(size)-\(crc64.value)" }
    }

    /// A directory with a tag that a run put there.
    private struct Original {
        /// Its key, with a "/" at its end.
        let directory: ObjectKey
        let tag: ManifestEntry
        /// True if the tag is not there any more.
        let isGone: Bool
    }

    private struct Found {
        /// By the texts of what their tags have in them.
        var originals: [String: [Original]] = [:]
        var count = 0
        var own: [(directory: [UInt8], tag: FoundTags.Tag)] = []
    }

    private let found = Mutex(Found())

    /// Notes a tag that a run put there, and that is perhaps gone.
    func note(fetched row: ManifestEntry, isGone: Bool = false) {
        guard let crc64 = row.crc64, let above = try? row.path.parent?.beneath else { return }
        let content = Content(size: row.size, crc64: crc64)
        let original = Original(directory: above, tag: row, isGone: isGone)
        found.withLock { found in
            guard found.count < Self.limit else { return }
            found.count += 1
            found.originals[content.text, default: []].append(original)
        }
    }

    /// Notes the row of a tag that is gone here.
    func note(gone row: ManifestEntry) {
        if row.isFetched { note(fetched: row, isGone: true) }
    }

    /// Notes a tag that no run has mirrored.
    func note(own tag: FoundTags.Tag, in directory: [UInt8]) {
        found.withLock { if $0.own.count < Self.limit { $0.own.append((directory, tag)) } }
    }

    /// Reports the directories that are left out because of a copy; to be called when all tags were
    /// found.
    ///
    /// What was in the original, or is to be deleted elsewhere, may be nowhere but in such a
    /// directory.
    func report(to issues: ScanIssues, _ session: MirrorSession, records: Bool) async throws {
        let found = found.withLock(\.self)
        let recorded = try await session.manifest.setting(Self.setting) ?? ""
        var known = Set(recorded.utf8.split(separator: UInt8(ascii: " ")).map { String($0) ?? "" })
        let new = Set(found.originals.keys).subtracting(known)
        if !new.isEmpty, known.count < Self.limit {
            known.formUnion(new)
            if records {
                let text = known.sorted().joined(separator: " ")
                try await session.manifest.setSetting(Self.setting, text)
            }
        }
        guard !known.isEmpty else { return }
        for (directory, tag) in found.own {
            // One that is gone, or cannot be read, leaves its directory out as before.
            guard let size = tag.file?.size, size <= StateFolder.maximumLength,
                let path = try? RelativePath(key: tag.key),
                let file = try? session.directory.openForReading(path),
                let text = try? file.read(at: 0, length: Int(size))
            else { continue }
            let content = Content(size: size, crc64: CRC64(of: text)).text
            guard known.contains(content) else { continue }
            var originals: [Original] = []
            let alike = found.originals[content] ?? []
            for original in alike
            where try await Self.isCopy(tag, in: directory, of: original, session) {
                originals.append(original)
            }
            // Programs write the same tag into every cache of theirs.
            if originals.isEmpty, !alike.isEmpty { continue }
            issues.countCopiedTag(
                in: directory,
                tag.reason,
                gone: originals.map(\.directory),
                files: Self.files(in: directory, session.directory)
            )
        }
    }

    /// True for a tag that has the time or the inode of the original, or whose original is gone,
    /// or if both directories have a file in common, by its name and size.
    private static func isCopy(
        _ tag: FoundTags.Tag,
        in directory: [UInt8],
        of original: Original,
        _ session: MirrorSession
    ) async throws -> Bool {
        guard !original.isGone, let file = tag.file, file.inode != original.tag.inode,
            !original.tag.mayHaveTime(of: file)
        else { return true }
        let prefix = original.directory
        var rows = session.manifest.pages(
            .entries(in: KeyRange(prefix: prefix)),
            limit: comparedRows
        )
        for row in try await rows.next() ?? [] where row.key != original.tag.key && row.size > 0 {
            let key = ObjectKey(directory + row.key.bytes.dropFirst(prefix.bytes.count - 1))
            if let path = try? RelativePath(key: key),
                case .file(let file)? = try? session.directory.identity(of: path),
                file.size == row.size
            {
                return true
            }
        }
        return false
    }

    /// Files in a directory that is left out, as many as are worth a look.
    private static func files(in directory: [UInt8], _ mirror: MirrorDirectory) -> [LocalEntry] {
        let prefix = ObjectKey(directory + [UInt8(ascii: "/")])
        let walk = mirror.walk(
            within: KeyRanges([KeyRange(prefix: prefix)]),
            leavingOut: { _, _ in false }
        )
        var files: [LocalEntry] = []
        // What cannot be read is as unknown as what no run enters.
        while files.count < listedFiles, let batch = try? walk.next(limit: listedFiles) {
            files += batch.entries.filter { !$0.isDirectory }
            if batch.isFinished { break }
        }
        return files
    }
}
