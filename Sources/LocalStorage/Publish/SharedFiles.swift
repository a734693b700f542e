package import SyncModel
internal import Synchronization

/// Files of several names of which this process took or gave one.
///
/// That moves the time of the last change of all the others, which the plan saw as it was before.
final class SharedFiles: Sendable {
    private struct Number: Hashable {
        let inode: UInt64
        let device: UInt64
    }

    /// A mirror of more such files takes more than one run for those beyond.
    private static let limit = 1 << 16
    private let numbers = Mutex<Set<Number>>([])

    /// To be called before one of the names of `status` changes, or it gets another one.
    func note(_ status: FileStatus, getsName: Bool = false) {
        guard status.linkCount > 1 || getsName else { return }
        numbers.withLock { numbers in
            guard numbers.count < Self.limit else { return }
            numbers.insert(
                Number(inode: status.identity.inode, device: status.identity.device)
            )
        }
    }

    fileprivate func contains(_ identity: FileIdentity) -> Bool {
        let number = Number(inode: identity.inode, device: identity.device)
        return numbers.withLock { $0.contains(number) }
    }
}

extension MirrorDirectory {
    /// True if a file is what the plan saw, but for what this process did to its other names.
    package func isAsSeen(_ found: FileIdentity, _ seen: FileIdentity) -> Bool {
        if found == seen { return true }
        return found.inode == seen.inode && found.device == seen.device
            && found.size == seen.size && found.modified == seen.modified
            && sharedFiles.contains(found)
    }
}
