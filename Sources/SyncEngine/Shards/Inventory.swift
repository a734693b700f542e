internal import LocalStorage
package import ObjectStorage
internal import ObjectTransfer
package import SyncModel

/// An inventory of the mirror's bucket, to cut by.
///
/// It is a day old and complete only in the end, so nothing but the places of cuts and estimates
/// come of it: never what is mirrored, and never what is deleted.
package struct Inventory: Sendable {
    /// Where the manifest and the files that it names are.
    package enum Location: Sendable {
        /// The path of a manifest with the files beside it, or in the folder `data` beside its own,
        /// where the services put them.
        case file(String)
        /// The key of a manifest in a bucket that has the files, too.
        case object(ObjectKey, StorageClient, name: String)
    }

    private static let manifestLimit = 256 << 20
    private static let chunkSize = 4 << 20

    private let location: Location
    private let manifest: InventoryManifest
    private let prefix: ObjectKey
    private let queue: BlockingQueue

    /// Reads the manifest.
    ///
    /// - Throws: `configuration` if it cannot be used for this mirror.
    init(_ location: Location, of settings: MirrorSettings) async throws {
        self.location = location
        prefix = settings.prefix
        let queue = BlockingQueue(
            label: "osssync.inventory",
            width: 1,
            threads: settings.environment.threads
        )
        self.queue = queue
        let name: String
        let content: [UInt8]
        switch location {
        case .file(let path):
            name = displayText(path.utf8)
            content = try await queue.run { () throws(SyncError) in
                try Self.content(of: path, name)
            }
        case .object(let key, let store, let shown):
            name = shown
            content = try await Self.found("the manifest '\(name)'") { () throws(StorageError) in
                try await store.read(GetRequest(key: key), limit: Self.manifestLimit).bytes
            }
        }
        manifest = try InventoryManifest(content, name: name)
        let bucket = settings.identity.bucket
        guard manifest.sourceBucket == bucket else {
            throw SyncError.inventory(
                "'\(name)' is an inventory of the bucket "
                    + "'\(displayText(manifest.sourceBucket.utf8))', and the mirror is of "
                    + "'\(bucket)'; use an inventory of that bucket"
            )
        }
    }

    private static func content(of path: String, _ name: String) throws(SyncError) -> [UInt8] {
        do throws(LocalError) {
            let file = try OpenFile(reading: path)
            return try file.read(
                at: 0,
                length: Int(min(try file.identity().size, Int64(manifestLimit) + 1))
            )
        } catch {
            throw SyncError.inventory("the inventory cannot be read: \(error.message)")
        }
    }

    private static func found<Value>(
        _ what: String,
        _ read: () async throws(StorageError) -> Value
    ) async throws -> Value {
        do throws(StorageError) {
            return try await read()
        } catch {
            guard error.isNotFound else { throw error }
            throw SyncError.inventory(
                "\(what) is not there; check the address, and that the inventory is complete"
            )
        }
    }

    /// Calls `body` with the key below the mirror's prefix and the size of every object, in the
    /// order of the files; a few megabytes of them are in memory at a time.
    ///
    /// - Throws: `configuration` if a file is missing, altered or broken.
    func read(_ body: (ObjectKey, Int64) -> Void) async throws {
        for file in manifest.files {
            let source = try await open(file)
            let name = displayText(file.key.utf8)
            var digest = StreamingDigest(.md5)
            var inflater = GzipInflater()
            var rows = InventoryRows(
                manifest.columns,
                bucket: manifest.sourceBucket,
                prefix: prefix,
                name: name
            )
            var offset: Int64 = 0
            // What is wrong in a damaged file is first of all that it is damaged.
            var failure: SyncError?
            while true {
                try Task.checkCancellation()
                let chunk = try await source(offset, Self.chunkSize)
                guard !chunk.isEmpty else { break }
                offset += Int64(chunk.count)
                unsafe chunk.withUnsafeBytes { unsafe digest.update($0) }
                guard failure == nil else { continue }
                do {
                    try inflater.inflate(chunk) { try rows.read($0, body) }
                } catch let error as SyncError {
                    failure = error
                } catch {
                    failure = .inventory("'\(name)' is not gzip")
                }
            }
            guard digest.finish() == file.md5 else {
                throw SyncError.inventory(
                    "'\(name)' has another MD5 than the manifest of the inventory says: it is "
                        + "damaged or of another inventory; download it again"
                )
            }
            if let failure { throw failure }
            guard inflater.isComplete else {
                throw SyncError.inventory("'\(name)' ends in the midst of its gzip data")
            }
            try rows.finish(body)
        }
    }

    private typealias Source = (_ offset: Int64, _ length: Int) async throws -> [UInt8]

    private func open(_ file: InventoryManifest.File) async throws -> Source {
        let queue = queue
        switch location {
        case .file(let path):
            let open = try await queue.run { () throws(SyncError) in
                try Self.open(file, beside: path)
            }
            return { offset, length in
                try await queue.run { () throws(LocalError) in
                    try open.read(at: offset, length: length)
                }
            }
        case .object(_, let store, _):
            let what = "the file '\(displayText(file.key.utf8))' of the inventory"
            let key = ObjectKey(file.key)
            let size = try await Self.found(what) { () throws(StorageError) in
                try await store.head(key, versionID: nil).size
            }
            return { offset, length in
                guard offset < size else { return [] }
                let range = ByteRange(offset: offset, length: min(Int64(length), size - offset))
                return try await Self.found(what) { () throws(StorageError) in
                    try await store.read(GetRequest(key: key, range: range), limit: length).bytes
                }
            }
        }
    }

    private static func open(
        _ file: InventoryManifest.File,
        beside manifest: String
    ) throws(SyncError) -> OpenFile {
        let bytes = [UInt8](manifest.utf8)
        let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(decoding: bytes[...$0], as: UTF8.self) } ?? ""
        do throws(LocalError) {
            do throws(LocalError) {
                return try OpenFile(reading: folder + file.name)
            } catch  where error.isMissing {
                return try OpenFile(reading: folder + "../data/" + file.name)
            }
        } catch {
            guard error.isMissing else {
                throw SyncError.inventory("the inventory cannot be read: \(error.message)")
            }
            throw SyncError.inventory(
                "the file '\(displayText(file.name.utf8))' of the inventory is missing; it must be "
                    + "beside '\(displayText(bytes))'. To read all of it from its bucket, specify "
                    + "the address of the manifest"
            )
        }
    }
}
