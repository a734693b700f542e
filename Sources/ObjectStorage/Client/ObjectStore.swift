package import SyncModel

/// One bucket of an object store: the real client, and fakes in tests.
///
/// Every operation retries what is safe to repeat, and throws what is left. A cancelled task's call
/// throws an error whose `isCancelled` is true, and touches no sink and no descriptor afterwards.
package protocol ObjectStore: Sendable {
    /// What the service can do and allows.
    var dialect: StorageDialect { get }

    func list(_ request: ListRequest) async throws(StorageError) -> ListPage
    func head(_ key: ObjectKey, versionID: VersionID?) async throws(StorageError) -> ObjectMetadata
    /// Bytes of the first of the parts that an object was made of; nil where the store does not
    /// tell it. The one operation that is not repeated: a proof depends on it, and nothing else.
    func partSize(
        _ key: ObjectKey,
        of etag: ETag,
        versionID: VersionID?
    ) async throws(StorageError) -> Int64?

    /// Stores one object, or one range of it, through `sink`.
    ///
    /// Retries inside, continuing after what the sink has received; the count of attempts starts
    /// over when bytes arrived. A range answered with the whole object, another `Content-Range`,
    /// another ETag, a short or long body and an encoding that the object does not have are errors.
    func get(_ request: GetRequest, into sink: FileSink) async throws(StorageError)
        -> ObjectMetadata

    /// Asks for the beginning of an object, `form`, of which nothing need be known: the answer's
    /// head takes the place of a HEAD.
    ///
    /// `makeSink` is called once at most, when the head has come, and the body waits for the sink
    /// it returns; nil if the body is not wanted. It must not make requests. Repeated and continued
    /// like ``get(_:into:)``; not continued where the server ignores ranges.
    func open(
        _ request: GetRequest,
        into makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata

    /// Writes one object; its CRC-64, or its MD5 where the store tells no CRC-64, is computed as it
    /// is sent and compared with what comes back.
    ///
    /// `onProgress` is called on the transport's thread with numbers of bytes that sum to those
    /// sent; a negative one takes back what a repeated attempt sends again.
    func put(
        _ request: PutRequest,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> PutResult

    /// Begins an upload.
    ///
    /// Not repeated once the request may have reached the server: an answer that is lost leaves an
    /// upload that only the caller can tell from others'.
    func initiateMultipartUpload(_ request: PutRequest) async throws(StorageError) -> UploadID
    /// Sends one part; verified and reported like ``put(_:body:onProgress:)``.
    func uploadPart(
        _ key: ObjectKey,
        _ upload: UploadID,
        _ number: PartNumber,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> UploadedPart
    func listParts(
        _ key: ObjectKey,
        _ upload: UploadID,
        after: PartNumber?
    ) async throws(StorageError) -> ListPartsPage
    /// Makes the object of its parts.
    ///
    /// Not repeated once the request may have reached the server: a lost answer is thrown as a
    /// `.transport` error, and the caller settles by `head` whether the object exists.
    func completeMultipartUpload(
        _ request: CompleteRequest
    ) async throws(StorageError) -> PutResult
    /// Drops an upload and its parts; one that does not exist is dropped already.
    func abortMultipartUpload(_ key: ObjectKey, _ upload: UploadID) async throws(StorageError)
    func listMultipartUploads(
        _ request: ListUploadsRequest
    ) async throws(StorageError) -> ListUploadsPage

    func copy(_ request: CopyRequest) async throws(StorageError) -> PutResult
    func uploadPartCopy(_ request: PartCopyRequest) async throws(StorageError) -> UploadedPart

    /// Deletes at most 1,000 objects and returns those that are not known to be deleted.
    func delete(_ keys: [ObjectKey]) async throws(StorageError) -> [ObjectKey: StorageError]

    /// Asks for a readable copy of an archived object, for so many days; one that is being made is
    /// as good as asked for. Without a tier the store takes its standard one.
    func restore(_ key: ObjectKey, days: Int, tier: String?) async throws(StorageError)

    /// The key that a link object leads to.
    func symlinkTarget(_ key: ObjectKey) async throws(StorageError) -> ObjectKey
}
