internal import LocalStorage
internal import SyncModel
internal import Synchronization

/// Reads parts of files and continues their MD5s, those of several parts side by side.
///
/// 1. `digests` puts parts in line and asks for a thread.
/// 2. The thread takes as many as fit side by side, of this file or of others, until none waits.
///
/// The less there is to do, the sooner a part has its turn; the more, the less each one costs.
final class PartDigests: Sendable {
    /// A part in line.
    private struct Request: Sendable {
        let reading: Reading
        let interruption: Interruption
        let outcome = ConflatedValue<Result<LaneMD5, LocalError>>()
    }

    private let waiting = Mutex<[Request]>([])

    /// What is to be read for a digest.
    struct Reading: Sendable {
        let file: OpenFile
        var range: ByteRange
        var digest = LaneMD5()
    }

    /// The digests, each continued with the bytes of its range.
    func digests(_ readings: [Reading], on queue: BlockingQueue) async throws -> [LaneMD5] {
        let interruption = Interruption()
        let requests = readings.map { Request(reading: $0, interruption: interruption) }
        return try await withTaskCancellationHandler {
            waiting.withLock { $0 += requests }
            await queue.run { self.work() }
            var digests: [LaneMD5] = []
            for request in requests {
                // Another thread may have taken it along.
                guard let result = await request.outcome.next() else { throw CancellationError() }
                digests.append(try result.get())
            }
            return digests
        } onCancel: {
            interruption.raise()
        }
    }

    private func work() {
        while true {
            let batch = waiting.withLock { waiting in
                defer { waiting.removeFirst(min(LaneMD5.width, waiting.count)) }
                return waiting.prefix(LaneMD5.width).map(\.self)
            }
            guard !batch.isEmpty else { return }
            let results = Self.read(batch.map { ($0.reading, $0.interruption) })
            for (request, result) in zip(batch, results) { request.outcome.offer(result) }
        }
    }

    /// The MD5s of the pieces of a file, one after the other, as bytes.
    static func digests(
        of file: OpenFile,
        size: Int64,
        pieceSize: Int64,
        unless interruption: Interruption?
    ) throws(LocalError) -> [UInt8] {
        var digests: [UInt8] = []
        var offset: Int64 = 0
        while offset < size {
            var readings: [(Reading, Interruption?)] = []
            while offset < size, readings.count < LaneMD5.width {
                let range = ByteRange(offset: offset, length: min(pieceSize, size - offset))
                readings.append((Reading(file: file, range: range), interruption))
                offset = range.end
            }
            for result in read(readings) {
                var digest = try result.get()
                digests += digest.finish()
            }
        }
        return digests
    }

    /// Bytes of each part that are read at once: those of all of them stay in the cache.
    private static let chunk = 32 << 10

    private static func read(
        _ readings: [(reading: Reading, interruption: Interruption?)]
    ) -> [Result<LaneMD5, LocalError>] {
        var results = readings.map { Result<LaneMD5, LocalError>.success($0.reading.digest) }
        var ranges = readings.map(\.reading.range)
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: chunk * max(readings.count, 1),
            alignment: 64
        )
        defer { unsafe buffer.deallocate() }
        var running = Array(readings.indices)
        while !running.isEmpty {
            var digests: [LaneMD5] = []
            var inputs = unsafe [UnsafeRawBufferPointer]()
            running.removeAll { index in
                let start = chunk * index
                let room = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: buffer[start..<start + chunk]
                )
                do throws(LocalError) {
                    guard case .success(let digest) = results[index],
                        let count = try unsafe fill(room, readings[index], ranges[index])
                    else { return true }
                    digests.append(digest)
                    unsafe inputs.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
                    ranges[index] = ranges[index].dropping(Int64(count))
                    return false
                } catch {
                    results[index] = .failure(error)
                    return true
                }
            }
            unsafe LaneMD5.update(&digests, with: inputs)
            for (place, index) in running.enumerated() { results[index] = .success(digests[place]) }
        }
        return results
    }

    /// Reads the beginning of `range`; nil at its end.
    private static func fill(
        _ room: UnsafeMutableRawBufferPointer,
        _ reading: (reading: Reading, interruption: Interruption?),
        _ range: ByteRange
    ) throws(LocalError) -> Int? {
        guard !range.isEmpty else { return nil }
        guard reading.interruption?.isRaised != true else { throw .interrupted }
        let count = Int(min(Int64(room.count), range.length))
        let file = reading.reading.file
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<count])
        guard try unsafe file.read(into: part, at: range.offset) == count else {
            throw .sizeChanged(path: file.name, expected: range.end)
        }
        return count
    }
}
