package import SyncModel

extension StorageClient {
    package func initiateMultipartUpload(
        _ request: PutRequest
    ) async throws(StorageError) -> UploadID {
        var wire = StorageRequest("InitiateMultipartUpload", .post, request.key)
        wire.query = [("uploads", "")] + documentEncoding
        wire.headers = objectHeaders(request)
        if !dialect.isOSS { wire.headers += accessControlHeaders(request.accessControl) }
        if dialect.conditions == .forbidOverwrite, request.forbidsOverwrite {
            // Refused now already; S3 takes conditions only when the object is made.
            wire.headers.append((dialect.header("forbid-overwrite"), "true"))
        }
        wire.isRepeatable = false
        wire.replaced = request.replacedVersion
        if wire.replaced != nil {
            // A caller that would replace another version gets the error before the first part is
            // sent.
            wire = try await repeating { (context) throws(StorageError) in
                var inspected = wire
                try await self.inspect(&inspected, &context)
                return inspected
            }
        }
        guard request.asksForPartChecksums, !dialect.computesChecksum else {
            return try await begin(wire)
        }
        let isTrial = partChecksums.beginTrial()
        // Nothing is known yet of a store that another upload tries.
        guard isTrial || partChecksums.areProof else { return try await begin(wire) }
        var asking = wire
        asking.headers.append((dialect.header("checksum-algorithm"), "CRC32C"))
        // Else the object would have no checksum of the whole, which Amazon gives it by default.
        asking.headers.append((dialect.header("checksum-type"), "FULL_OBJECT"))
        let upload: UploadID
        do throws(StorageError) {
            upload = try await begin(asking)
        } catch {
            guard error.isChecksumUnsupported else {
                if isTrial { partChecksums.cancelTrial() }
                throw error
            }
            partChecksums.distrust()
            return try await begin(wire)
        }
        guard isTrial else { return upload }
        guard partChecksums.contains(upload) else {
            partChecksums.distrust()
            return upload
        }
        await tryWrongChecksum(in: partRequest(request.key, upload, PartNumber(index: 0)))
        if partChecksums.areProof { return upload }
        // The store would give the object a checksum that proves nothing.
        // What is not aborted now, the end of the run or `osssync uploads --abort` finds.
        try? await abortMultipartUpload(request.key, upload)
        partChecksums.remove(upload)
        do throws(StorageError) {
            return try await begin(wire)
        } catch {
            var error = error
            error.reachedServer = true
            throw error
        }
    }

    private func begin(_ initiating: StorageRequest) async throws(StorageError) -> UploadID {
        try await repeating(isRepeatable: false) { (context) throws(StorageError) in
            let response = try await self.send(initiating, &context)
            let document = try initiating.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeInitiateUpload(body, style: self.dialect.keyEncoding)
            }
            if let key = document.key, key != initiating.key {
                throw initiating.failure(
                    .protocolViolation("it began an upload of '\(key.display)'")
                )
            }
            if response.head[self.dialect.headerPrefix, "checksum-algorithm"] == "CRC32C" {
                self.partChecksums.add(document.uploadID)
            }
            return document.uploadID
        }
    }
}
