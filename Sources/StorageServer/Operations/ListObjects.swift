internal import SyncModel

extension OperationContext {
    func listObjectsV2() throws -> Answer {
        let query = try ListingQuery(self)
        let startAfter = parameterBytes("start-after")
        let lower: [UInt8]
        if let token = request.parameter("continuation-token"), !token.isEmpty {
            guard let position = ListingToken.position(in: token, bucket: bucketName) else {
                throw ServiceError.invalidArgument(
                    "The continuation token is invalid.",
                    name: "continuation-token",
                    value: token
                )
            }
            lower = position
        } else {
            lower = startAfter.isEmpty ? [] : startAfter + [0]
        }
        let page = try page(query, from: lower)
        var xml = document("ListBucketResult")
        begin(&xml, query, page)
        optionalElement("StartAfter", encodedForXML(startAfter), in: &xml)
        if let token = request.parameter("continuation-token") {
            xml.element("ContinuationToken", encodedToken(token))
        }
        if let next = page.next {
            let token = ListingToken.make(position: next, bucket: bucketName)
            xml.element("NextContinuationToken", encodedToken(token))
        }
        append(page, to: &xml, showsOwner: request.parameter("fetch-owner") == "true")
        xml.element("KeyCount", String(page.entries.count))
        return .xml(xml)
    }

    func listObjects() throws -> Answer {
        let query = try ListingQuery(self)
        let marker = parameterBytes("marker")
        var lower = marker.isEmpty ? [] : marker + [0]
        // A marker that is a common prefix stands for all that begins with it.
        if commonPrefix(of: marker, prefix: query.prefix, delimiter: query.delimiter) == marker {
            lower = successor(of: marker)
        }
        let page = try page(query, from: lower)
        var xml = document("ListBucketResult")
        begin(&xml, query, page)
        xml.element("Marker", encodedForXML(marker))
        // S3 leaves it to the client to take the last key.
        let namesNext = dialect == .oss || !query.delimiter.isEmpty
        if namesNext, page.isTruncated, let last = page.entries.last {
            xml.element("NextMarker", encodedForXML(last.key))
        }
        append(page, to: &xml, showsOwner: true)
        return .xml(xml)
    }

    func parameterBytes(_ name: String) -> [UInt8] {
        [UInt8]((request.parameter(name) ?? "").utf8)
    }

    private func page(_ query: ListingQuery, from lower: [UInt8]) throws -> ListingPage {
        var page = try core.metadata.withDatabase { transaction in
            _ = try bucket(transaction)
            return try ListingPage(
                transaction,
                bucket: bucketName,
                from: lower,
                prefix: query.prefix,
                delimiter: query.delimiter,
                limit: query.limit
            )
        }
        if let fault = faults.listing { page.apply(fault, prefix: query.prefix) }
        return page
    }

    private func begin(_ xml: inout XMLWriter, _ query: ListingQuery, _ page: ListingPage) {
        xml.element("Name", bucketName)
        xml.element("Prefix", encodedForXML(query.prefix))
        xml.element("MaxKeys", String(query.limit))
        optionalElement("Delimiter", encodedForXML(query.delimiter), in: &xml)
        if wantsEncodedKeys { xml.element("EncodingType", "url") }
        xml.element("IsTruncated", page.isTruncated ? "true" : "false")
    }

    private func append(_ page: ListingPage, to xml: inout XMLWriter, showsOwner: Bool) {
        for entry in page.entries {
            switch entry {
            case .object(let object):
                xml.group("Contents") { xml in
                    xml.element("Key", encodedForXML(object.key.bytes))
                    describe(object, in: &xml)
                    if showsOwner { xml.group("Owner") { xml in owner(&xml) } }
                }
            case .prefix(let prefix):
                xml.group("CommonPrefixes") { $0.element("Prefix", encodedForXML(prefix)) }
            }
        }
    }

    func describe(_ object: ObjectRecord, in xml: inout XMLWriter) {
        xml.element("LastModified", xmlTime(object.modifiedMilliseconds))
        xml.element("ETag", quoted(object.content.etag))
        guard dialect == .oss else { return describeInS3(object, in: &xml) }
        xml.element("Type", object.kind.rawValue)
        xml.element("Size", String(object.content.size))
        xml.element("StorageClass", object.storageClass.name)
        if let restore = object.restoreText { xml.element("RestoreInfo", restore) }
    }
}

/// The parameters that all listings of objects have.
struct ListingQuery {
    let prefix: [UInt8]
    let delimiter: [UInt8]
    let limit: Int

    init(_ context: OperationContext) throws {
        try context.checkEncodingType()
        prefix = context.parameterBytes("prefix")
        guard prefix.count <= context.dialect.maximumKeyLength else {
            throw ServiceError.invalidArgument("The prefix is too long.", name: "prefix")
        }
        delimiter = context.parameterBytes("delimiter")
        let isS3 = context.dialect == .s3
        limit = try context.number(
            "max-keys",
            default: context.dialect.defaultPageSize,
            in: (isS3 ? 0 : 1)...1_000
        )
    }
}

/// A position in a listing as an opaque text, with a check that it came from here.
enum ListingToken {
    static func make(position: [UInt8], bucket: String) -> String {
        Base64.encode(check(position, bucket) + position)
    }

    static func position(in token: String, bucket: String) -> [UInt8]? {
        guard let bytes = Base64.decode(token), bytes.count >= 8 else { return nil }
        let position = Array(bytes[8...])
        return Array(bytes[..<8]) == check(position, bucket) ? position : nil
    }

    private static func check(_ position: [UInt8], _ bucket: String) -> [UInt8] {
        let digest = Digests.hmacSHA256(key: [UInt8]("listing \(bucket)".utf8), position)
        return Array(digest[..<8])
    }
}
