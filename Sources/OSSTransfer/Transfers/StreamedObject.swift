internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// An object whose bytes were written to a stream.
package struct StreamedObject: Sendable, Hashable {
    /// What the store says of the object.
    package let info: ObjectInfo
    /// CRC-64 of what was written.
    package let crc64: UInt64
    /// False if the store states nothing of the content, neither CRC-64 nor another digest: then
    /// only its length was compared.
    package let isVerified: Bool
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
    /// - Throws: `TransferError`, after all repetitions: `notFound`, `needsRestore`, `credentials`,
    ///   `forbidden`, `expired`, `unsupportedServer` for one that ignores ranges,
    ///   `objectChanged` if the object was replaced meanwhile, `corrupt` if what was written is
    ///   not what the store's checksum is of, `remoteUnreachable`, `localState` if the stream
    ///   cannot be written, `cancelled`.
    package func write(
        to descriptor: Int32,
        name: String,
        partSize: Int64 = 8 << 20,
        streams: Int = 4,
        onProgress: @escaping @Sendable (_ fetched: Int64, _ total: Int64) -> Void = { _, _ in }
    ) async throws(TransferError) -> StreamedObject? {
        var options = DownloadOptions()
        (options.partSize, options.streams) = (partSize, streams)
        try options.check()
        let subject = String(decoding: key.bytes, as: UTF8.self)
        let store = try self.store()
        let output = try ByteStream.opened(descriptor, name: name, for: subject)
        do throws(ItemFailure) {
            let writing = BlockingQueue(label: "osssync.stream", width: 1, threads: .system)
            let download = StreamDownload(
                key,
                of: store,
                partSize: partSize,
                streams: streams,
                onProgress: onProgress
            ) { sink in
                try await writing.run { () throws(LocalError) in
                    try sink.withHeldBytes { bytes throws(LocalError) in try output.write(bytes) }
                }
            }
            let finished: StreamDownload.Finished?
            do {
                finished = try await withTaskCancellationHandler {
                    try await download.run()
                } onCancel: {
                    output.interrupt()
                }
            } catch {
                throw ItemFailure(ofTransfer: error)
            }
            return finished.map { finished in
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

    /// Hands the content to a reader, in chunks.
    func send(
        to channel: Channel<[UInt8]>,
        _ chunkSize: Int,
        _ streams: Int
    ) async throws(TransferError) {
        try SettingBounds.check(chunkSize, "chunkSize", 1...64 << 20)
        try SettingBounds.check(streams, "streams", 1...64)
        let store = try self.store()
        do throws(ItemFailure) {
            let download = StreamDownload(
                key,
                of: store,
                partSize: Int64(chunkSize),
                streams: streams
            ) { sink in
                let chunk = sink.withHeldBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } }
                try await channel.send(chunk)
            }
            _ = try await download.run()
        } catch {
            throw Self.failure(error, displayText(String(decoding: key.bytes, as: UTF8.self)))
        }
    }

    /// What has been written cannot be taken back.
    private static func failure(_ error: ItemFailure, _ subject: String) -> TransferError {
        let failure = TransferError(error, of: subject)
        let message: String
        switch error {
        case .cancelled: message = "interrupted; the output is incomplete"
        case .keepsChanging:
            message =
                "'\(subject)' was replaced while it was read; the output is incomplete; "
                + "download it again"
        default: return failure
        }
        return failure.with(message: message)
    }
}

extension UploadTarget {
    /// Writes the object from a stream, such as standard input, up to its end.
    ///
    /// A stream of up to one part, 2 MiB unless `options.partSize` is set, is sent in one request,
    /// a longer one in parts, of which those after the first 1,000 grow, so that they reach 5 TiB:
    /// at most 256 MiB of them are in memory, or two parts where these are larger. If the call
    /// fails or is cancelled, the upload is aborted; nothing can be resumed. A writer that was
    /// killed looks like the end of the stream.
    ///
    /// - Parameters:
    ///   - descriptor: Open for reading; it stays open.
    ///   - name: What messages call it.
    ///   - options: What is written with the object, the size of the first part, and the number of
    ///     parts that are sent at once.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    ///   - onProgress: Called from any thread with a number of bytes that were sent; negative for
    ///     those that are sent again.
    /// - Returns: The object.
    /// - Throws: `TransferError`, as ``ResumableUpload/start()``; `localState` also if the stream
    ///   cannot be read, `configuration` if it is too long.
    package func write(
        from descriptor: Int32,
        name: String,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in },
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(TransferError) -> UploadedObject {
        let input = try ByteStream.opened(descriptor, name: name, for: key)
        return try await write(
            input.input,
            length: nil,
            options: options,
            onNotice: onNotice,
            onProgress: onProgress
        )
    }
}

extension UploadTarget {
    /// Writes the object from memory, in one request or in parts, as
    /// ``UploadOptions/partSize`` says.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - options: As of ``write(_:length:options:onNotice:onProgress:)``.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    ///   - onProgress: Called from any thread with a number of bytes that were sent; negative for
    ///     those that are sent again.
    /// - Returns: The object.
    /// - Throws: `TransferError`, as ``ResumableUpload/start()``.
    public func write(
        _ bytes: [UInt8],
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in },
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(TransferError) -> UploadedObject {
        try await write(
            MemoryReader(bytes).input,
            length: Int64(bytes.count),
            options: options,
            onNotice: onNotice,
            onProgress: onProgress
        )
    }

    /// Writes the object from an asynchronous sequence of chunks, up to its end.
    ///
    /// What fits into one part goes in one request, or up to 16 MiB if `length` is given and
    /// `options.partSize` is not; more goes in parts, several at once. In memory are a chunk, one
    /// part that is being filled, and those that are being sent: up to `options.streams`, and no
    /// more than 256 MiB of them, or two parts where these are larger.
    /// The sequence is asked for no more than that, and waits. If it throws, the call fails or is
    /// cancelled, the upload is aborted; nothing can be resumed. A sequence that ends too early
    /// without an error makes an object nevertheless, unless `length` says more.
    ///
    /// - Parameters:
    ///   - chunks: Collections of bytes, such as `[UInt8]`, of any size; a few KiB or more. Single
    ///     bytes would cost a call each: collect them first.
    ///   - length: Bytes of all chunks, if that is known: all parts have one size then, and a
    ///     sequence of another length makes no object. Nil: those after the first 1,000 parts grow,
    ///     so that they reach 5 TiB.
    ///   - options: What is written with the object, the size of the first part, and the number of
    ///     parts that are sent at once. Records and reconnections are not for streams.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    ///   - onProgress: Called from any thread with a number of bytes that were sent; negative for
    ///     those that are sent again.
    /// - Returns: The object.
    /// - Throws: `TransferError`, as ``ResumableUpload/start()``; `localState` also if the sequence
    ///   throws, whose error is in `underlying`, or has another length; `configuration` if it is
    ///   too long.
    public func write<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in },
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(TransferError) -> UploadedObject where Chunks.Element: Sequence<UInt8> {
        if let length { try SettingBounds.check(length, "length", 0...Int64.max) }
        let reader = ChunkReader(chunks)
        do throws(TransferError) {
            return try await write(
                reader.input,
                length: length,
                options: options,
                onNotice: onNotice,
                onProgress: onProgress
            )
        } catch {
            guard let failure = await reader.failure else { throw error }
            throw TransferError(
                code: .localState,
                message: "'\(displayText(key))': reading what is to be sent failed, and nothing "
                    + "was stored: \(displayText(String(describing: failure)))",
                underlying: failure
            )
        }
    }

    fileprivate func write(
        _ input: @escaping StreamUpload.Input,
        length: Int64?,
        options: UploadOptions,
        onNotice: @escaping @Sendable (TransferNotice) -> Void,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(TransferError) -> UploadedObject {
        try options.check(for: dialect)
        let store = try self.store()
        let attempts = TransferAttempts(
            displayText(key),
            options.bounded,
            subject,
            nil,
            monitor: nil,
            onNotice: onNotice
        )
        var mayBeStored = false
        do throws(ItemFailure) {
            let upload = StreamUpload(
                of: input,
                length: length,
                to: ObjectKey(key),
                options.details,
                try await attempts.context(store),
                onProgress: onProgress
            )
            defer { mayBeStored = upload.mayBeStored }
            let finished = try await upload.run()
            return UploadedObject(
                key: key,
                size: finished.size,
                etag: finished.etag.text,
                crc64: finished.checksum.value,
                versionID: finished.versionID?.text,
                callback: finished.callback.map { UploadCallback.Reply($0) }
            )
        } catch {
            guard error != .cancelled else {
                let end =
                    mayBeStored
                    ? "interrupted at the end; '\(displayText(key))' may have been stored: check it"
                        + " in the bucket"
                    : "interrupted; nothing was stored"
                throw TransferError(code: .cancelled, message: end)
            }
            throw TransferError(error, of: displayText(key))
        }
    }
}

extension ByteStream {
    /// The stream by which an object comes or goes.
    fileprivate static func opened(
        _ descriptor: Int32,
        name: String,
        for object: String
    ) throws(TransferError) -> ByteStream {
        do throws(LocalError) {
            return try ByteStream(descriptor, name: name, calls: .standard)
        } catch {
            throw TransferError(ItemFailure(error), of: displayText(object))
        }
    }
}
