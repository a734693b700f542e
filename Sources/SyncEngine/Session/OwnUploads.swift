internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// Names of the runs of this directory, by which an object is known to be of a run that ended
/// before it had recorded it.
///
/// The token of each upload begins with its run's name and a mark of its key and its size. The
/// manifest keeps the names of runs that were cut off, so that neither a copy of the directory nor
/// a copy of the object, made later or elsewhere, passes for it.
actor OwnUploads {
    private static let setting = "uploads.unrecorded-runs"
    private static let nameLength = 12
    private static let markLength = 6
    /// More runs than this one after the other are rarely cut off.
    private static let limit = 64

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
    func token(of key: ObjectKey, size: Int64) async throws(ManifestError) -> String {
        if !isNoted {
            // A backup of the directory made before has none of what this run sends.
            try await manifest.takeNumber()
            try await record(earlier + [name])
            isNoted = true
        }
        let rest = UploadCheckpoint.tokenLength - Self.nameLength - Self.markLength
        return name + Self.mark(key, size) + environment.randomName(rest)
    }

    /// The same for a transfer.
    func transferToken(of key: ObjectKey, size: Int64) async throws(ItemFailure) -> String {
        do {
            return try await token(of: key, size: size)
        } catch {
            throw ItemFailure(error)
        }
    }

    /// True for a token that an earlier run gave to an upload of this key and size.
    nonisolated func isEarlier(_ token: String, of key: ObjectKey, size: Int64) -> Bool {
        token.utf8.count == UploadCheckpoint.tokenLength
            && earlier.contains { token.hasPrefix($0 + Self.mark(key, size)) }
    }

    /// True for a token that this run gave to an upload of this key and size.
    nonisolated func isOwn(_ token: String, of key: ObjectKey, size: Int64) -> Bool {
        token.utf8.count == UploadCheckpoint.tokenLength
            && token.hasPrefix(name + Self.mark(key, size))
    }

    private static func mark(_ key: ObjectKey, _ size: Int64) -> String {
        let digits = String(CRC64(of: key.bytes + "\n\(size)".utf8).value, radix: 32)
        return String(digits.suffix(markLength)).leftPadded(to: markLength)
    }

    /// Forgets earlier runs whose directory or manifest is another one now.
    func forgetOthers() async throws(ManifestError) {
        guard earlier.isEmpty, !(try await Self.recorded(in: manifest)).isEmpty else { return }
        try await record([])
    }

    /// Keeps the name of this run if it may have sent something without recording it, and the names
    /// of earlier runs until a run has resolved everything.
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
