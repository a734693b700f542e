internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// The content of one version of an object in chunks, in their order, as they are fetched.
///
/// ```swift
/// for try await chunk in DownloadSource.object(client, key: "film.mp4").chunks() {
///     try await socket.write(chunk)
/// }
/// ```
///
/// All chunks are of one version of the object, each fetched by one request. While one is worked
/// on, the next ones are fetched: as many as there are streams, and no more, so that a slow reader
/// slows the download down. One whose connection is lost continues at the byte where it was. The
/// last chunk is handed out once the checksum of the whole is right; what came before it must not
/// be used if the sequence ends with an error. Nothing is kept on disk, and nothing can be resumed.
///
/// A loop that ends early, or whose task is cancelled, ends the download. Each loop is a download
/// of its own.
public struct ObjectChunks: AsyncSequence, Sendable {
    /// The bytes of a chunk.
    public typealias Element = [UInt8]
    /// How a sequence fails.
    public typealias Failure = TransferError

    let source: DownloadSource
    let chunkSize: Int
    let streams: Int

    /// One pass over the chunks.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let download: ChunkedDownload

        init(_ chunks: ObjectChunks) {
            download = ChunkedDownload(chunks)
        }

        /// The next chunk; nil after the last.
        ///
        /// - Throws: `TransferError`, after all repetitions: `notFound`, `needsRestore`,
        ///   `credentials`, `forbidden`, `expired`, `unsupportedServer` for a server that ignores
        ///   ranges, `objectChanged` if the object was replaced meanwhile, `corrupt` if what came
        ///   is not what the store's checksum is of, `remoteUnreachable`, `cancelled`,
        ///   `configuration` for sizes out of their bounds.
        public mutating func next() async throws(TransferError) -> [UInt8]? {
            try await download.next()
        }

        /// The same, for a caller that stays where it is.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(TransferError) -> [UInt8]? {
            try await download.next()
        }
    }

    /// A pass from the first chunk; nothing is asked for before that is.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// The same content, byte by byte.
    public var bytes: ByteSequence { ByteSequence(chunks: self) }

    /// The bytes of an object, one after the other, as they are fetched.
    public struct ByteSequence: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8
        /// How a sequence fails.
        public typealias Failure = TransferError

        let chunks: ObjectChunks

        /// One pass over the bytes.
        public struct AsyncIterator: AsyncIteratorProtocol {
            @usableFromInline var chunks: ObjectChunks.AsyncIterator
            @usableFromInline var chunk: [UInt8] = []
            @usableFromInline var place = 0

            init(_ chunks: ObjectChunks.AsyncIterator) { self.chunks = chunks }

            /// The next byte; nil after the last.
            ///
            /// - Throws: `TransferError`, as that of the chunks.
            @inlinable
            public mutating func next() async throws(TransferError) -> UInt8? {
                if place == chunk.count {
                    guard let next = try await chunks.next() else { return nil }
                    (chunk, place) = (next, 0)
                }
                let byte = chunk[place]
                place += 1
                return byte
            }

            /// The same, for a caller that stays where it is.
            @inlinable
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(TransferError) -> UInt8? {
                if place == chunk.count {
                    guard let next = try await chunks.next(isolation: actor) else { return nil }
                    (chunk, place) = (next, 0)
                }
                let byte = chunk[place]
                place += 1
                return byte
            }
        }

        /// A pass from the first byte.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(chunks.makeAsyncIterator())
        }
    }
}

extension DownloadSource {
    /// The content of the object in chunks, as they are fetched.
    ///
    /// - Parameters:
    ///   - chunkSize: Bytes of a chunk, and of the request that fetches it; the last one has fewer.
    ///     From 1 byte to 64 MiB.
    ///   - streams: How many chunks are fetched at once and held in memory, beside the one that is
    ///     handed out and the one that waits for that.
    /// - Returns: The chunks; no request is made before the first one is asked for. An empty
    ///   object has none.
    public func chunks(of chunkSize: Int = 2 << 20, streams: Int = 4) -> ObjectChunks {
        ObjectChunks(source: self, chunkSize: chunkSize, streams: streams)
    }
}

/// A download that hands out chunks, from the first time that one is asked for.
private final class ChunkedDownload: Sendable {
    private let chunks: ObjectChunks
    private let channel = Channel<[UInt8]>(capacity: 1)
    /// What ends it, once it has begun.
    private let cancel = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ chunks: ObjectChunks) { self.chunks = chunks }

    /// Ends the download with its reader.
    deinit { stop() }

    private func stop() { cancel.withLock { $0?() } }

    func next() async throws(TransferError) -> [UInt8]? {
        start()
        do {
            return try await channel.next()
        } catch let error as TransferError {
            throw error
        } catch {
            stop()
            throw TransferError(code: .cancelled, message: "interrupted; more bytes would follow")
        }
    }

    private func start() {
        cancel.withLock { cancel in
            guard cancel == nil else { return }
            cancel = starting { [chunks, channel] in
                do throws(TransferError) {
                    try await chunks.source.send(to: channel, chunks.chunkSize, chunks.streams)
                    channel.finish()
                } catch {
                    channel.finish(throwing: error)
                }
            }
        }
    }
}
