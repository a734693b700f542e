internal import CLibrary
internal import Synchronization

/// The file system of a mirror: the room that is left there, and when what was written is durable.
///
/// Large files reserve their blocks one after the other; small ones, which are written only once
/// they are whole, claim room before they are fetched. Some stays free for the manifest.
package final class MirrorDisk: Sendable {
    /// So much is left free, in bytes, for the manifest.
    static let leastRoom: Int64 = 256 << 10
    /// Small files leave this many inodes free for the marker and the trash.
    static let leastInodes: Int64 = 8
    fileprivate static let blockSize: Int64 = 4096
    /// At most so much is claimed between two looks at the disk, and a part of what is free.
    private static let mostUnchecked: Int64 = 64 << 20

    private let place: OpenDirectory
    /// The number of the file system that ``synchronize()`` is of.
    package let device: UInt64
    /// Held while a large temporary file reserves its blocks.
    private let reservations = Mutex(())
    private let uncheckedFiles = Atomic<Int64>(0)
    /// Of small files that are being fetched.
    fileprivate let claimedBytes = Atomic<Int64>(0)
    fileprivate let uncheckedBytes = Atomic<Int64>(0)
    private let failedToSynchronize = Atomic(false)

    private var calls: SystemCalls { place.calls }

    init(of place: OpenDirectory, device: UInt64) {
        (self.place, self.device) = (place, device)
    }

    /// Bytes that this user may still write.
    func freeBytes() throws(LocalError) -> Int64 { try calls.freeSpace(place.descriptor).bytes }

    /// Makes everything written and renamed so far survive a power cut.
    package func synchronize() throws(LocalError) {
        do throws(LocalError) {
            try calls.synchronizeFileSystem(place.descriptor)
        } catch {
            failedToSynchronize.store(true, ordering: .releasing)
            throw error
        }
    }

    /// True if the disk once failed to take everything.
    ///
    /// Files that were being written then may have lost pages, which the next sync does not report:
    /// the system reports each failure once.
    package var hasFailedToSynchronize: Bool {
        failedToSynchronize.load(ordering: .acquiring)
    }

    /// What was found since the last question that this disk does not do.
    package func takeRefusals() -> [DiskRefusal] { calls.refusals.takeUntold() }
}

// MARK: - Reserving

extension MirrorDisk {
    /// True if so few inodes are free that no more small files are made.
    private func lacksInodes(_ free: Int64?) -> Bool { free.map { $0 < Self.leastInodes } ?? false }

    /// Asks how many inodes are free, but not for each of many small files: once more after a 64th
    /// of those that were.
    func requireInodes(_ descriptor: Int32) throws(LocalError) {
        let left = uncheckedFiles.subtract(1, ordering: .relaxed).newValue
        guard left < 0 else { return }
        let free = try calls.freeSpace(descriptor).inodes
        if lacksInodes(free) {
            throw .systemCall(SystemCallError(call: "openat", errno: ENOSPC, path: nil))
        }
        uncheckedFiles.store(min(256, (free ?? .max) / 64), ordering: .relaxed)
    }

    /// Reserves blocks while no other file does.
    ///
    /// A file that doesn't fit has all the room there is for a moment, until its reservation fails.
    func alone<Value: Sendable>(
        _ body: () throws(LocalError) -> Value
    ) throws(LocalError) -> Value {
        try reservations.withLock { _ throws(LocalError) in try body() }
    }

    /// Makes a small file, and tries once more where a large one may have had the room.
    func againIfFull<Value: Sendable>(
        _ body: () throws(LocalError) -> Value
    ) throws(LocalError) -> Value {
        do throws(LocalError) {
            return try body()
        } catch {
            guard error.isOutOfRoom else { throw error }
            return try alone(body)
        }
    }

    func reserve(_ size: Int64, of descriptor: Int32) throws(LocalError) {
        guard size > Self.leastRoom else {
            return try calls.preallocate(descriptor, size: size)
        }
        let free = try? calls.freeSpace(descriptor)
        // Tried all the same, it would have all the room for a moment, and the manifest none.
        if let most = free?.mostBytes, most < size { throw Self.noRoom }
        // Not every file system counts what is free.
        let isCounted = free.map { $0.bytes >= size } == true
        try calls.preallocate(descriptor, size: size)
        // Afterwards, because others reserve theirs at the same time.
        if isCounted, try calls.freeSpace(descriptor).bytes < Self.leastRoom {
            throw Self.noRoom
        }
    }

    private static var noRoom: LocalError {
        .systemCall(SystemCallError(call: "fallocate", errno: ENOSPC, path: nil))
    }
}

// MARK: - Claiming

/// Room for a small file that is being fetched, which others may not count on meanwhile; given back
/// when nothing refers to it any more.
package final class ClaimedRoom: Sendable {
    private let disk: MirrorDisk
    fileprivate let size: Int64
    private let bytes: Int64
    /// False if so much was claimed since the last look at the disk that it has to be asked.
    package let isSure: Bool

    fileprivate init(_ disk: MirrorDisk, size: Int64) {
        self.disk = disk
        self.size = size
        bytes = (max(1, size) + MirrorDisk.blockSize - 1) & ~(MirrorDisk.blockSize - 1)
        disk.claimedBytes.add(bytes, ordering: .relaxed)
        isSure = disk.uncheckedBytes.subtract(bytes, ordering: .relaxed).newValue >= 0
    }

    deinit {
        disk.claimedBytes.subtract(bytes, ordering: .relaxed)
    }
}

extension MirrorDisk {
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
        guard let free = try? calls.freeSpace(place.descriptor), free.mostBytes != nil else {
            return
        }
        let left = free.ownBytes - claimedBytes.load(ordering: .relaxed) - Self.leastRoom
        guard left >= 0, !lacksInodes(free.inodes) else {
            throw explained(Self.noRoom, neededBytes: room.size)
        }
        let files = free.inodes.map { ($0 - Self.leastInodes) * Self.blockSize } ?? .max
        uncheckedBytes.store(min(Self.mostUnchecked, min(left, files) / 16), ordering: .relaxed)
    }
}

// MARK: - Failing

extension MirrorDisk {
    /// Adds the numbers to a "no space" error of any call.
    package func explained(_ error: LocalError, neededBytes: Int64?) -> LocalError {
        guard case .systemCall(let failed) = error else { return error }
        let resource: DiskShortage.Resource
        // A full disk that cannot be asked for its numbers is still full.
        let free = try? calls.freeSpace(place.descriptor)
        switch failed.errno {
        case ENOSPC: resource = lacksInodes(free?.inodes) ? .inodes : .space
        case EDQUOT: resource = .quota
        default: return error
        }
        return .diskFull(
            DiskShortage(
                resource: resource,
                errno: failed.errno,
                path: failed.path,
                neededBytes: neededBytes,
                freeBytes: free?.bytes
            )
        )
    }

    /// Carries out what may fail for lack of room, and adds the numbers then.
    func explaining<Value>(
        neededBytes: Int64? = nil,
        _ body: () throws(LocalError) -> Value
    ) throws(LocalError) -> Value {
        do throws(LocalError) {
            return try body()
        } catch {
            throw explained(error, neededBytes: neededBytes)
        }
    }
}
