package import LocalStorage
internal import SyncModel
internal import Synchronization

// What the bytes of a stream's upload are read from.

extension ByteStream {
    /// Reads on a thread of its own, and stops when the task is cancelled.
    package var input: StreamUpload.Input {
        let queue = BlockingQueue(label: "osssync.stream", width: 1, threads: .system)
        return { count in
            try await withTaskCancellationHandler {
                try await queue.run { () throws(LocalError) in try self.read(count) }
            } onCancel: {
                self.interrupt()
            }
        }
    }
}

/// Bytes in memory, read from the first to the last.
package final class MemoryReader: Sendable {
    private let bytes: [UInt8]
    private let position = Mutex(0)

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var input: StreamUpload.Input {
        { [self] count in
            position.withLock { position in
                let start = position
                position = min(bytes.count, start + count)
                return Array(bytes[start..<position])
            }
        }
    }
}

/// The chunks of an asynchronous sequence, cut into pieces of the size that is asked for.
///
/// It asks for the next chunk when all bytes of the one before are read, so that no more than one
/// is held here.
package actor ChunkReader<Chunks: AsyncSequence & Sendable>
where Chunks.Element: Sequence<UInt8> {
    private var iterator: Chunks.AsyncIterator?
    private var chunk: [UInt8] = []
    /// Of the next byte in `chunk`.
    private var position = 0
    /// What the sequence threw.
    package private(set) var failure: (any Error)?

    package init(_ chunks: Chunks) {
        iterator = chunks.makeAsyncIterator()
    }

    nonisolated package var input: StreamUpload.Input {
        { [self] count in try await read(count) }
    }

    private func read(_ count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            if position == chunk.count {
                guard let next = try await next() else { break }
                // A chunk that is a piece as it is needs no copy.
                if bytes.isEmpty, next.count == count { return next }
                (chunk, position) = (next, 0)
                bytes.reserveCapacity(count)
            }
            let end = min(chunk.count, position + count - bytes.count)
            bytes += chunk[position..<end]
            position = end
        }
        return bytes
    }

    private func next() async throws -> [UInt8]? {
        guard var iterator else { return nil }
        self.iterator = nil
        do {
            let next = try await iterator.next(isolation: self)
            // A sequence may end early because the task was cancelled.
            try Task.checkCancellation()
            guard let next else { return nil }
            self.iterator = iterator
            return Array(next)
        } catch {
            if !Task.isCancelled { failure = error }
            throw error
        }
    }
}
