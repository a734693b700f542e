internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// A run with fast durability is under way, or was cut off: files that it published have their
/// names, and perhaps not their content.
enum UnsynchronizedRun {
    private static let setting = "publication.unsynchronized"

    /// Notes that files of this run may not outlive a power cut.
    static func begin(
        _ manifest: ManifestStore,
        bootID: String,
        now: Timestamp
    ) async throws(ManifestError) {
        // The mark of an earlier run counts for this one, too.
        guard try await manifest.setting(setting) == nil else { return }
        try await manifest.setSetting(setting, "\(now.seconds) \(bootID)")
        try await manifest.makeDurable()
    }

    /// Everything is on the disk, or was looked at.
    static func end(_ manifest: ManifestStore) async throws(ManifestError) {
        guard try await manifest.setting(setting) != nil else { return }
        try await manifest.setSetting(setting, nil)
    }

    /// Since when files may be damaged, because a run was cut off and the machine started again;
    /// nil if none was.
    static func doubtedSince(
        _ manifest: ManifestStore,
        bootID: String
    ) async throws(ManifestError) -> Timestamp? {
        guard let mark = try await manifest.setting(setting) else { return nil }
        let words = mark.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let seconds = Int64(words[0]) else { return Timestamp(seconds: 0) }
        return words[1] == bootID && !bootID.isEmpty ? nil : Timestamp(seconds: seconds)
    }
}

extension PublicationQueue {
    /// Before the first file that nothing waits for gets its name.
    func markUnsynchronized() async throws {
        guard !hasMarkedUnsynchronized else { return }
        try await UnsynchronizedRun.begin(
            context.manifest,
            bootID: context.directory.bootID,
            now: context.environment.now()
        )
        hasMarkedUnsynchronized = true
    }

    /// Makes the disk hold what has its name, and the manifest learn of it.
    func recordUnsynchronized() async {
        let published = unsynchronized
        unsynchronized = []
        let directory = context.directory
        do {
            try await queue.run { () throws(LocalError) in try directory.synchronize() }
            try await context.manifest.record(published.flatMap(\.changes))
        } catch {
            // The files are there and verified; the next run adopts them by their content.
            let failure = ItemFailure(any: error)
            for file in published { onFailure(file.item.key, file.item.action, failure) }
        }
    }
}
