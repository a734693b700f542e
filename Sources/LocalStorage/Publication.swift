package import SyncModel

/// A finished temporary file that is to take its place in the mirrored directory.
package struct Publication: Sendable, Hashable {
    package var partialName: String
    package var path: RelativePath
    /// The modification time that the file gets.
    package var modified: Timestamp
    package var expected: ExpectedTarget
    package var displaced: Displacement
    /// The permissions of the file that this is a copy of; nil for new content.
    ///
    /// They count where nothing is replaced.
    package var permissions: UInt32?

    package init(
        partialName: String,
        path: RelativePath,
        modified: Timestamp,
        expected: ExpectedTarget,
        displaced: Displacement,
        permissions: UInt32? = nil
    ) {
        self.partialName = partialName
        self.path = path
        self.modified = modified
        self.expected = expected
        self.displaced = displaced
        self.permissions = permissions
    }
}

/// What the plan saw at a path; anything else there is somebody's work and is left alone.
package enum ExpectedTarget: Sendable, Hashable {
    case absent
    case file(FileIdentity)
    /// Nothing, a file or a symbolic link, which is replaced as a name and not written through.
    case anything
}

/// What becomes of the version that a new one replaces.
package enum Displacement: Sendable, Hashable {
    case replace
    /// Kept in the trash of this run, by its path.
    case moveToTrash(run: String)
    /// Kept in the same directory: `suffix` goes before the name's extension, and a number after it
    /// if that name is taken.
    case keepBeside(suffix: String)
}

/// Whether published files have to survive a power cut before
/// ``MirrorDirectory/publish(_:durability:)`` returns.
package enum PublicationDurability: Sendable, Hashable {
    /// By one synchronization of the whole file system before and one after the renames.
    case synchronized
    /// By synchronizing each file and its directory, for few files on a busy disk.
    case synchronizedEach
    /// By synchronizing each file, and then as ``synchronized``.
    ///
    /// For what was being written when the file system could not be synchronized: it tells that
    /// once, and a file by itself tells whether it is concerned.
    case synchronizedTwice
    case unsynchronized

    fileprivate var synchronizesAll: Bool { self == .synchronized || self == .synchronizedTwice }
}

package enum PublicationOutcome: Sendable, Hashable {
    /// The file is in its place and is this; `keptAs` is where ``Displacement/keepBeside(suffix:)``
    /// put the old version.
    case published(FileIdentity, keptAs: RelativePath?)
    /// Nothing is to be recorded. The target is untouched and the temporary file is still there,
    /// unless it was the look after the rename that failed or found someone else's file; then the
    /// next run finds by content what there is.
    case failed(LocalError)
}

extension MirrorDirectory {
    /// Puts finished temporary files in their places, all for the price of two synchronizations.
    ///
    /// The order is what a power cut needs: every content, and the second name of every old version
    /// that is kept, is on the disk before the first rename, and every rename before this returns.
    /// At each moment each path has its complete old or its complete new version. One item that
    /// cannot be published does not keep the others from it.
    ///
    /// - Returns: One outcome for each item, in the order of `group`.
    /// - Throws: If the disk could not be synchronized. Before the renames that leaves every target
    ///   as it was; after them the files are in place but may not survive a power cut, so that
    ///   nothing may be recorded of them, and the next run compares them again.
    package func publish(
        _ group: [Publication],
        durability: PublicationDurability
    ) throws(LocalError) -> [PublicationOutcome] {
        guard !group.isEmpty else { return [] }
        do throws(LocalError) {
            var publisher = try Publisher(directory: self, group: group)
            let synchronizesEach = durability == .synchronizedEach
            publisher.prepare(
                synchronizesEach: synchronizesEach || durability == .synchronizedTwice
            )
            publisher.keepOldVersions()
            guard publisher.hasPrepared else { return publisher.outcomes }
            // What the user made outlives a power cut in any case.
            if durability.synchronizesAll || publisher.hasKeptVersions {
                do throws(LocalError) {
                    try synchronize()
                } catch {
                    publisher.undo()
                    throw error
                }
            }
            publisher.commit(synchronizesEach: synchronizesEach)
            if durability.synchronizesAll { try synchronize() }
            return publisher.outcomes
        } catch {
            throw explained(error, neededBytes: nil)
        }
    }
}
