/// Buckets, objects and uploads: rows in SQLite, content in blobs.
///
/// Every method is one transaction at most, and waits for others.
final class MetadataStore: Sendable {
    let blobs: BlobStore
    private let generated: [String: GeneratedBucket]
    private let database: SleepingLock<Database>

    init(root: String, generated: [GeneratedBucket]) throws {
        self.generated = Dictionary(generated.map { ($0.name, $0) }) { $1 }
        try BlobStore.makeDirectory(root)
        blobs = try BlobStore(directory: root + "/data")
        let database = try Database(path: root + "/metadata.db")
        try database.execute(Schema.settings)
        try database.execute(Schema.tables)
        try blobs.sweep { blob in
            try database.first(Statements.blobIsUsed, [.text(blob)]) { $0.integer(0) } == 1
        }
        self.database = SleepingLock(database)
    }

    /// Runs `body` alone; blobs that it returns the names of are removed if nothing uses them.
    func withDatabase<Result: Sendable>(
        _ body: (Transaction) throws -> Result
    ) throws -> Result {
        let (result, unused) = try database.withLock { database -> (Result, [String]) in
            let transaction = Transaction(
                database: database,
                blobs: blobs,
                generated: generated
            )
            let result = try body(transaction)
            let unused = try transaction.released.filter { blob in
                try database.first(Statements.blobIsUsed, [.text(blob)]) { $0.integer(0) } == 0
            }
            return (result, unused)
        }
        blobs.remove(unused)
        return result
    }

    /// Like ``withDatabase(_:)``, all or nothing.
    func transaction<Result: Sendable>(
        _ body: (Transaction) throws -> Result
    ) throws -> Result {
        try withDatabase { transaction in
            try transaction.database.transaction { try body(transaction) }
        }
    }
}

/// The statements of one visit to the database.
final class Transaction {
    let database: Database
    let blobs: BlobStore
    let generated: [String: GeneratedBucket]
    /// Blobs that rows stopped naming.
    fileprivate(set) var released: [String] = []

    fileprivate init(
        database: Database,
        blobs: BlobStore,
        generated: [String: GeneratedBucket]
    ) {
        self.database = database
        self.blobs = blobs
        self.generated = generated
    }

    func release(_ blobs: [String]) {
        released.append(contentsOf: blobs)
    }
}

extension Transaction {
    private static func bucket(_ row: borrowing Row) -> BucketRecord {
        BucketRecord(
            name: row.text(0),
            createdMilliseconds: row.integer(1),
            versioning: row.optionalText(2)
        )
    }

    func bucket(_ name: String) throws -> BucketRecord? {
        try database.first(Statements.bucket, [.text(name)], Self.bucket)
    }

    func buckets() throws -> [BucketRecord] {
        try database.query(Statements.buckets, [], Self.bucket)
    }

    func createBucket(_ name: String, nowMilliseconds: Int64) throws {
        try database.run(Statements.insertBucket, .text(name), .integer(nowMilliseconds))
    }

    func setVersioning(_ status: String, of bucket: String) throws {
        try database.run(Statements.setVersioning, .text(bucket), .text(status))
    }

    /// Throws if anything is left in it.
    func deleteBucket(_ name: String) throws {
        let used = try database.first(Statements.bucketIsUsed, [.text(name)]) {
            ($0.integer(0), $0.integer(1))
        }
        guard let used, used == (0, 0) else {
            let reason =
                used?.0 == 1
                ? "The bucket you tried to delete is not empty."
                : "The bucket has Multipart Uploads."
            throw ServiceError(
                409,
                "BucketNotEmpty",
                reason,
                ec: "0015-00000301",
                details: [("BucketName", name)]
            )
        }
        try database.run(Statements.deleteBucket, .text(name))
    }
}
