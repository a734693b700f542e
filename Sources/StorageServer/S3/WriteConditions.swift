extension OperationContext {
    /// S3's conditions of a write, judged in the transaction that writes.
    func checkWriteConditions(_ transaction: Transaction, bucket: BucketRecord) throws {
        // A key of an upload is written by its completion, not by its beginning.
        guard operation != .initiateMultipartUpload else { return }
        let found = try transaction.object(bucket.name, key, version: nil)
        let current = found.flatMap { $0.isMarker ? nil : $0 }
        if let unwanted = request.header("if-none-match") {
            guard unwanted == "*" else {
                throw ServiceError.notImplemented(header: "If-None-Match")
            }
            guard current == nil else { throw ServiceError.preconditionFailed("If-None-Match") }
        }
        guard let wanted = request.header("if-match") else { return }
        guard let current else {
            // Deleted while the request was under way.
            guard !existedAtStart else {
                throw ServiceError(
                    409,
                    "ConditionalRequestConflict",
                    "The conditional request cannot succeed due to a conflicting operation "
                        + "against this resource.",
                    details: [("Condition", "If-Match"), ("Key", keyText)]
                )
            }
            throw ServiceError.noSuchKey(keyText)
        }
        guard matches(wanted, current.content.etag) else {
            throw ServiceError.preconditionFailed("If-Match")
        }
    }
}

extension ServerCore {
    /// Looks at the key of a conditional write before its body comes.
    func holdsObject(_ request: Request) throws -> Bool {
        guard request.dialect == .s3, request.header("if-match") != nil,
            let bucket = request.bucket, let key = request.key
        else { return false }
        return try metadata.withDatabase { transaction in
            try transaction.object(bucket, key, version: nil)?.isMarker == false
        }
    }
}
