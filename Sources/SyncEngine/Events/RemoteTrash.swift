internal import LocalStorage
internal import SyncModel

/// Where a push or sync copies objects, within the bucket, before it deletes or replaces them.
@nonexhaustive
public enum RemoteTrash: Sendable, Hashable {
    /// Nowhere: only versioning of the bucket can bring them back.
    case none
    /// Beneath `.osssync/trash/` of the remote's prefix, which no run mirrors.
    case ownPrefix
    /// Beneath this prefix of the bucket, which is outside of the remote's and ends in "/".
    case prefix(String)
}

extension RemoteTrash {
    /// As the command line says it.
    var text: String {
        switch self {
        case .none: "none"
        case .ownPrefix: "remote"
        case .prefix(let prefix): prefix
        }
    }

    /// What the keys of ``ownPrefix`` begin with, without the remote's prefix.
    static let keys = ObjectKey(RelativePath.stateDirectoryName + "/trash/")

    /// True for the key of a copy in ``ownPrefix``, without the remote's prefix.
    static func contains(_ key: ObjectKey) -> Bool { key.hasPrefix(keys) }

    /// True for what is in the trash of this mirror, or of one beneath it.
    static func holds(_ key: ObjectKey) -> Bool {
        let names = key.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return zip(names, names.dropFirst()).contains { name, next in
            name.elementsEqual(RelativePath.stateDirectoryName.utf8)
                && next.elementsEqual("trash".utf8)
        }
    }

    /// Behind all keys that runs put there: their names begin with the year.
    static let lastKey = ObjectKey(keys.bytes + [UInt8(ascii: "~")])

    /// Where the copies of the run of this name go; nil if there are none.
    func place(of run: String, prefix: ObjectKey) -> ObjectKey? {
        let name = [UInt8]((run + "/").utf8)
        return switch self {
        case .none: nil
        case .ownPrefix: ObjectKey(prefix.bytes + Self.keys.bytes + name)
        case .prefix(let text): ObjectKey([UInt8](text.utf8) + name)
        }
    }
}

extension RemoteTrash {
    /// The file of the state directory that is there if the bucket has had a trash of this mirror:
    /// without it, commands on the trash make no request.
    private static let noteName = "remote-trash"

    static func note(in directory: MirrorDirectory, _ disk: BlockingQueue) async throws {
        try await disk.run { () throws(LocalError) in
            guard try !isNoted(in: directory) else { return }
            try directory.sharedState.write(noteName, [])
        }
    }

    static func isNoted(in directory: MirrorDirectory) throws(LocalError) -> Bool {
        try directory.sharedState.read(noteName) != nil
    }
}
