internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// A part of a multipart upload that the store has.
public struct ObjectPart: Sendable, Hashable {
    /// From 1 to 10,000.
    public let number: Int
    /// Bytes.
    public let size: Int64
    /// The part's tag, without quotes.
    public let etag: String
    /// CRC-64 of the part; nil if it is not known.
    public let crc64: UInt64?

    /// Creates a part from values that an earlier call returned.
    public init(number: Int, size: Int64, etag: String, crc64: UInt64?) {
        self.number = number
        self.size = size
        self.etag = etag
        self.crc64 = crc64
    }

    init(_ part: UploadedPart) {
        self.init(
            number: part.number.value,
            size: part.size,
            etag: part.etag.text,
            crc64: part.crc64?.value
        )
    }
}

/// A multipart upload that was neither completed nor aborted.
public struct IncompleteUpload: Sendable, Hashable {
    /// The whole key of the object that it would make.
    public let key: String
    /// Names the upload; opaque.
    public let uploadID: String
    /// When it was begun; nil if the store does not say.
    public let initiated: StoreTime?
}

/// Multipart uploads, one request at a time; ``ResumableUpload`` does all of it for a file.
extension BucketClient {
    /// Begins a multipart upload, whose parts take room until it is completed or aborted.
    ///
    /// - Returns: What names the upload in the other calls.
    /// - Throws: `SyncError`. If the answer was lost, an upload may have been begun:
    ///   ``incompleteUploads(prefix:)`` has it.
    public func initiateUpload(
        of key: String,
        options: PutOptions = .none
    ) async throws(SyncError) -> String {
        try options.properties.checkMetadata(for: remote.dialect)
        return try await call { () throws(StorageError) in
            try await store.initiateMultipartUpload(options.request(key)).text
        }
    }

    /// Sends one part; its MD5 and its CRC-64 are compared with what the store computed.
    ///
    /// - Parameters:
    ///   - bytes: With OSS 100 KiB to 5 GiB, with S3 5 MiB to 5 GiB; the last one may be smaller.
    ///   - number: From 1 to 10,000; a number that was sent already is replaced.
    ///   - key: The object's whole key.
    ///   - uploadID: What ``initiateUpload(of:options:)`` returned.
    /// - Returns: The part, as completing the upload wants it.
    /// - Throws: `SyncError`: `cannotResume` if there is no such upload any more.
    public func uploadPart(
        _ bytes: [UInt8],
        number: Int,
        of key: String,
        uploadID: String
    ) async throws(SyncError) -> ObjectPart {
        let number = try Self.partNumber(number)
        return try await call { () throws(StorageError) in
            ObjectPart(
                try await store.uploadPart(
                    ObjectKey(key),
                    UploadID(uploadID),
                    number,
                    body: .bytes(bytes)
                ) { _ in }
            )
        }
    }

    /// The parts that the store has, by ascending number.
    ///
    /// - Throws: `SyncError`: `cannotResume` if there is no such upload any more.
    public func parts(of key: String, uploadID: String) async throws(SyncError) -> [ObjectPart] {
        try await call { () throws(StorageError) in
            var parts: [ObjectPart] = []
            var last: PartNumber?
            repeat {
                let page = try await store.listParts(
                    ObjectKey(key),
                    UploadID(uploadID),
                    after: last
                )
                parts += page.parts.map { ObjectPart($0) }
                last = page.next
            } while last != nil
            return parts
        }
    }

    /// Makes the object of its parts.
    ///
    /// The request is not repeated: if its answer was lost (code `remoteUnreachable`), ask for the
    /// object to learn whether it is there.
    ///
    /// - Parameters:
    ///   - key: The object's whole key.
    ///   - uploadID: What ``initiateUpload(of:options:)`` returned.
    ///   - parts: By ascending number.
    ///   - forbidsOverwrite: Refuses to replace an object: code `alreadyExists`.
    ///   - accessControl: The access control list, which OSS takes here and S3 when an upload
    ///     begins.
    ///   - callback: A request that OSS makes once the object is there.
    /// - Returns: What the store says of the object.
    /// - Throws: `SyncError`: `cannotResume` if there is no such upload any more.
    @discardableResult
    public func completeUpload(
        of key: String,
        uploadID: String,
        parts: [ObjectPart],
        forbidsOverwrite: Bool = false,
        accessControl: String? = nil,
        callback: UploadCallback? = nil
    ) async throws(SyncError) -> PutReceipt {
        var uploaded: [UploadedPart] = []
        for part in parts {
            uploaded.append(
                UploadedPart(
                    number: try Self.partNumber(part.number),
                    size: part.size,
                    etag: ETag(wire: part.etag),
                    crc64: part.crc64.map { CRC64(value: $0) }
                )
            )
        }
        var request = CompleteRequest(
            key: ObjectKey(key),
            upload: UploadID(uploadID),
            parts: uploaded,
            forbidsOverwrite: forbidsOverwrite,
            callback: callback?.wire
        )
        request.existenceIsUnknown = true
        request.accessControl = accessControl
        return try await call { () throws(StorageError) in
            PutReceipt(try await store.completeMultipartUpload(request))
        }
    }

    /// Gives an upload up and deletes its parts; one that does not exist is given up already.
    ///
    /// - Throws: `SyncError`.
    public func abortUpload(of key: String, uploadID: String) async throws(SyncError) {
        try await call { () throws(StorageError) in
            try await store.abortMultipartUpload(ObjectKey(key), UploadID(uploadID))
        }
    }

    /// The multipart uploads of keys that begin with `prefix`, by key, of one key by their start.
    ///
    /// All of them are returned at once; a bucket seldom has many.
    ///
    /// - Throws: `SyncError`.
    public func incompleteUploads(prefix: String) async throws(SyncError) -> [IncompleteUpload] {
        try await call { () throws(StorageError) in
            var uploads: [IncompleteUpload] = []
            var request = ListUploadsRequest(prefix: ObjectKey(prefix))
            while true {
                let page = try await store.listMultipartUploads(request)
                uploads += page.uploads.map { upload in
                    IncompleteUpload(
                        key: String(decoding: upload.key.bytes, as: UTF8.self),
                        uploadID: upload.upload.text,
                        initiated: upload.initiated.map { StoreTime($0) }
                    )
                }
                guard let next = page.next else { return uploads }
                request.marker = next
            }
        }
    }

    private static func partNumber(_ number: Int) throws(SyncError) -> PartNumber {
        guard let known = PartNumber(number) else {
            throw SyncError(
                code: .configuration,
                message: "\(number) is not a part number: these are from 1 to 10,000"
            )
        }
        return known
    }

    private func call<Value: Sendable>(
        _ request: () async throws(StorageError) -> Value
    ) async throws(SyncError) -> Value {
        do throws(StorageError) {
            return try await request()
        } catch {
            throw SyncError(error)
        }
    }
}
