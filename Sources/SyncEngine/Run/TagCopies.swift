internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// Tags of this machine that have the content of one from the bucket.
///
/// A directory that is copied with such a tag is left out, although its original is not: the copy
/// of the tag was made here. That is for the user to say, who is told of it in every run.
final class TagCopies: Sendable {
    /// The setting with what fetched tags had in them: texts of ``Content``.
    private static let setting = "tags.fetched"
    private static let limit = 1_000

    private struct Content: Hashable {
        let size: Int64
        let crc64: CRC64

        var text: String { "\(size)-\(crc64.value)" }
    }

    private struct Found {
        var fetched: Set<Content> = []
        /// The directories whose tags are gone here.
        var gone: [String: [ObjectKey]] = [:]
        var own: [(directory: [UInt8], tag: FoundTags.Tag)] = []
    }

    private let found = Mutex(Found())

    /// Notes a tag that a run put there, and that is perhaps gone.
    func note(fetched row: ManifestEntry, isGone: Bool = false) {
        guard let crc64 = row.crc64 else { return }
        let content = Content(size: row.size, crc64: crc64)
        found.withLock { found in
            guard found.fetched.count < Self.limit else { return }
            found.fetched.insert(content)
            guard isGone, let above = try? row.path.parent?.key else { return }
            found.gone[content.text, default: []].append(above)
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
    /// What was in the original, if that is gone, may be nowhere but in such a directory.
    func report(to issues: ScanIssues, _ session: MirrorSession, records: Bool) async throws {
        let found = found.withLock(\.self)
        let recorded = try await session.manifest.setting(Self.setting) ?? ""
        var known = Set(recorded.utf8.split(separator: UInt8(ascii: " ")).map { String($0) ?? "" })
        let new = Set(found.fetched.map(\.text)).subtracting(known)
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
            issues.countCopiedTag(in: directory, tag.reason, gone: found.gone[content] ?? [])
        }
    }
}
