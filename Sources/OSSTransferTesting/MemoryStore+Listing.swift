internal import ObjectStorage
internal import SyncModel

extension MemoryStore {
    static func ofBucket(
        _ request: MemoryTransport.Request,
        _ address: MemoryAddress,
        _ state: inout State
    ) -> MemoryTransport.Answer {
        if request.method == .post, address["delete"] != nil {
            let text = String(decoding: request.body, as: UTF8.self)
            var deleted: [String] = []
            for name in MemoryAddress.contents(of: "Key", in: text) {
                let key = ObjectKey(MemoryAddress.unescaped(name))
                state.objects[key] = nil
                deleted.append("<Deleted><Key>\(encoded(key))</Key></Deleted>")
            }
            return document(
                "<DeleteResult><EncodingType>url</EncodingType>" + deleted.joined()
                    + "</DeleteResult>"
            )
        }
        if request.method == .get, address["uploads"] != nil { return uploads(address, state) }
        guard request.method == .get, address["list-type"] != nil else {
            return failure(501, "NotImplemented")
        }
        return list(address, state)
    }

    private static func list(
        _ address: MemoryAddress,
        _ state: borrowing State
    ) -> MemoryTransport.Answer {
        let prefix = address.key("prefix") ?? ObjectKey([])
        let start = address.key("continuation-token") ?? address.key("start-after")
        let maximum = address["max-keys"].flatMap { Int($0) } ?? 100
        var entries: [String] = []
        var last: ObjectKey?
        var skipped = address["delimiter"] == nil ? nil : start
        for key in state.objects.keys.sorted() where key.hasPrefix(prefix) {
            if let start, key <= start { continue }
            // What a directory of this page or of the one before stands for.
            if let skipped, skipped.isDirectoryMarker, key.hasPrefix(skipped) { continue }
            guard entries.count < maximum else {
                return page(entries, prefix, next: last)
            }
            let rest = key.bytes.dropFirst(prefix.bytes.count)
            if let delimiter = address["delimiter"]?.utf8.first,
                let end = rest.firstIndex(of: delimiter)
            {
                let directory = ObjectKey(Array(key.bytes[...end]))
                skipped = directory
                last = directory
                entries.append(
                    "<CommonPrefixes><Prefix>\(encoded(directory))</Prefix></CommonPrefixes>"
                )
            } else if let object = state.objects[key] {
                last = key
                entries.append(
                    "<Contents><Key>\(encoded(key))</Key><LastModified>"
                        + extended(object.modified) + "</LastModified><ETag>\"\(object.etag)\""
                        + "</ETag><Type>Normal</Type><Size>\(object.bytes.count)</Size>"
                        + "<StorageClass>Standard</StorageClass></Contents>"
                )
            }
        }
        return page(entries, prefix, next: nil)
    }

    private static func page(
        _ entries: [String],
        _ prefix: ObjectKey,
        next: ObjectKey?
    ) -> MemoryTransport.Answer {
        let token = next.map {
            "<NextContinuationToken>\(encoded($0))</NextContinuationToken>"
        }
        return document(
            "<ListBucketResult><Name>\(bucket)</Name><Prefix>\(encoded(prefix))</Prefix>"
                + "<EncodingType>url</EncodingType><KeyCount>\(entries.count)</KeyCount>"
                + "<IsTruncated>\(next != nil)</IsTruncated>" + (token ?? "") + entries.joined()
                + "</ListBucketResult>"
        )
    }

    private static func uploads(
        _ address: MemoryAddress,
        _ state: borrowing State
    ) -> MemoryTransport.Answer {
        let prefix = address.key("prefix") ?? ObjectKey([])
        let found = state.uploads.filter { $0.value.key.hasPrefix(prefix) }
            .sorted { ($0.value.key, $0.key) < ($1.value.key, $1.key) }
            .map { id, upload in
                "<Upload><Key>\(encoded(upload.key))</Key><UploadId>\(id)</UploadId><Initiated>"
                    + extended(upload.begun) + "</Initiated></Upload>"
            }
        return document(
            "<ListMultipartUploadsResult><EncodingType>url</EncodingType><Bucket>\(bucket)"
                + "</Bucket><IsTruncated>false</IsTruncated>" + found.joined()
                + "</ListMultipartUploadsResult>"
        )
    }

    static func encoded(_ key: ObjectKey) -> String {
        percentEncode(key.bytes, keepsSlash: false)
    }

    static func extended(_ time: Timestamp) -> String {
        CivilTime(time).extendedText(milliseconds: 0)
    }
}
