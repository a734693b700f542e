internal import SyncModel

extension OperationContext {
    private static let attributeNames: Set<String> = [
        "ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize",
    ]

    /// What is known of an object without its content.
    func getObjectAttributes() throws -> Answer {
        let wanted = try wantedAttributes()
        let (object, bucket) = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            let version = request.parameter("versionId")
            return (try existing(transaction, bucket, key, version: version), bucket)
        }
        try checkConditions(etag: object.content.etag, modified: object.modified)
        var xml = document("GetObjectAttributesResponse")
        if wanted.contains("ETag") { xml.element("ETag", dialect.etag(object.content.etag)) }
        if wanted.contains("Checksum"), !object.checksumHeaders.isEmpty {
            xml.group("Checksum") { xml in
                for header in object.checksumHeaders {
                    xml.element(Self.checksumElement(header.name), header.value)
                }
            }
        }
        if wanted.contains("ObjectParts"), let parts = ObjectParts(object) {
            let limit = try partLimit("x-amz-max-parts", default: 1_000)
            let marker = try partLimit("x-amz-part-number-marker", default: 0)
            xml.group("ObjectParts") { xml in
                Self.write(parts, after: marker, limit: limit, to: &xml)
            }
        }
        if wanted.contains("StorageClass") {
            xml.element("StorageClass", StorageClassNames.shown(object.storageClass.name, in: .s3))
        }
        if wanted.contains("ObjectSize") {
            xml.element("ObjectSize", String(object.content.size))
        }
        var headers = [("Last-Modified", CivilTime(object.modified).httpText)]
        if bucket.hasVersions { headers.append(("x-oss-version-id", object.versionID)) }
        return .xml(xml, headers: headers)
    }

    private func wantedAttributes() throws(ServiceError) -> Set<String> {
        let values = request.headers.filter { $0.name == "x-amz-object-attributes" }
        let names = values.map(\.value).joined(separator: ",").split(separator: ",")
            .map { name in String(name.filter { $0 != " " }) }
        guard !names.isEmpty, names.allSatisfy(Self.attributeNames.contains) else {
            throw ServiceError.invalidArgument(
                "Invalid attribute name specified.",
                name: "x-amz-object-attributes",
                value: names.joined(separator: ",")
            )
        }
        return Set(names)
    }

    private func partLimit(_ name: String, default standard: Int) throws(ServiceError) -> Int {
        guard let text = request.header(name) else { return standard }
        guard let value = parseDecimal(text.utf8) else {
            throw ServiceError.invalidArgument("It must be a number.", name: name, value: text)
        }
        return Int(min(value, 10_000))
    }

    private static func write(
        _ list: ObjectParts,
        after marker: Int,
        limit: Int,
        to xml: inout XMLWriter
    ) {
        xml.element("PartsCount", String(list.parts.count))
        // S3 describes only parts that came with a checksum.
        guard list.parts.allSatisfy({ $0.checksum != nil }) else { return }
        let rest = list.parts.filter { $0.number > marker }
        let page = rest.prefix(min(limit, 1_000))
        xml.element("PartNumberMarker", String(marker))
        xml.element("NextPartNumberMarker", String(page.last?.number ?? marker))
        xml.element("MaxParts", String(min(limit, 1_000)))
        xml.element("IsTruncated", String(page.count < rest.count))
        for part in page {
            xml.group("Part") { xml in
                xml.element("PartNumber", String(part.number))
                xml.element("Size", String(part.range.length))
                if let checksum = part.checksum {
                    xml.element(checksum.algorithm.elementName, checksum.value)
                }
            }
        }
    }

    /// The element of a document for a header of a stored checksum.
    static func checksumElement(_ header: String) -> String {
        let name = header.dropFirst("x-amz-checksum-".utf8.count)
        return ChecksumAlgorithm(name: String(name))?.elementName ?? "ChecksumType"
    }
}
