internal import ObjectStorage
package import SyncModel
internal import Synchronization

/// A stream on its way to one object.
///
/// 1. What fits into one part goes in one PUT request.
/// 2. A longer stream is sent in growing parts (``GrowingParts``), a few at once, each from memory.
/// 3. The CRC-64 of all parts is compared with the store's. A lost answer to the last request is
///    resolved by HEAD: the object's token, size and checksum show whose it is.
/// 4. Whatever else happens, the upload is aborted, also after a cancellation.
///
/// A stream cannot be read twice, so that nothing is resumed.
package struct StreamUpload: Sendable {
    /// Reads the next bytes of the stream, as many as it is told; fewer only at its end.
    package typealias Input = @Sendable (_ count: Int) async throws -> [UInt8]

    /// Bytes of parts in memory, unless two parts are larger.
    private static let memoryBudget = 256 << 20
    /// How long the end of an interrupted command may take.
    private static let abortLimit = Duration.seconds(10)
    private static let completions = 3

    /// An object that holds what the stream held.
    package struct Finished: Sendable {
        package let etag: ETag
        /// Of the stream, as the checksum.
        package fileprivate(set) var size: Int64
        package fileprivate(set) var checksum: CRC64
        package let versionID: VersionID?
        package let callback: CallbackEnding?
    }

    private let key: ObjectKey
    private let context: TransferContext
    private let details: UploadDetails
    private var read: Input
    /// True once ``read`` gives what is stored of an encrypted content.
    private var isSealed = false
    /// Bytes of the whole object; nil if that is unknown before the end.
    private let length: Int64?
    private let onProgress: @Sendable (_ sent: Int) -> Void
    private let makesObject = Mark()

    private final class Mark: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    /// True once the request that makes the object was begun: the store may have carried it out,
    /// whatever became of its answer.
    package var mayBeStored: Bool { makesObject.isSet.load(ordering: .acquiring) }

    /// A stream that has another length than `length` makes no object.
    package init(
        of read: @escaping Input,
        length: Int64?,
        to key: ObjectKey,
        _ details: UploadDetails,
        _ context: TransferContext,
        onProgress: @escaping @Sendable (_ sent: Int) -> Void
    ) {
        self.read = read
        self.length = length.map { context.store.storedSize(of: $0) }
        self.key = key
        self.details = details
        self.context = context
        self.onProgress = onProgress
    }

    private enum Event: Sendable {
        case read([UInt8])
        case sent(UploadedPart)
    }

    /// Sends everything up to the end of the stream.
    package func run() async throws(ItemFailure) -> Finished {
        do {
            var preferred = context.partSize
            if let length, length <= context.limits.largestSinglePut {
                preferred = max(preferred, length)
            }
            let sizes = try GrowingParts(
                length: length,
                preferred: preferred,
                context.store.dialect
            )
            if details.isNew { try await context.requireAbsent(key) }
            return try await send(sizes)
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
    }

    private func send(_ sizes: GrowingParts) async throws -> Finished {
        let token = try await context.uploadToken(key, length ?? 0)
        guard let cipher = context.store.cipher else { return try await send(sizes, token) }
        let sealing = SealedInput(read, cipher, cipher.nonce(of: token, key))
        var upload = self
        upload.read = { try await sealing.read($0) }
        upload.isSealed = true
        var finished = try await upload.send(sizes, token)
        (finished.size, finished.checksum) = await sealing.plainContent
        return finished
    }

    private func send(_ sizes: GrowingParts, _ token: String) async throws -> Finished {
        var beginning = [try await read(sizes.size(ofPartAt: 0))]
        if beginning[0].count == sizes.size(ofPartAt: 0) {
            let second = try await read(sizes.size(ofPartAt: 1))
            if !second.isEmpty { beginning.append(second) }
        }
        try check(beginning.reduce(0) { $0 + Int64($1.count) }, isAtEnd: beginning.count == 1)
        if beginning.count == 1 { return try await put(beginning[0], token) }
        if length == nil, context.store.dialect.partsHaveOneSize {
            context.observer.warned(sizes.warning)
        }
        return try await sendParts(&beginning, sizes, token)
    }

    /// Throws unless the stream can still have, or has, the length that was announced.
    private func check(_ count: Int64, isAtEnd: Bool) throws(ItemFailure) {
        guard let length, count > length || isAtEnd && count < length else { return }
        let found = count > length ? "has more than" : "ended after \(count) of"
        throw .local(message: "the stream \(found) \(length) bytes; nothing was stored")
    }

    private func put(_ bytes: [UInt8], _ token: String) async throws -> Finished {
        let checksum = CRC64(of: bytes)
        var request = beginning(
            token,
            checksum: context.store.dialect.computesChecksum || isSealed ? nil : checksum
        )
        request.callback = details.callback
        makesObject.isSet.store(true, ordering: .releasing)
        let result = try await context.store.put(
            request,
            body: .bytes(bytes),
            onProgress: onProgress
        )
        return finished(result, size: Int64(bytes.count), checksum)
    }

    private func beginning(_ token: String, checksum: CRC64?) -> PutRequest {
        let metadata = isSealed ? [(StorageDialect.encryptionMetadataName, "contents")] : []
        return details.beginning(of: key, metadata, token: token, checksum: checksum)
    }

    private func finished(
        _ result: PutResult,
        size: Int64,
        _ checksum: CRC64
    ) -> Finished {
        Finished(
            etag: result.etag,
            size: size,
            checksum: result.crc64 ?? checksum,
            versionID: result.versionID,
            callback: CallbackEnding(result)
        )
    }
}

// MARK: - Parts

extension StreamUpload {
    private func sendParts(
        _ waiting: inout [[UInt8]],
        _ sizes: GrowingParts,
        _ token: String
    ) async throws -> Finished {
        let uploads = MultipartUploads(context: context)
        let checkpoint = UploadCheckpoint(
            key: key,
            uploadID: nil,
            partSize: Int64(sizes.size(ofPartAt: 0)),
            source: FileIdentity(
                size: 0,
                modified: Timestamp(seconds: 0),
                changed: Timestamp(seconds: 0),
                inode: 0,
                device: 0
            ),
            token: token,
            started: context.environment.now(),
            parts: []
        )
        do {
            let request = beginning(token, checksum: nil)
            let upload = try await uploads.initiate(request, checkpoint)
            let parts = try await sendParts(&waiting, sizes, upload)
            return try await complete(upload, parts, token)
        } catch {
            await abort()
            throw error
        }
    }

    /// Sends what waits and what is read until the end of the stream; the parts come back in order.
    private func sendParts(
        _ waiting: inout [[UInt8]],
        _ sizes: GrowingParts,
        _ upload: UploadID
    ) async throws -> [UploadedPart] {
        try await withThrowingTaskGroup(of: Event.self) { group in
            var (parts, begun) = ([UploadedPart](), 0)
            var total: Int64 = 0
            var held = 0
            var isReading = false
            // A part that is not full is the last one.
            var isAtEnd = waiting[waiting.count - 1].count < sizes.size(ofPartAt: waiting.count - 1)
            while true {
                while !waiting.isEmpty {
                    let bytes = waiting.removeFirst()
                    total += Int64(bytes.count)
                    try check(total, isAtEnd: false)
                    held += bytes.count
                    let number = try number(begun, total, sizes)
                    begun += 1
                    group.addTask {
                        .sent(
                            try await context.store.uploadPart(
                                key,
                                upload,
                                number,
                                body: .bytes(bytes),
                                onProgress: onProgress
                            )
                        )
                    }
                }
                let next = sizes.size(ofPartAt: begun)
                let isFull =
                    begun - parts.count >= context.limits.streamsPerFile
                    || held + next > max(Self.memoryBudget, 2 * next)
                if !isReading, !isAtEnd, !isFull {
                    isReading = true
                    group.addTask { .read(try await read(next)) }
                }
                guard let event = try await group.next() else { break }
                switch event {
                case .sent(let part):
                    held -= Int(part.size)
                    parts.append(part)
                case .read(let bytes):
                    isReading = false
                    isAtEnd = bytes.count < next
                    if !bytes.isEmpty { waiting.append(bytes) }
                }
            }
            try check(total, isAtEnd: true)
            return parts.sorted { $0.number < $1.number }
        }
    }

    private func number(
        _ index: Int,
        _ total: Int64,
        _ sizes: GrowingParts
    ) throws(ItemFailure) -> PartNumber {
        let limit = context.store.dialect.maximumObjectSize
        guard total <= limit, index < PartLayout.maximumPartCount else {
            throw .tooLarge(size: total, limit: min(limit, sizes.capacity))
        }
        return PartNumber(index: index)
    }

    /// Aborts the upload although the task may be cancelled.
    private func abort() async {
        let (key, context, limit) = (key, context, Self.abortLimit)
        let isAborted = await finishing {
            await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do {
                        guard let begun = try await context.records.upload(key) else { return true }
                        try await MultipartUploads(context: context).abort(begun)
                        return true
                    } catch {
                        return false
                    }
                }
                group.addTask {
                    // Only the end of the group cuts it short.
                    try? await context.environment.sleep(limit)
                    return false
                }
                let isAborted = await group.next() ?? false
                group.cancelAll()
                return isAborted
            }
        }
        if !isAborted {
            context.observer.warned(
                "the unfinished upload could not be aborted, and its parts use space in the "
                    + "bucket: abort it later, or have a lifecycle rule delete unfinished uploads"
            )
        }
    }
}

// MARK: - The end

extension StreamUpload {
    private func complete(
        _ upload: UploadID,
        _ parts: [UploadedPart],
        _ token: String
    ) async throws -> Finished {
        var checksum = CRC64()
        var size: Int64 = 0
        for part in parts {
            checksum = checksum.combined(with: part.crc64 ?? CRC64(), length: part.size)
            size += part.size
        }
        makesObject.isSet.store(true, ordering: .releasing)
        let request = details.completion(of: key, upload, parts)
        return try await complete(request, token, size: size, checksum)
    }

    /// Makes the object, and looks whether it was made if the answer is lost.
    private func complete(
        _ request: CompleteRequest,
        _ token: String,
        size: Int64,
        _ checksum: CRC64
    ) async throws -> Finished {
        var attempt = 1
        while true {
            do {
                let result = try await context.store.completeMultipartUpload(request)
                try check(result, request.parts, checksum)
                return finished(result, size: size, checksum)
            } catch let error as StorageError {
                guard error.mayHaveMadeObject || error.isNoSuchUpload else { throw error }
                if let made = try await made(token, size: size, checksum) { return made }
                guard error.mayHaveReachedServer, attempt < Self.completions else { throw error }
                attempt += 1
            }
        }
    }

    /// The object, if this upload made it.
    private func made(
        _ token: String,
        size: Int64,
        _ checksum: CRC64
    ) async throws(ItemFailure) -> Finished? {
        do throws(ItemFailure) {
            let found = try await context.head(key, knownSize: size).metadata
            let object = try context.pinned(found.stored)
            guard found.userMetadata[StorageDialect.tokenMetadataName] == token,
                object.size == size, object.crc64.map({ $0 == checksum }) ?? true
            else { return nil }
            return Finished(
                etag: object.etag,
                size: size,
                checksum: checksum,
                versionID: found.versionID,
                callback: details.callback.map { _ in .unknown }
            )
        } catch {
            if error.isVanished { return nil }
            throw error
        }
    }

    private func check(
        _ result: PutResult,
        _ parts: [UploadedPart],
        _ checksum: CRC64
    ) throws(ItemFailure) {
        let isRight: Bool
        if context.store.dialect.computesChecksum, let found = result.crc64 {
            isRight = found == checksum
        } else if let tag = MultipartETag.tag(ofParts: parts.map(\.etag)),
            MultipartETag.partCount(of: result.etag) != nil
        {
            isRight = ETag(wire: result.etag.text.lowercased()) == tag
        } else {
            isRight = true
        }
        guard !isRight else { return }
        throw .storage(
            message: "the object was stored, but the service reports another checksum than that "
                + "of what was sent; delete it and upload it again",
            answer: ItemFailure.ServiceAnswer(requestID: result.requestID),
            cause: .corrupt
        )
    }
}
