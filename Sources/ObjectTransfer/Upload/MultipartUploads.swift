package import ObjectStorage
package import SyncModel

/// Begins multipart uploads so that each is known to be ours, and aborts those of no use any more.
package struct MultipartUploads: Sendable {
    /// How much the service's clock may be behind ours when an upload's age is judged.
    private static let clockTolerance: Int64 = 15 * 60

    /// How long after ours an upload may have begun that is taken for ours: our tries at it take
    /// less, and another writer may well begin one of the same key a day later.
    private static let longestBeginning: Int64 = 30 * 60

    /// How often an upload is begun whose answers are lost.
    private static let attempts = 5

    let context: TransferContext

    package init(
        context: TransferContext
    ) {
        self.context = context
    }

    /// Begins the upload of `checkpoint`, whose row is written first.
    ///
    /// The disk has the row before the service has the upload, and the upload's ID before its first
    /// part: a power cut leaves no upload that nobody knows.
    ///
    /// A request whose answer was lost is not simply repeated, which could leave an upload that
    /// nobody knows: what it may have begun is aborted before the next one.
    package func initiate(
        _ request: PutRequest,
        _ checkpoint: UploadCheckpoint
    ) async throws -> UploadID {
        try await context.records.beginUpload(checkpoint)
        var attempt = 1
        var mayHaveBegun = false
        while true {
            do {
                let upload = try await context.store.initiateMultipartUpload(request)
                try await context.records.setUploadID(
                    checkpoint.key,
                    upload,
                    token: checkpoint.token
                )
                return upload
            } catch let error as StorageError {
                mayHaveBegun = mayHaveBegun || error.mayHaveReachedServer
                guard error.mayHaveReachedServer, !error.isCancelled, attempt < Self.attempts
                else {
                    // The row would stand for an upload that nobody has begun.
                    if !mayHaveBegun { try await context.records.dropUpload(checkpoint.key) }
                    throw error
                }
                try await context.environment.sleep(pause(after: attempt))
                try await abortUnanswered(checkpoint)
            }
            attempt += 1
        }
    }

    /// Begins an upload of an object of `size` bytes that no run resumes, and returns what `body`
    /// makes of it, which completes it; after an error it is aborted.
    ///
    /// Recorded while it is open, unless its key is none of the mirror's.
    package func uploading<Value: Sendable>(
        _ request: PutRequest,
        size: Int64,
        _ partSize: Int64,
        _ body: (UploadID) async throws -> Value
    ) async throws -> Value {
        let key =
            request.key.hasPrefix(context.prefix)
            ? ObjectKey(request.key.bytes.dropFirst(context.prefix.bytes.count)) : nil
        let upload: UploadID
        if let key {
            if let earlier = try await context.records.upload(key) { try await abort(earlier) }
            upload = try await initiate(request, checkpoint(key, size: size, partSize))
        } else {
            upload = try await context.store.initiateMultipartUpload(request)
        }
        let value: Value
        do {
            value = try await body(upload)
        } catch {
            let context = context
            await finishing {
                // What cannot be aborted now, the record leads the next run to.
                do {
                    try await context.store.abortMultipartUpload(request.key, upload)
                    if let key { try await context.records.dropUpload(key) }
                } catch {}
            }
            throw error
        }
        if let key { try await context.records.dropUpload(key) }
        return value
    }

    private func checkpoint(
        _ key: ObjectKey,
        size: Int64,
        _ partSize: Int64
    ) -> UploadCheckpoint {
        let now = context.environment.now()
        // Of no file: none is taken for it.
        let none = FileIdentity(size: size, modified: now, changed: now, inode: 0, device: 0)
        return UploadCheckpoint(
            key: key,
            uploadID: nil,
            partSize: partSize,
            source: none,
            token: context.environment.randomName(UploadCheckpoint.tokenLength),
            started: now,
            parts: []
        )
    }

    private func pause(after attempt: Int) -> Duration {
        .milliseconds(100 << attempt) * context.environment.randomUnit()
    }

    /// Aborts the upload of a checkpoint; the row stays.
    package func abort(_ checkpoint: UploadCheckpoint) async throws {
        guard let upload = checkpoint.uploadID else {
            try await abortUnanswered(checkpoint)
            return
        }
        let objectKey = context.objectKey(checkpoint.key)
        try await context.store.abortMultipartUpload(objectKey, upload)
    }

    /// Aborts what an InitiateMultipartUpload left whose answer was lost.
    ///
    /// A listing shows no metadata, so only an upload of exactly this key that began about when
    /// ours did and has not a single part is taken for ours: nobody loses a byte by its end.
    private func abortUnanswered(_ checkpoint: UploadCheckpoint) async throws {
        let objectKey = context.objectKey(checkpoint.key)
        for upload in try await uploads(of: objectKey) where upload.key == objectKey {
            let earliest = checkpoint.started.seconds - Self.clockTolerance
            let latest = checkpoint.started.seconds + Self.longestBeginning
            guard let began = upload.initiated?.seconds, (earliest...latest).contains(began)
            else { continue }
            let parts = try await context.store.listParts(objectKey, upload.upload, after: nil)
            guard parts.parts.isEmpty else { continue }
            try await context.store.abortMultipartUpload(objectKey, upload.upload)
        }
    }

    /// What a listing has of the key, and of keys that begin with it; nothing where listing is not
    /// allowed, as whoever may not list may still upload.
    private func uploads(
        of objectKey: ObjectKey
    ) async throws(StorageError) -> [MultipartUpload] {
        do throws(StorageError) {
            let request = ListUploadsRequest(prefix: objectKey)
            return try await context.store.listMultipartUploads(request).entries
        } catch {
            guard error.isNotAllowed else { throw error }
            context.observer.warned(
                "an upload of '\(objectKey.display)' may have begun without an answer, and stays "
                    + "in the bucket: listing unfinished uploads is not allowed"
            )
            return []
        }
    }
}

extension LimitedStore {
    /// Hands out the parts that the service has, page by page, until `body` returns false.
    package func forEachPart(
        of upload: UploadID,
        _ key: ObjectKey,
        _ body: (UploadedPart) async -> Bool
    ) async throws(StorageError) {
        var marker: PartNumber?
        repeat {
            let after = marker
            let page = try await listParts(key, upload, after: after)
            for part in page.parts {
                guard await body(part) else { return }
            }
            if let next = page.next, let after, next <= after { return }
            marker = page.next
        } while marker != nil
    }
}
