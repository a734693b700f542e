package import SyncModel
internal import Synchronization

/// Which way one object's content goes.
package enum TransferDirection: Sendable, Hashable {
    case download
    case upload
}

/// One transfer under way; its bytes are counted on the transport's thread without a lock.
package final class TransferCounter: Sendable {
    package let direction: TransferDirection
    package let key: ObjectKey
    private let total: Atomic<Int64>
    private let moved = Atomic<Int64>(0)
    /// Bytes that were counted and have to be sent again.
    private let takenBack = Atomic<Int64>(0)
    private let resumed = Atomic<Int64>(0)
    private let copied = Atomic<Int64>(0)
    /// Bytes moved for attempts that were thrown away; they count as traffic, not as progress.
    private let discarded = Atomic<Int64>(0)
    private let beginnings = Atomic(0)

    package init(_ direction: TransferDirection, key: ObjectKey, size: Int64) {
        self.direction = direction
        self.key = key
        total = Atomic(size)
    }

    /// Bytes of the whole object.
    package var size: Int64 { total.load(ordering: .relaxed) }

    /// Counts bytes that moved; a negative number takes back those that have to be sent again.
    package func add(_ bytes: Int) {
        moved.add(Int64(bytes), ordering: .relaxed)
        if bytes < 0 { takenBack.subtract(Int64(bytes), ordering: .relaxed) }
    }

    package func setResumed(_ bytes: Int64) {
        resumed.store(bytes, ordering: .relaxed)
    }

    /// Counts bytes that the store copied from the version that is replaced.
    package func addCopied(_ bytes: Int64) { copied.add(bytes, ordering: .relaxed) }

    /// The transfer starts again at its first byte, perhaps with a version of another size.
    package func startOver(size: Int64? = nil) {
        if let size { total.store(size, ordering: .relaxed) }
        discarded.store(moved.load(ordering: .relaxed), ordering: .relaxed)
        resumed.store(0, ordering: .relaxed)
        copied.store(0, ordering: .relaxed)
        beginnings.add(1, ordering: .relaxed)
    }

    /// How often it has started again at its first byte.
    package var startedOver: Int { beginnings.load(ordering: .relaxed) }

    /// Bytes that moved, those that had to be sent again each time: never fewer than before.
    package var bytesOnTheWire: Int64 { bytesMoved + takenBack.load(ordering: .relaxed) }

    package var bytesMoved: Int64 { moved.load(ordering: .relaxed) }
    package var bytesResumed: Int64 { resumed.load(ordering: .relaxed) }
    package var bytesCopied: Int64 { copied.load(ordering: .relaxed) }
    /// Of the attempt under way, those of a checkpoint and those that were copied included.
    package var bytesDone: Int64 {
        let done = bytesMoved - discarded.load(ordering: .relaxed) + bytesResumed + bytesCopied
        return min(size, max(0, done))
    }
}
