public import ObjectTransfer

/// What most code needs of a bucket, so that a test can pass something else.
///
/// ```swift
/// struct Albums {
///     let bucket: any ObjectBucket
/// }
/// let albums = Albums(bucket: InMemoryBucket().client)
/// ```
///
/// ``BucketClient`` conforms, with a real store or with that of an `InMemoryBucket`; what a type
/// of the app's own has to do is said at the methods of `BucketClient`.
public protocol ObjectBucket: Sendable {
    /// Asks for an object's headers; see ``BucketClient/head(_:conditions:)``.
    func head(
        _ key: String,
        conditions: ObjectConditions
    ) async throws(SyncError) -> ReadOutcome<ObjectInfo>
    /// Reads an object; see ``BucketClient/get(_:range:conditions:maxBytes:)``.
    func get(
        _ key: String,
        range: ObjectRange?,
        conditions: ObjectConditions,
        maxBytes: Int
    ) async throws(SyncError) -> ReadOutcome<ObjectContent>
    /// Writes an object; see ``BucketClient/put(_:to:options:)``.
    @discardableResult
    func put(
        _ bytes: [UInt8],
        to key: String,
        options: PutOptions
    ) async throws(SyncError) -> PutReceipt
    /// Deletes an object; see `BucketClient.delete(_:)`.
    func delete(_ key: String) async throws(SyncError)
    /// Lists objects; see ``BucketClient/objects(prefix:)``.
    func objects(prefix: String) -> BucketListing<ListedObject>
}

extension BucketClient: ObjectBucket {}

extension ObjectBucket {
    /// Asks for an object's headers, without conditions.
    public func head(_ key: String) async throws(SyncError) -> ReadOutcome<ObjectInfo> {
        try await head(key, conditions: .none)
    }

    /// Reads a whole object of at most 64 MiB.
    public func get(_ key: String) async throws(SyncError) -> ReadOutcome<ObjectContent> {
        try await get(key, range: nil, conditions: .none, maxBytes: 64 << 20)
    }

    /// Writes an object, without options.
    @discardableResult
    public func put(_ bytes: [UInt8], to key: String) async throws(SyncError) -> PutReceipt {
        try await put(bytes, to: key, options: .none)
    }
}
