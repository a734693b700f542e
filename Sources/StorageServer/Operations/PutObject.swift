internal import SyncModel

extension OperationContext {
    func putObject() throws -> Answer {
        let key = try checkedKey()
        try refuseConditions()
        let callback = try Callback(request)
        try checkContentMD5()
        let blob = try receivedBlob()
        let object = NewObject(
            key: key,
            content: ObjectContent(blob),
            segments: blob.segments,
            kind: .normal,
            storageClass: try storageClass(),
            headers: try storedHeaders() + (checksum?.headers(type: "FULL_OBJECT") ?? []),
            tagging: request.serviceHeader("tagging")
        )
        let (bucket, version) = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            try checkOverwrite(transaction, bucket: bucket)
            let version = try transaction.publish(
                object,
                in: bucket,
                nowMilliseconds: core.nowMilliseconds
            )
            return (bucket, version)
        }
        let headers =
            writtenHeaders(object.content, bucket: bucket, version: version)
            + (checksum?.headers(type: "FULL_OBJECT") ?? [])
        guard let callback else { return Answer(200, headers: headers) }
        return try callback.answer(self, object: object, headers: headers)
    }
}

extension StoredBlob {
    /// All of it; an empty object has no segment.
    var segments: [Segment] {
        size == 0 ? [] : [Segment(blob: id, offset: 0, length: size)]
    }
}
