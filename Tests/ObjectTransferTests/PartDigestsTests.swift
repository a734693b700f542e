import Foundation
import LocalStorage
import ObjectStorage
import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectTransfer

@Suite("MD5s side by side")
struct PartDigestsTests {
    private static func bytes(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }

    /// Of a directory with one file, which is gone afterwards.
    private func withFile<Result>(
        _ content: [UInt8],
        _ body: (OpenFile) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-parts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(content).write(to: folder.appendingPathComponent("file"))
        let directory = try MirrorDirectory(
            path: folder.path,
            stateDirectory: nil,
            homeDirectory: nil,
            createsIfMissing: true,
            calls: .standard
        )
        return try await body(try directory.openForReading(RelativePath(key: "file")))
    }

    @Test(arguments: 0..<300)
    func `one alone is the library's, however its bytes are cut`(length: Int) {
        var generator = SeededGenerator(seed: UInt64(length))
        let content = Self.bytes(length, &generator)
        var digest = LaneMD5()
        var rest = content[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(1 + generator.below(100)))
            rest = rest.dropFirst(piece.count)
            unsafe digest.update(piece.span.bytes)
        }
        #expect(digest.finish() == Digest.md5(content))
    }

    @Test(arguments: 1...8)
    func `each of several has its own bytes`(count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        for _ in 0..<50 {
            var digests = [LaneMD5](repeating: LaneMD5(), count: count)
            var contents = [[UInt8]](repeating: [], count: count)
            for _ in 0..<3 {
                let pieces = (0..<count).map { _ in Self.bytes(generator.below(400), &generator) }
                var buffers = unsafe [UnsafeRawBufferPointer]()
                for piece in pieces {
                    let copy = UnsafeMutableRawBufferPointer.allocate(
                        byteCount: piece.count,
                        alignment: 1
                    )
                    unsafe copy.copyBytes(from: piece)
                    unsafe buffers.append(UnsafeRawBufferPointer(copy))
                }
                unsafe LaneMD5.update(&digests, with: buffers)
                for index in 0..<count { unsafe buffers[index].deallocate() }
                for index in 0..<count { contents[index] += pieces[index] }
            }
            for index in 0..<count {
                #expect(digests[index].finish() == Digest.md5(contents[index]))
            }
        }
    }

    @Test(arguments: [1, 7, 8, 9, 20])
    func `the parts of a file are digested in their order`(count: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let partSize = 40_000
        let content = Self.bytes(partSize * count - 11, &generator)
        let digests = try await withFile(content) { file in
            try PartDigests.digests(
                of: file,
                size: Int64(content.count),
                pieceSize: Int64(partSize),
                unless: nil
            )
        }
        let expected = stride(from: 0, to: content.count, by: partSize).flatMap { start in
            Digest.md5([UInt8](content[start..<min(start + partSize, content.count)]))
        }
        #expect(digests == expected)
    }

    @Test func `requests at once are answered each, and one that fails fails alone`() async throws {
        var generator = SeededGenerator(seed: 1)
        let content = Self.bytes(500_000, &generator)
        let queue = BlockingQueue(label: "parts", width: 2, threads: .system)
        let parts = PartDigests { _ in await Task.yield() }
        try await withFile(content) { file in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    let range = ByteRange(offset: Int64(index * 11_000), length: 100_000)
                    // The last ones reach behind the end.
                    let isWhole = range.end <= Int64(content.count)
                    let end = min(Int(range.end), content.count)
                    let expected = Digest.md5([UInt8](content[Int(range.offset)..<end]))
                    group.addTask {
                        let reading = PartDigests.Reading(file: file, range: range)
                        do {
                            var digests = try await parts.digests([reading], on: queue)
                            #expect(isWhole)
                            #expect(digests.count == 1 && digests[0].finish() == expected)
                        } catch let error as LocalError {
                            #expect(!isWhole, "\(error)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `more parts than are digested at once keep their order`() async throws {
        var generator = SeededGenerator(seed: 3)
        let content = Self.bytes(300_000, &generator)
        let queue = BlockingQueue(label: "parts", width: 2, threads: .system)
        let ranges = (0..<21).map { ByteRange(offset: Int64($0 * 10_000), length: 70_001) }
        let digests = try await withFile(content) { file in
            try await PartDigests { _ in await Task.yield() }.digests(
                ranges.map { PartDigests.Reading(file: file, range: $0) },
                on: queue
            )
        }
        for (range, digest) in zip(ranges, digests) {
            var digest = digest
            let bytes = [UInt8](content[Int(range.offset)..<Int(range.end)])
            #expect(digest.finish() == Digest.md5(bytes))
        }
        #expect(digests.count == ranges.count)
    }

    @Test(arguments: [1, 7, 8, 9])
    func `only parts that are too few wait for others`(count: Int) async throws {
        let queue = BlockingQueue(label: "parts", width: 1, threads: .system)
        let pauses = Mutex(0)
        let parts = PartDigests { _ in pauses.withLock { $0 += 1 } }
        try await withFile([1, 2, 3]) { file in
            let reading = PartDigests.Reading(file: file, range: ByteRange(offset: 0, length: 3))
            let readings = Array(repeating: reading, count: count)
            for var digest in try await parts.digests(readings, on: queue) {
                #expect(digest.finish() == Digest.md5([1, 2, 3]))
            }
        }
        #expect(pauses.withLock(\.self) == (count < 8 ? 1 : 0))
    }

    @Test func `a request of a task that was cancelled is not read`() async throws {
        let queue = BlockingQueue(label: "parts", width: 1, threads: .system)
        let parts = PartDigests { _ in await Task.yield() }
        try await withFile([1, 2, 3]) { file in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                let range = ByteRange(offset: 0, length: 3)
                let reading = PartDigests.Reading(file: file, range: range)
                return try await parts.digests([reading, reading], on: queue)
            }
            task.cancel()
            await #expect(throws: LocalError.self) { _ = try await task.value }
        }
    }
}
