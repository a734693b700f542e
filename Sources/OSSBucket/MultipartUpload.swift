public import OSSTransfer
internal import ObjectStorage
public import ObjectTransfer
public import SyncModel

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

/// An upload in parts, one request at a time; `ResumableUpload` does all of it for a file.
///
/// ```swift
/// let upload = try await client.multipartUpload(of: "film.mov")
/// let parts = [
///     try await upload.send(first, number: 1),
///     try await upload.send(last, number: 2),
/// ]
/// let receipt = try await upload.complete(parts)
/// ```
///
/// Parts take room at the store, and are paid for, until the upload is completed or aborted.
public struct MultipartUpload: Sendable {
    /// The whole key of the object that it makes.
    public let key: String
    /// Names the upload at the store; opaque.
    public let uploadID: String
    private let client: BucketClient
    private let options: PutOptions

    fileprivate init(_ client: BucketClient, _ key: String, _ id: String, _ options: PutOptions) {
        self.client = client
        self.key = key
        self.options = options
        uploadID = id
    }

    private var name: ObjectKey { ObjectKey(key) }
    private var id: UploadID { UploadID(uploadID) }

    /// Sends one part, and compares its CRC-64 with what the store computed; its MD5 where the
    /// store reports no CRC-64.
    ///
    /// - Parameters:
    ///   - bytes: With OSS 100 KiB to 5 GiB, with S3 5 MiB to 5 GiB; the last one may be smaller.
    ///   - number: From 1 to 10,000; a number that was sent already is replaced.
    /// - Returns: The part, as ``complete(_:)`` takes it.
    /// - Throws: `TransferError`: `cannotResume` if there is no such upload any more.
    public func send(_ bytes: [UInt8], number: Int) async throws(TransferError) -> ObjectPart {
        let number = try Self.partNumber(number)
        return try await client.call { () throws(StorageError) in
            ObjectPart(
                try await client.store.uploadPart(name, id, number, body: .bytes(bytes)) { _ in }
            )
        }
    }

    /// The parts that the store has, by ascending number.
    ///
    /// - Throws: `TransferError`: `cannotResume` if there is no such upload any more.
    public func parts() async throws(TransferError) -> [ObjectPart] {
        try await client.call { () throws(StorageError) in
            var parts: [ObjectPart] = []
            var last: PartNumber?
            repeat {
                let page = try await client.store.listParts(name, id, after: last)
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
    /// - Parameter parts: By ascending number.
    /// - Returns: What the store says of the object.
    /// - Throws: `TransferError`: `cannotResume` if there is no such upload any more,
    ///   `alreadyExists` if the upload's options forbid to replace an object.
    @discardableResult
    public func complete(_ parts: [ObjectPart]) async throws(TransferError) -> PutReceipt {
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
            key: name,
            upload: id,
            parts: uploaded,
            forbidsOverwrite: options.ifExists == .fail,
            callback: options.callback?.wire
        )
        request.existenceIsUnknown = true
        // OSS takes it here, S3 when an upload begins.
        request.accessControl = options.properties.accessControl
        let complete = request
        return try await client.call { () throws(StorageError) in
            PutReceipt(try await client.store.completeMultipartUpload(complete))
        }
    }

    /// Gives the upload up and deletes its parts; one that does not exist is given up already.
    ///
    /// - Throws: `TransferError`.
    public func abort() async throws(TransferError) {
        try await client.call { () throws(StorageError) in
            try await client.store.abortMultipartUpload(name, id)
        }
    }

    private static func partNumber(_ number: Int) throws(TransferError) -> PartNumber {
        guard let known = PartNumber(number) else {
            throw TransferError(
                code: .configuration,
                message: "\(number) is not a part number: these are from 1 to 10,000"
            )
        }
        return known
    }
}

extension BucketClient {
    /// Begins a multipart upload.
    ///
    /// - Parameters:
    ///   - key: The object's whole key.
    ///   - options: What is written with the object.
    /// - Returns: The upload, which has no parts yet.
    /// - Throws: `TransferError`. If the answer was lost, an upload may have been begun:
    ///   ``incompleteUploads(prefix:)`` has it.
    public func multipartUpload(
        of key: String,
        options: PutOptions = .none
    ) async throws(TransferError) -> MultipartUpload {
        try options.properties.checkMetadata(for: dialect)
        let id = try await call { () throws(StorageError) in
            try await store.initiateMultipartUpload(options.request(key)).text
        }
        return MultipartUpload(self, key, id, options)
    }

    /// A multipart upload that was begun before, to continue or abort it; no request is made.
    ///
    /// - Parameters:
    ///   - key: The object's whole key.
    ///   - uploadID: What the store named it: ``MultipartUpload/uploadID`` or
    ///     ``IncompleteUpload/uploadID``.
    ///   - options: As when it was begun. What stands in the headers of an object is the store's
    ///     already; completing it needs the rest.
    /// - Returns: The upload.
    public func multipartUpload(
        of key: String,
        uploadID: String,
        options: PutOptions = .none
    ) -> MultipartUpload {
        MultipartUpload(self, key, uploadID, options)
    }

    /// The multipart uploads of keys that begin with `prefix`, by key, of one key by their start.
    ///
    /// All of them are returned at once; a bucket seldom has many.
    ///
    /// - Throws: `TransferError`.
    public func incompleteUploads(
        prefix: String = ""
    ) async throws(TransferError) -> [IncompleteUpload] {
        try await call { () throws(StorageError) in
            var uploads: [IncompleteUpload] = []
            var request = ListUploadsRequest(prefix: ObjectKey(prefix))
            while true {
                let page = try await store.listMultipartUploads(request)
                uploads += page.entries.map { upload in
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

    /// Begins an upload and aborts it: shows that objects can be written.
    ///
    /// Its key is one of osssync's own, which no mirror has, and no object is made.
    ///
    /// - Parameter prefix: How the upload's key is to begin, for keys that may write no others.
    /// - Throws: `TransferError`.
    package func checkWriteAccess(prefix: String = "") async throws(TransferError) {
        try await multipartUpload(of: prefix + ".osssync/check-write").abort()
    }
}
