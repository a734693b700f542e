internal import LocalStorage
package import ObjectStorage
package import SyncModel
internal import Synchronization

/// One object on its way to a stream or a reader, in the order of its bytes.
///
/// 1. The answer to the request for the first range names the version; every other range is
///    requested with `If-Match`.
/// 2. A few ranges are fetched at once and held in memory; each continues after a lost connection
///    at the byte where it was. They are handed out in order.
/// 3. The last range is handed out once the checksum of the whole is right.
///
/// Nothing is kept on disk, and what was handed out cannot be taken back: an object that is
/// replaced in between is an error.
package struct StreamDownload: Sendable {
    /// The largest range, all of which is held.
    private static let largestRange: Int64 = 64 << 20

    /// An object whose bytes have all been handed out.
    package struct Finished: Sendable {
        package let metadata: ObjectMetadata
        package let checksum: CRC64
        /// False if the store states nothing of the content.
        package let isVerified: Bool
    }

    private let store: any ObjectReader
    private let key: ObjectKey
    private let output: @Sendable (FileSink) async throws -> Void
    private let rangeSize: Int64
    private let streams: Int
    private let onProgress: @Sendable (_ fetched: Int64, _ total: Int64) -> Void

    /// Makes a download in ranges of `partSize` bytes at most, of which `streams` are held.
    ///
    /// `output` takes what a range holds; the next one waits for it.
    package init(
        _ key: ObjectKey,
        of store: any ObjectReader,
        partSize: Int64,
        streams: Int,
        onProgress: @escaping @Sendable (_ fetched: Int64, _ total: Int64) -> Void = { _, _ in },
        output: @escaping @Sendable (FileSink) async throws -> Void
    ) {
        self.store = store
        self.key = key
        self.output = output
        rangeSize = min(partSize, Self.largestRange)
        self.streams = streams
        self.onProgress = onProgress
    }

    /// Hands out all of the object.
    ///
    /// - Returns: Nil if the reader of a pipe has closed it before it had all.
    package func run() async throws(ItemFailure) -> Finished? {
        do {
            return try await write()
        } catch let error as LocalError where error.isClosedPipe {
            return nil
        } catch let error as StorageError where error.isPreconditionFailed {
            throw .keepsChanging(times: 1, error.answer)
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
    }

    private func write() async throws -> Finished {
        let opening = ObjectOpening()
        // Elsewhere only the answer to a HEAD has every checksum that the store knows.
        guard store.dialect.computesChecksum else {
            var metadata = try await store.head(key, versionID: nil)
            // Some gateways send 0 as the size of every HEAD.
            if metadata.size == 0 { metadata = try await store.provingEmptiness(of: key, metadata) }
            return try await write(await withPartSize(metadata), opening)
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                let request = ObjectOpening.request(key, length: rangeSize)
                await opening.send(request, to: store)
            }
            do {
                let opened = try await opening.opened()
                guard !opened.ignoresRanges else {
                    throw ItemFailure.withoutRanges(opened.metadata)
                }
                return try await write(opened.metadata, opening)
            } catch let error as StorageError where error.isRangeNotSatisfiable {
                // An empty object has no first byte.
                return try await write(try await store.head(key, versionID: nil), opening)
            }
        }
    }

    private func write(
        _ metadata: ObjectMetadata,
        _ opening: ObjectOpening
    ) async throws -> Finished {
        guard metadata.etag != nil else { throw ItemFailure.withoutETag(metadata) }
        let proof = Mutex(StreamProof(metadata, partSize: rangeSize))
        let count = Int((metadata.size + rangeSize - 1) / rangeSize)
        var verdict = DigestResult.unknown
        try await inOrder(count, metadata, opening) { index, sink in
            let isSealed = sink.withHeldBytes { bytes in
                proof.withLock { $0.update(bytes, sink.checksum) }
                return index == 0 && SealedFormat.isSealed(metadata, beginning: bytes)
            }
            if isSealed, store.refusesSealed { throw ItemFailure.encrypted }
            if index == count - 1 {
                verdict = proof.withLock { $0.finish() }
                if verdict == .contentMismatch(isSure: true) { throw Self.mismatch }
            }
            try await output(sink)
        }
        if count == 0 { verdict = proof.withLock { $0.finish() } }
        if case .contentMismatch = verdict { throw Self.mismatch }
        return Finished(
            metadata: metadata,
            checksum: proof.withLock { $0.checksum },
            isVerified: verdict == .proven || metadata.isProvenByBlocks
        )
    }

    /// The same headers with the size of the object's parts, which is asked for if nothing else
    /// proves the content: the bytes pass once, so that only one size can be tried.
    private func withPartSize(_ metadata: ObjectMetadata) async -> ObjectMetadata {
        guard ContentDigest.claimedDigest(of: metadata) == nil else { return metadata }
        // Without it, the most usual size is tried.
        return await store.withPartSize(metadata, of: key)
    }

    /// Hands out the ranges in order; those that follow are fetched meanwhile.
    private func inOrder(
        _ count: Int,
        _ metadata: ObjectMetadata,
        _ opening: ObjectOpening,
        _ body: (_ index: Int, FileSink) async throws -> Void
    ) async throws {
        let fetched = TransferCounter(.download, key: key, size: metadata.size)
        try await withThrowingTaskGroup(of: (Int, FileSink).self) { group in
            var begun = 0
            var ready: [Int: FileSink] = [:]
            var next = 0
            while next < count {
                while begun < min(count, next + streams) {
                    let index = begun
                    group.addTask {
                        let sink = try await fetch(index, metadata, opening) { bytes in
                            fetched.add(bytes)
                            onProgress(fetched.bytesMoved, fetched.size)
                        }
                        return (index, sink)
                    }
                    begun += 1
                }
                if let sink = ready.removeValue(forKey: next) {
                    try await body(next, sink)
                    next += 1
                } else if let (index, sink) = try await group.next() {
                    ready[index] = sink
                }
            }
        }
    }

    private func fetch(
        _ index: Int,
        _ metadata: ObjectMetadata,
        _ opening: ObjectOpening,
        _ onProgress: @escaping @Sendable (Int) -> Void
    ) async throws -> FileSink {
        let offset = Int64(index) * rangeSize
        let length = min(rangeSize, metadata.size - offset)
        let range = ByteRange(offset: offset, length: length)
        let sink = FileSink(holding: length, onProgress: onProgress)
        guard opening.claim(range) != range else {
            _ = try await opening.receive(into: sink)
            return sink
        }
        _ = try await store.get(
            GetRequest(
                key: key,
                range: range,
                ifMatch: metadata.etag,
                totalSize: metadata.size
            ),
            into: sink
        )
        return sink
    }

    private static let mismatch = ItemFailure.storage(
        message: "the content does not match the checksum that the service reports; do not use "
            + "what was written, and download it again",
        cause: .corrupt
    )
}
