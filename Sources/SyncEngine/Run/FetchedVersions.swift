internal import LocalStorage
package import ObjectStorage
internal import ObjectTransfer
package import SyncModel
internal import Synchronization

/// Puts the object of this whole key, as it was if there is a past, in a file.
package typealias ObjectFetch =
    @Sendable (_ key: ObjectKey, _ past: PastStore?, _ path: String) async throws -> Void

/// Versions that come back by a download, because this key may not copy them in the bucket.
///
/// Each goes into a tree of its own in the trash here, and from there to its path as anything else
/// does that comes back: several at once take no directory from each other. The bucket stays as it
/// is; the next push sends the file.
struct FetchedVersions: Sendable {
    private let directory: MirrorDirectory
    private let disk: BlockingQueue
    private let fetch: ObjectFetch
    /// The beginning of the names of the trees.
    private let name: String
    /// The tree that takes what is replaced.
    private let replacing: String
    private let count = Count()

    private final class Count: Sendable {
        private let value = Atomic(0)
        var next: Int { value.add(1, ordering: .relaxed).newValue }
    }

    init(
        in directory: MirrorDirectory,
        on disk: BlockingQueue,
        at now: Timestamp,
        _ fetch: @escaping ObjectFetch
    ) async throws {
        (self.directory, self.disk, self.fetch) = (directory, disk, fetch)
        (name, replacing) = try await disk.run { () throws(LocalError) in
            var trees = try directory.trash.runs()
            let name = TrashOfRun.nameOfRestoration(now, after: trees)
            trees.append(TrashOfRun(name: [UInt8](name.utf8)))
            return (name, TrashOfRun.nameOfRestoration(now, after: trees))
        }
    }

    /// Downloads the object of the whole key, as it was if there is a past, to a path.
    func restore(
        _ key: ObjectKey,
        _ past: PastStore?,
        to path: RelativePath,
        replaces: Bool
    ) async throws -> RestoredFile.State {
        let (directory, tree) = (directory, TrashOfRun(name: name, attempt: count.next))
        let place = try await disk.run { () throws(LocalError) in
            try directory.trash.place(for: path, in: tree)
        }
        guard let place else {
            throw TransferError(code: .refused, message: "its name is not UTF-8")
        }
        try await fetch(key, past, place)
        if path.isLink {
            try await disk.run { () throws(LocalError) in
                try GivenPath.makeLink(path, ofTextIn: place, at: place)
            }
        }
        let replacing = replaces ? replacing : nil
        let outcome = try await disk.run { () throws(LocalError) in
            try directory.restore(
                path,
                from: tree,
                to: path,
                replacing: replacing,
                unless: Interruption()
            )
        }
        switch outcome {
        case .restored(let replaced): return replaced ? .replaced : .restored
        case .alreadyThere: return .unchanged
        case .occupied: return .kept
        }
    }

    /// Removes what did not come to its path.
    func finish() async throws {
        let (directory, name) = (directory, name)
        try await disk.run { () throws(LocalError) in
            for tree in try directory.trash.runs() where tree.isOfRun(name) {
                try directory.trash.remove(tree)
            }
        }
    }
}
