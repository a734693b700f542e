internal import LocalStorage
internal import SyncModel
internal import Synchronization

/// Reads parts of files and continues their MD5s, those of several parts side by side.
///
/// 1. `digests` puts parts in line. If they are too few to fill the lanes, it waits a moment for
///    parts of other files.
/// 2. A thread takes as many as fit side by side, and another one for each that ends, until none
///    waits.
final class PartDigests: Sendable {
    /// A part in line.
    private struct Request: Sendable {
        let reading: Reading
        let interruption: Interruption
        let outcome = ConflatedValue<Result<LaneMD5, LocalError>>()
    }

    /// What is to be read for a digest.
    struct Reading: Sendable {
        let file: OpenFile
        var range: ByteRange
        var digest = LaneMD5()
    }

    /// Files of some megabytes, for which this matters, come faster than this if the processor is
    /// what they wait for.
    private static let patience = Duration.milliseconds(20)

    private struct Line {
        var requests: [Request] = []
        var workers = 0
    }

    private let line = Mutex(Line())
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: Returns after that time, or when the task is cancelled.
    init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.sleep = sleep
    }

    /// The digests, each continued with the bytes of its range.
    func digests(_ readings: [Reading], on queue: BlockingQueue) async throws -> [LaneMD5] {
        let interruption = Interruption()
        let requests = readings.map { Request(reading: $0, interruption: interruption) }
        return try await withTaskCancellationHandler {
            let count = line.withLock { line in
                line.requests += requests
                return line.requests.count
            }
            if count < LaneMD5.width { try? await sleep(Self.patience) }
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
        let isNeeded = line.withLock { line in
            // One thread with all lanes in use does more than two with some of them.
            guard line.workers == 0 || line.requests.count >= LaneMD5.width else { return false }
            line.workers += 1
            return true
        }
        guard isNeeded else { return }
        var lanes = Lanes<Request>()
        while true {
            let (free, isEmpty) = (LaneMD5.width - lanes.count, lanes.isEmpty)
            let next = line.withLock { line in
                let next = line.requests.prefix(free)
                line.requests.removeFirst(next.count)
                // Nothing is in line when the last thread leaves.
                if isEmpty, next.isEmpty { line.workers -= 1 }
                return Array(next)
            }
            for request in next { lanes.add(request.reading, request.interruption, for: request) }
            guard !lanes.isEmpty else { return }
            for (request, result) in lanes.advance() { request.outcome.offer(result) }
        }
    }

    /// The MD5s of the pieces of a file, one after the other, as bytes.
    static func digests(
        of file: OpenFile,
        size: Int64,
        pieceSize: Int64,
        unless interruption: Interruption?
    ) throws(LocalError) -> [UInt8] {
        var digests = [[UInt8]](repeating: [], count: Int((size + pieceSize - 1) / pieceSize))
        var lanes = Lanes<Int>()
        var next = 0
        while next < digests.count || !lanes.isEmpty {
            while lanes.count < LaneMD5.width, next < digests.count {
                let offset = Int64(next) * pieceSize
                let range = ByteRange(offset: offset, length: min(pieceSize, size - offset))
                lanes.add(Reading(file: file, range: range), interruption, for: next)
                next += 1
            }
            for (index, result) in lanes.advance() {
                var digest = try result.get()
                digests[index] = digest.finish()
            }
        }
        return digests.flatMap(\.self)
    }
}

/// Parts that are read and digested side by side.
@safe private struct Lanes<Subject>: ~Copyable {
    fileprivate struct Lane {
        let subject: Subject
        var reading: PartDigests.Reading
        let interruption: Interruption?
    }

    /// Bytes of each part that are read at once: those of all of them stay in the cache.
    private static var chunk: Int { 32 << 10 }

    private var lanes: [Lane] = []
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: LaneMD5.width * Self.chunk,
        alignment: 64
    )

    deinit { unsafe buffer.deallocate() }

    var count: Int { lanes.count }
    var isEmpty: Bool { lanes.isEmpty }

    /// There is room for ``LaneMD5/width`` of them.
    mutating func add(
        _ reading: PartDigests.Reading,
        _ interruption: Interruption?,
        for subject: Subject
    ) {
        lanes.append(Lane(subject: subject, reading: reading, interruption: interruption))
    }

    /// Continues all digests by a chunk, and returns those that ended.
    mutating func advance() -> [(Subject, Result<LaneMD5, LocalError>)] {
        var ended: [(Subject, Result<LaneMD5, LocalError>)] = []
        var running: [Lane] = []
        var digests: [LaneMD5] = []
        var inputs = unsafe [UnsafeRawBufferPointer]()
        for var lane in lanes {
            let start = running.count * Self.chunk
            let room = unsafe UnsafeMutableRawBufferPointer(
                rebasing: buffer[start..<start + Self.chunk]
            )
            do throws(LocalError) {
                guard let count = try unsafe lane.fill(room) else {
                    ended.append((lane.subject, .success(lane.reading.digest)))
                    continue
                }
                digests.append(lane.reading.digest)
                unsafe inputs.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
                running.append(lane)
            } catch {
                ended.append((lane.subject, .failure(error)))
            }
        }
        unsafe LaneMD5.update(&digests, with: inputs)
        for index in running.indices { running[index].reading.digest = digests[index] }
        lanes = running
        return ended
    }
}

extension Lanes.Lane {
    /// Reads the beginning of the range and drops it; nil at its end.
    fileprivate mutating func fill(
        _ room: UnsafeMutableRawBufferPointer
    ) throws(LocalError) -> Int? {
        let (file, range) = (reading.file, reading.range)
        guard !range.isEmpty else { return nil }
        guard interruption?.isRaised != true else { throw .interrupted }
        let count = Int(min(Int64(room.count), range.length))
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<count])
        guard try unsafe file.read(into: part, at: range.offset) == count else {
            throw .sizeChanged(path: file.name, expected: range.end)
        }
        reading.range = range.dropping(Int64(count))
        return count
    }
}
