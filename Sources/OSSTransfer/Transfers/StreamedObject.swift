internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// An object whose bytes were written to a stream.
public struct StreamedObject: Sendable, Hashable {
    /// What the store says of the object.
    public let info: ObjectInfo
    /// CRC-64 of what was written.
    public let crc64: UInt64
    /// False if the store states nothing of the content, neither CRC-64 nor another digest: then
    /// only its length was compared.
    public let isVerified: Bool
}

extension DownloadSource {
    /// Writes the object to a stream, such as standard output, in the order of its bytes.
    ///
    /// All bytes are of one version of the object. A range whose connection is lost continues at
    /// the byte where it was. Nothing is kept on disk, and nothing can be resumed. The last range
    /// is written once the checksum of the whole is right.
    ///
    /// - Parameters:
    ///   - descriptor: Open for writing; it stays open.
    ///   - name: What messages call it.
    ///   - partSize: The size of a range, in bytes; at most 64 MiB.
    ///   - streams: The number of ranges that are fetched at once and held in memory.
    ///   - onProgress: Called from any thread with bytes fetched and bytes of the whole.
    /// - Returns: Nil if the reader of a pipe closed it before it had all.
    /// - Throws: `SyncError`, after all repetitions: `notFound`, `needsRestore`, `credentials`,
    ///   `forbidden`, `expired`, `unsupportedServer` for one that ignores ranges,
    ///   `objectChanged` if the object was replaced meanwhile, `corrupt` if what was written is
    ///   not what the store's checksum is of, `remoteUnreachable`, `localState` if the stream
    ///   cannot be written, `cancelled`.
    public func write(
        to descriptor: Int32,
        name: String,
        partSize: Int64 = DownloadOptions().partSize,
        streams: Int = DownloadOptions().streams,
        onProgress: @escaping @Sendable (_ fetched: Int64, _ total: Int64) -> Void = { _, _ in }
    ) async throws(SyncError) -> StreamedObject? {
        var options = DownloadOptions()
        (options.partSize, options.streams) = (partSize, streams)
        try options.check()
        let subject = String(decoding: key.bytes, as: UTF8.self)
        let store = try makeStore()
        do throws(ItemFailure) {
            let download = StreamDownload(
                key,
                of: store,
                to: try ByteStream.opened(descriptor, name: name),
                partSize: partSize,
                streams: streams,
                onProgress: onProgress
            )
            return try await download.run().map { finished in
                StreamedObject(
                    info: ObjectInfo(subject, finished.metadata),
                    crc64: finished.checksum.value,
                    isVerified: finished.isVerified
                )
            }
        } catch {
            throw Self.failure(error, displayText(subject))
        }
    }

    /// What has been written cannot be taken back.
    private static func failure(_ error: ItemFailure, _ subject: String) -> SyncError {
        let failure = SyncError(error, of: subject)
        let message: String
        switch error {
        case .cancelled: message = "interrupted; the output is incomplete"
        case .keepsChanging:
            message =
                "'\(subject)' was replaced while it was read; the output is incomplete; run the "
                + "command again"
        default: return failure
        }
        return failure.with(message: message)
    }
}

extension BucketClient {
    /// Writes an object from a stream, such as standard input, up to its end.
    ///
    /// A stream of up to `options.partSize` bytes is sent in one request, a longer one in parts, of
    /// which those after the first 1,000 grow, so that they reach 5 TiB: at most 256 MiB of them
    /// are in memory, or two parts where these are larger. If the call fails or is cancelled, the
    /// upload is aborted; nothing can be resumed. A writer that was killed looks like the end of
    /// the stream.
    ///
    /// - Parameters:
    ///   - descriptor: Open for reading; it stays open.
    ///   - name: What messages call it.
    ///   - key: The object's whole key; the prefix of ``remote`` is not put before it.
    ///   - options: What is written with the object, the size of the first part, and the number of
    ///     parts that are sent at once.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    ///   - onProgress: Called from any thread with a number of bytes that were sent; negative for
    ///     those that are sent again.
    /// - Returns: The object.
    /// - Throws: `SyncError`, as ``ResumableUpload/start()``; `localState` also if the stream
    ///   cannot be read, `configuration` if it is too long.
    public func put(
        from descriptor: Int32,
        name: String,
        to key: String,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in },
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(SyncError) -> UploadedObject {
        try options.check()
        let attempts = TransferAttempts(
            subject: displayText(key),
            streams: options.streams,
            reconnects: nil,
            progressInterval: options.progressInterval,
            onNotice: onNotice
        )
        var mayBeStored = false
        do throws(ItemFailure) {
            let upload = StreamUpload(
                of: try ByteStream.opened(descriptor, name: name),
                settings: ObjectUpload.Settings(self, key, name, options),
                services: SingleTransfer(
                    subject: subject(of: key),
                    place: nil,
                    partSize: options.partSize,
                    attempts: attempts
                ),
                onProgress: onProgress
            )
            defer { mayBeStored = upload.mayBeStored }
            return UploadedObject(key: key, try await upload.run())
        } catch {
            guard error != .cancelled else {
                let end =
                    mayBeStored
                    ? "interrupted at the end; '\(displayText(key))' may have been stored: check it"
                        + " with 'osssync ls'"
                    : "interrupted; nothing was stored"
                throw SyncError(code: .cancelled, message: end)
            }
            throw SyncError(error, of: displayText(key))
        }
    }
}

extension ByteStream {
    fileprivate static func opened(
        _ descriptor: Int32,
        name: String
    ) throws(ItemFailure) -> ByteStream {
        do throws(LocalError) {
            return try ByteStream(descriptor, name: name, calls: .standard)
        } catch {
            throw ItemFailure(error)
        }
    }
}
