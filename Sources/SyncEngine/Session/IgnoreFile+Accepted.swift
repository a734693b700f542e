internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// The current ignore file, and the patterns that the user has accepted.
struct IgnoreRules: Sendable {
    /// The rules in force.
    var current = FileFilter()
    /// Accepted rules that came to be replaced by the bucket's: what they hide is not sent.
    var held: [FileFilter] = []
    /// Set if the file cannot be used, and came from the bucket.
    var problem: SyncError?

    /// Leaves nothing but the ignore file itself.
    static var onlyIgnoreFile: FileFilter {
        get throws { try FileFilter(ignoreFile: [UInt8]("/*\n!/\(IgnoreFile.name)\n".utf8)) }
    }
}

/// The texts of ignore files that were accepted on this machine, in a file of their own, so that
/// they outlive the manifest.
///
/// The bucket may control what is skipped, never what is sent: anyone with write access to it could
/// otherwise get every private file in the directory. What the user wrote is accepted; what a
/// download wrote is accepted only if it certainly hides as much.
struct AcceptedRules: Sendable, Hashable {
    /// More than one where the bucket's file changed several times unseen.
    private static let limit = 8
    private static let fileName = "ignore-accepted"

    private(set) var texts: [[UInt8]]

    /// Nil if nothing was accepted yet.
    ///
    /// - Throws: If the file is damaged: what it hid would be sent.
    init?(in directory: MirrorDirectory) throws {
        guard let content = try directory.sharedState.read(Self.fileName) else { return nil }
        guard let rules = AcceptedRules(content: content), !rules.texts.isEmpty else {
            throw Self.damaged(directory)
        }
        self = rules
    }

    private static func damaged(_ directory: MirrorDirectory) -> SyncError {
        let path = displayText((directory.state.path + "/" + fileName).utf8)
        return SyncError(
            code: .refused,
            message: "'\(path)', which records the rules accepted here, is damaged; nothing was "
                + "changed. Check that '\(IgnoreFile.name)' excludes what must not be sent, then "
                + "remove '\(path)' to accept it as it is"
        )
    }

    init(_ texts: [[UInt8]]) {
        self.texts = texts
    }

    func write(to directory: MirrorDirectory) throws(LocalError) {
        try directory.sharedState.write(Self.fileName, content)
    }

    /// True if what they hide is hidden by `rules`, too.
    func areHidden(by rules: FileFilter) throws(FileFilter.InvalidPattern) -> Bool {
        for text in texts where try !rules.surelyHides(allOf: FileFilter(ignoreFile: text)) {
            return false
        }
        return true
    }

    /// What is accepted once a download has brought `text`.
    func following(_ text: [UInt8]) throws(FileFilter.InvalidPattern) -> AcceptedRules {
        let new = try FileFilter(ignoreFile: text)
        var kept: [[UInt8]] = []
        for old in texts where old != text {
            if try !new.surelyHides(allOf: FileFilter(ignoreFile: old)) { kept.append(old) }
        }
        return AcceptedRules(kept.count < Self.limit ? kept + [text] : kept)
    }
}

extension AcceptedRules: StateFile {
    static let heading = "osssync-accepted 1"

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        let texts = value?.texts.map(PercentText.init)
        return Self(try fields("texts", texts).map(\.bytes))
    }
}
