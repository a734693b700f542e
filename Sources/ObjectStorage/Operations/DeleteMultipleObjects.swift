package import SyncModel
internal import Synchronization

extension StorageClient {
    private static let maximumDeleteCount = 1_000
    /// Requests at once where each object is deleted alone.
    private static let deletionsAtOnce = 8
    /// The service's limit of the request's body.
    private static let maximumDeleteBody = 2 << 20

    package func delete(
        _ keys: [ObjectKey]
    ) async throws(StorageError) -> [ObjectKey: StorageError] {
        // XML has no control characters, so such keys are sent alone.
        var failures: [ObjectKey: StorageError] = [:]
        for key in keys where !key.isExpressibleInXML {
            do throws(StorageError) {
                try await delete(key, versionID: nil)
            } catch {
                guard !error.isCancelled, !error.isOutage else { throw error }
                failures[key] = error
            }
        }
        var batches = [keys.filter(\.isExpressibleInXML)[...]]
        while let batch = batches.popLast() {
            guard !batch.isEmpty else { continue }
            let body = encodeDelete(batch.map { (key: $0, versionID: nil) }, isQuiet: false)
            guard batch.count <= Self.maximumDeleteCount, body.count <= Self.maximumDeleteBody
            else {
                let middle = batch.startIndex + batch.count / 2
                batches.append(batch[middle...])
                batches.append(batch[..<middle])
                continue
            }
            let failed = try await deleteTogether(batch, body)
            failures.merge(failed) { _, new in new }
        }
        return failures
    }

    /// One by one, if the service has said that it does not delete several at once.
    private func deleteTogether(
        _ keys: ArraySlice<ObjectKey>,
        _ body: [UInt8]
    ) async throws(StorageError) -> [ObjectKey: StorageError] {
        if lacksMultipleDeletion.load(ordering: .relaxed) { return try await deleteEach(keys) }
        do throws(StorageError) {
            return try await delete(keys, body)
        } catch {
            guard error.isOperationUnsupported else { throw error }
            lacksMultipleDeletion.store(true, ordering: .relaxed)
            return try await deleteEach(keys)
        }
    }

    private func deleteEach(
        _ keys: ArraySlice<ObjectKey>
    ) async throws(StorageError) -> [ObjectKey: StorageError] {
        let failures = Mutex<[ObjectKey: StorageError]>([:])
        var rest = keys
        let next = { rest.popFirst() }
        do {
            try await forEachBounded(limit: Self.deletionsAtOnce, next: next) { key in
                do throws(StorageError) {
                    try await self.delete(key, versionID: nil)
                } catch {
                    // Nothing of the others is known then.
                    guard !error.isCancelled, !error.isOutage else { throw error }
                    failures.withLock { $0[key] = error }
                }
            }
        } catch {
            throw error as? StorageError
                ?? StorageError(kind: .cancelled, operation: "DeleteObject")
        }
        return failures.withLock { $0 }
    }

    private func delete(
        _ keys: ArraySlice<ObjectKey>,
        _ body: [UInt8]
    ) async throws(StorageError) -> [ObjectKey: StorageError] {
        var wire = StorageRequest("DeleteMultipleObjects", .post, nil)
        wire.query = [("delete", "")] + documentEncoding
        wire.headers = [
            ("content-type", "application/xml"), ("content-md5", Base64.encode(Digest.md5(body))),
        ]
        wire.body = .bytes(body)
        let request = wire
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(request, &context)
            let document = try request.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeDelete(body, style: self.keyEncoding(of: body))
            }
            var redaction = Redaction()
            if !document.failed.isEmpty { redaction.add(context) }
            return self.failures(of: keys, document, response.head).mapValues {
                $0.redacted(by: redaction)
            }
        }
    }

    /// A key that the answer does not name as deleted is not deleted.
    private func failures(
        of keys: ArraySlice<ObjectKey>,
        _ document: DeleteDocument,
        _ head: ResponseHead
    ) -> [ObjectKey: StorageError] {
        let deleted = Set(document.deleted.map(\.key))
        var failures: [ObjectKey: StorageError] = [:]
        for key in keys where !deleted.contains(key) {
            let refusal = document.failed.first { $0.key == key }
            failures[key] = StorageError(
                kind: refusal.map { .service(status: head.status, code: $0.code) }
                    ?? .protocolViolation("the answer does not say that the object is deleted"),
                operation: "DeleteMultipleObjects",
                key: key,
                requestID: dialect.requestID(head),
                serviceMessage: refusal?.serviceMessage.map { displayText($0.utf8.prefix(256)) }
            )
        }
        return failures
    }
}

extension ObjectKey {
    /// False for control characters, and for U+FFFE and U+FFFF, which a parser may refuse.
    fileprivate var isExpressibleInXML: Bool {
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), isValidUTF8(bytes) else {
            return false
        }
        return bytes.indices.dropLast(2).allSatisfy { index in
            !(bytes[index] == 0xEF && bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE)
        }
    }
}
