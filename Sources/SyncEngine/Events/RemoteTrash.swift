internal import LocalStorage
internal import SyncModel

/// Where a run keeps what it deletes or replaces.
@nonexhaustive
public enum TrashPlace: String, Sendable, CaseIterable {
    /// Nowhere: only versioning of the bucket can bring it back.
    case none
    /// Files in `.osssync/trash/` of the directory; objects nowhere.
    case local
    /// Files as with ``local``, and objects, by a copy within the bucket that is made before,
    /// beneath `.osssync/trash/` of the remote's prefix, which no run mirrors.
    case remote
}

/// The trash in the bucket.
enum RemoteTrash {
    /// What its keys begin with, without the remote's prefix.
    static let keys = ObjectKey(RelativePath.stateDirectoryName + "/trash/")

    /// True for the key of a copy in it, without the remote's prefix.
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

    /// Where the copies of the run of this name go.
    static func place(of run: String, prefix: ObjectKey) -> ObjectKey {
        ObjectKey(prefix.bytes + keys.bytes + [UInt8]((run + "/").utf8))
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
