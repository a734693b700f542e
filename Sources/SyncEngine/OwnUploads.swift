internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// Names of the runs of this directory, by which an object is known to be of a run that ended
/// before it had recorded it.
///
/// The token of each upload begins with its run's name and a mark of its key. The manifest keeps
/// the names of runs that were cut off, so that neither a copy of the directory nor a copy of the
/// object, made later or elsewhere, passes for it.
actor OwnUploads {
    private static let setting = "uploads.unrecorded-runs"
    private static let nameLength = 12
    private static let markLength = 6
    /// More runs than this one after the other are rarely cut off.
    private static let limit = 8

    private let manifest: ManifestStore
    private let environment: EngineEnvironment
    private let name: String
    private var isNoted = false
    /// Of runs that were cut off; empty where the directory or the manifest is not the one they ran
    /// with.
    nonisolated let earlier: [String]

    init(_ manifest: ManifestStore, _ environment: EngineEnvironment, earlier: [String]) {
        self.manifest = manifest
        self.environment = environment
        self.earlier = earlier
        name = environment.randomName(Self.nameLength)
    }

    /// The names of runs that were cut off.
    static func recorded(in manifest: ManifestStore) async throws(ManifestError) -> [String] {
        let text = try await manifest.setting(setting) ?? ""
        return text.split(separator: " ").map(String.init).suffix(limit)
            .filter { $0.utf8.count == nameLength }
    }

    private func record(_ names: [String]) async throws(ManifestError) {
        let text = names.suffix(Self.limit).joined(separator: " ")
        try await manifest.setSetting(Self.setting, text.isEmpty ? nil : text)
    }

    /// A token that no other upload has; the manifest knows whose it is before it is used.
    func token(of key: ObjectKey) async throws(ManifestError) -> String {
        if !isNoted {
            try await record(earlier + [name])
            isNoted = true
        }
        let rest = Uploader.tokenLength - Self.nameLength - Self.markLength
        return name + Self.mark(key) + environment.randomName(rest)
    }

    /// True for a token that an earlier run gave to an upload of this key.
    nonisolated func isEarlier(_ token: String, of key: ObjectKey) -> Bool {
        token.utf8.count == Uploader.tokenLength
            && earlier.contains { token.hasPrefix($0 + Self.mark(key)) }
    }

    private static func mark(_ key: ObjectKey) -> String {
        let digits = String(CRC64(of: key.bytes).value, radix: 32)
        return String(digits.suffix(markLength)).leftPadded(to: markLength)
    }

    /// Forgets earlier runs whose directory or manifest is another one now.
    func forgetOthers() async throws(ManifestError) {
        guard earlier.isEmpty, !(try await Self.recorded(in: manifest)).isEmpty else { return }
        try await record([])
    }

    /// Keeps the name of this run if it may have sent what it did not record, and the names of
    /// earlier ones until a run has settled everything.
    func end(isRecorded: Bool, settlesAll: Bool) async throws(ManifestError) {
        guard isNoted || (settlesAll && !earlier.isEmpty) else { return }
        var names = settlesAll ? [] : earlier
        if isNoted, !isRecorded { names.append(name) }
        try await record(names)
    }
}

extension String {
    fileprivate func leftPadded(to length: Int) -> String {
        String(repeating: "0", count: Swift.max(0, length - utf8.count)) + self
    }
}

extension ItemExecutor {
    /// True if the object of a conflict is what an earlier run sent of this file and could not
    /// record, and the file was written since: then nobody else's version is there.
    func isOwnEarlier(_ entry: JoinedEntry, _ kind: ConflictKind) async -> Bool {
        guard kind == .bothNew || kind == .bothChanged, let uploads = context.means.uploads,
            !uploads.earlier.isEmpty, let object = entry.remote, let file = entry.local?.identity,
            let metadata = try? await head(entry.key), metadata.etag == object.etag,
            let token = metadata.userMetadata[Uploader.tokenMetadataName],
            uploads.isEarlier(token, of: entry.key),
            let sent = metadata.userMetadata[ModificationTime.metadataName]
                .flatMap({ ModificationTime.parse($0) })
        else { return false }
        return sent.nanosecondsSince1970 < file.modified.nanosecondsSince1970
    }
}
