internal import SyncModel
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Room for a small file that is being fetched, which others may not count on meanwhile; given back
/// when nothing refers to it any more.
package final class ClaimedRoom: Sendable {
    private let directory: MirrorDirectory
    fileprivate let size: Int64
    private let bytes: Int64
    /// False if so much was claimed since the last look at the disk that it has to be asked.
    package let isSure: Bool

    fileprivate init(_ directory: MirrorDirectory, size: Int64) {
        self.directory = directory
        self.size = size
        bytes = (max(1, size) + MirrorDirectory.blockSize - 1) & ~(MirrorDirectory.blockSize - 1)
        directory.claimedBytes.add(bytes, ordering: .relaxed)
        isSure = directory.uncheckedBytes.subtract(bytes, ordering: .relaxed).newValue >= 0
    }

    deinit {
        directory.claimedBytes.subtract(bytes, ordering: .relaxed)
    }
}

extension MirrorDirectory {
    fileprivate static let blockSize: Int64 = 4096
    /// At most so much is claimed between two looks at the disk, and a part of what is free.
    private static let mostUnchecked: Int64 = 64 << 20

    /// Claims room for a file that is about to be fetched and is written only once it is whole.
    package func claimRoom(for size: Int64) -> ClaimedRoom { ClaimedRoom(self, size: size) }

    /// True if something is on its way to the disk.
    package var hasClaims: Bool { claimedBytes.load(ordering: .relaxed) > 0 }

    /// Fails if the disk has no room for what was claimed: nothing is fetched to be thrown away.
    ///
    /// Some stays free for the manifest.
    ///
    /// - Throws: `diskFull`.
    package func check(_ room: ClaimedRoom) throws(LocalError) {
        // Not every file system counts what is free, and one that cannot be asked fails otherwise.
        guard let free = try? calls.freeSpace(work.descriptor), let most = free.mostBytes else {
            return
        }
        let bytes = SystemCalls.effectiveUser == 0 ? most : free.bytes
        let left = bytes - claimedBytes.load(ordering: .relaxed) - Self.leastRoom
        guard left >= 0, !lacksInodes(free.inodes) else {
            throw explained(Self.noRoom, neededBytes: room.size)
        }
        let files = free.inodes.map { ($0 - Self.leastInodes) * Self.blockSize } ?? .max
        uncheckedBytes.store(min(Self.mostUnchecked, min(left, files) / 16), ordering: .relaxed)
    }

    /// Adds the numbers to a "no space" error of any call.
    package func explained(_ error: LocalError, neededBytes: Int64?) -> LocalError {
        guard case .systemCall(let failed) = error else { return error }
        let resource: DiskShortage.Resource
        // A full disk that cannot be asked for its numbers is still full.
        let free = try? calls.freeSpace(work.descriptor)
        switch failed.errno {
        case ENOSPC: resource = lacksInodes(free?.inodes) ? .inodes : .space
        case EDQUOT: resource = .quota
        default: return error
        }
        return .diskFull(
            DiskShortage(
                resource: resource,
                call: failed.call,
                errno: failed.errno,
                path: failed.path,
                neededBytes: neededBytes,
                freeBytes: free?.bytes
            )
        )
    }
}
