internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// A run with fast durability is under way, or was cut off: files that it published have their
/// names, and perhaps not their content.
enum UnsynchronizedRun {
    private static let setting = "publication.unsynchronized"

    /// The file system's clock goes by ticks, and so lags behind the one that is asked.
    private static let tick = Duration.milliseconds(20)

    /// Below it a mark is in seconds, as earlier versions wrote it.
    private static let wholeSeconds: Int64 = 1 << 40

    /// When the doubt begins, the boot, and when the doubt ends, once that is known.
    private static func words(of mark: String) -> [Substring] {
        mark.split(separator: " ", omittingEmptySubsequences: false)
    }

    /// Notes that files of this run may not outlive a power cut.
    static func begin(
        _ manifest: ManifestStore,
        bootID: String,
        now: Timestamp
    ) async throws(ManifestError) {
        if let mark = try await manifest.setting(setting) {
            // The mark of an earlier run counts for this one, too, but not the end of its doubt.
            let words = words(of: mark)
            guard words.count > 2 else { return }
            try await manifest.setSetting(setting, words[..<2].joined(separator: " "))
            try await manifest.makeDurable()
            return
        }
        let since = (now - tick).nanosecondsSince1970
        try await manifest.setSetting(setting, "\(since) \(bootID)")
        try await manifest.makeDurable()
    }

    /// Everything is on the disk, or was looked at.
    static func end(_ manifest: ManifestStore) async throws(ManifestError) {
        guard try await manifest.setting(setting) != nil else { return }
        try await manifest.setSetting(setting, nil)
    }

    /// Makes the disk hold the files that an earlier run published and did not wait for, before
    /// this run believes in them.
    ///
    /// A kill leaves them whole, but a row about them would outlive the power cut that they do not.
    static func settle(_ context: TransferContext) async throws {
        guard let mark = try await context.manifest.setting(setting) else { return }
        let directory = context.directory
        try await context.disk.run { () throws(LocalError) in try directory.synchronize() }
        guard let doubt = context.doubt else { return try await end(context.manifest) }
        // Else each start of the machine would draw into the doubt what the user did since.
        guard words(of: mark).count == 2, let until = doubt.until else { return }
        let known = mark + " \(until.nanosecondsSince1970)"
        try await context.manifest.setSetting(setting, known)
    }

    /// What is in doubt, because a run was cut off and the machine started again; nil if nothing
    /// is.
    static func doubt(
        _ manifest: ManifestStore,
        bootID: String,
        environment: EngineEnvironment
    ) async throws(ManifestError) -> Doubt? {
        guard let mark = try await manifest.setting(setting) else { return nil }
        let words = words(of: mark)
        let started = environment.sinceBoot().map { environment.now() - $0 }
        let ended =
            words.count == 3 ? Int64(words[2]).map(Timestamp.init(nanosecondsSince1970:)) : nil
        let until = ended ?? started
        guard (2...3).contains(words.count), let since = Int64(words[0]) else {
            return Doubt(since: Timestamp(seconds: 0), until: until)
        }
        guard words[1] != bootID || bootID.isEmpty else { return nil }
        let start =
            since < wholeSeconds
            ? Timestamp(seconds: since)
            : Timestamp(nanosecondsSince1970: since)
        // No machine starts again before what it did: its clock was not set yet.
        return Doubt(since: start, until: until.flatMap { $0 > start ? $0 : nil })
    }
}

/// The time whose changes of files a power cut may have damaged.
struct Doubt: Sendable, Hashable {
    /// When the run began that was cut off.
    let since: Timestamp
    /// When the machine started again; nil if it does not tell.
    ///
    /// What changed later was changed by somebody.
    let until: Timestamp?

    func includes(_ file: FileIdentity) -> Bool {
        guard file.changed >= since else { return false }
        return until.map { file.changed < $0 } ?? true
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

    /// True if this run made the mark, and the disk holds all that it published.
    var mayRemoveMark: Bool {
        hasMarkedUnsynchronized && unsynchronized.isEmpty && !hasLostTrack
    }

    /// Makes the disk hold what has its name, and the manifest learn of it.
    func recordUnsynchronized() async {
        let published = unsynchronized
        unsynchronized = []
        do {
            try await recordDurably(published.flatMap(\.changes))
        } catch {
            hasLostTrack = true
            // The files are there and verified; the next run adopts them by their content.
            let failure = ItemFailure(any: error)
            for file in published { onFailure(file.item.key, file.item.action, failure) }
        }
    }
}
