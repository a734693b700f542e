internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// The current ignore file, and the patterns that the user has accepted.
struct IgnoreRules: Sendable {
    /// The rules in force.
    var current = FileFilter()
    /// The file that has them; nil if there is none.
    var text: [UInt8]?
    /// Accepted rules that came to be replaced by the bucket's: what they hide is not sent.
    var held: [FileFilter] = []
    /// Set if the file cannot be used, and came from the bucket.
    var problem: TransferError?
    /// The row of the file, if the disk changed it: the recorded rules are in force.
    var damaged: ManifestEntry?

    /// Leaves nothing but the ignore file itself.
    static var onlyIgnoreFile: FileFilter {
        get throws { try FileFilter(ignoreFile: [UInt8]("/*\n!/\(IgnoreFile.name)\n".utf8)) }
    }
}

/// The texts of ignore files that were accepted in this directory, in a file of their own, so that
/// they outlive the manifest.
///
/// The bucket may control what is skipped, never what is sent: anyone with write access to it could
/// otherwise get every private file in the directory. What the user wrote is accepted; what a
/// download wrote is accepted only if it certainly hides as much.
///
/// The file is in `.osssync` of the directory, wherever the state is: what one mirror of the
/// directory downloaded is not what the user wrote to another one. Each state has a copy, which
/// counts where that file is missing.
struct AcceptedRules: Sendable, Hashable {
    /// More than one where the bucket's file changed several times unseen.
    private static let limit = 8
    private static let fileName = "ignore-accepted"

    /// Empty if nothing was accepted yet.
    private(set) var texts: [[UInt8]] = []
    /// The ignore file that a run put there; nil once the user has changed it.
    var received: Received?

    /// What a run made of the ignore file.
    struct Received: Sendable, Hashable {
        /// Nil if it was deleted.
        var content: CRC64?
        /// Nil if it is not known yet.
        var modified: Timestamp?
    }

    /// - Throws: If the file is damaged: what it hid would be sent.
    init(in directory: MirrorDirectory) throws {
        for folder in [try directory.markerFile.folder(makes: false), directory.sharedState] {
            guard let folder, let content = try folder.read(Self.fileName) else { continue }
            guard let rules = AcceptedRules(content: content),
                !rules.texts.isEmpty || rules.received != nil
            else { throw Self.damaged(folder) }
            self = rules
            return
        }
    }

    private static func damaged(_ folder: StateFolder) -> TransferError {
        let path = displayText((folder.path + "/" + fileName).utf8)
        return TransferError(
            code: .refused,
            message: "'\(path)', which records the rules accepted here, is damaged; nothing was "
                + "changed. Check that '\(IgnoreFile.name)' excludes what must not be sent, then "
                + "remove '\(path)' to accept it as it is"
        )
    }

    init(_ texts: [[UInt8]], received: Received? = nil) {
        (self.texts, self.received) = (texts, received)
    }

    /// Notes in another mirror what a run made of that one's ignore file; nothing for a directory
    /// that is not a mirror.
    static func note(_ received: Received, inMirrorAt path: String) throws {
        guard let folder = try StateFolder.ofOwnDirectory(at: path) else { return }
        let content = try folder.read(fileName)
        // A damaged one ends that mirror's runs.
        guard var rules = content.map({ AcceptedRules(content: $0) }) ?? AcceptedRules([]),
            rules.received != received
        else { return }
        rules.received = received
        try folder.write(fileName, rules.content)
    }

    func write(to directory: MirrorDirectory) throws(LocalError) {
        try directory.writeForAllStates(Self.fileName, content)
    }

    /// True if the ignore file is as a run left it.
    func isReceived(_ content: CRC64?, _ modified: Timestamp?) -> Bool {
        guard let received, received.content == content else { return false }
        guard let known = received.modified, let modified else { return true }
        return modified.isCloseTo(known)
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
        if kept.count < Self.limit { kept.append(text) }
        return AcceptedRules(kept, received: received)
    }
}

extension AcceptedRules: StateFile {
    static let heading = "osssync-accepted 1"

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        let texts = value?.texts.map(PercentText.init)
        return Self(
            try fields("texts", texts).map(\.bytes),
            received: try fields.optional("received", value?.received)
        )
    }
}

extension AcceptedRules.Received: JSONObject {
    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        Self(
            content: try fields.optional("crc64", value?.content),
            modified: try fields.optional("modified", value?.modified)
        )
    }
}

extension Timestamp {
    /// A file system that rounds times, by up to two seconds, does not accept anything.
    func isCloseTo(_ other: Timestamp) -> Bool {
        let (moved, overflows) =
            nanosecondsSince1970
            .subtractingReportingOverflow(other.nanosecondsSince1970)
        let isRounded = nanosecondsSince1970 % 10_000_000 == 0
        return !overflows && moved.magnitude < (isRounded ? 2_000_000_000 : 10_000_000)
    }
}
