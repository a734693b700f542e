internal import SyncModel

extension OperationContext {
    func listObjectVersions() throws -> Answer {
        let query = try ListingQuery(self)
        let keyMarker = parameterBytes("key-marker")
        let versionMarker = request.parameter("version-id-marker") ?? ""
        let entries = try core.metadata.withDatabase { transaction in
            _ = try bucket(transaction)
            return try versions(transaction, query, after: keyMarker, version: versionMarker)
        }
        var xml = document("ListVersionsResult")
        xml.element("Name", bucketName)
        xml.element("Prefix", encodedForXML(query.prefix))
        xml.element("KeyMarker", encodedForXML(keyMarker))
        xml.element("VersionIdMarker", versionMarker)
        xml.element("MaxKeys", String(query.limit))
        optionalElement("Delimiter", encodedForXML(query.delimiter), in: &xml)
        if wantsEncodedKeys { xml.element("EncodingType", "url") }
        xml.element("IsTruncated", entries.isTruncated ? "true" : "false")
        if entries.isTruncated { appendMarkers(entries, to: &xml) }
        for object in entries.items {
            xml.group(object.isMarker ? "DeleteMarker" : "Version") { xml in
                xml.element("Key", encodedForXML(object.key.bytes))
                xml.element("VersionId", object.versionID)
                xml.element("IsLatest", object.isLatest ? "true" : "false")
                if object.isMarker {
                    xml.element("LastModified", xmlTime(object.modifiedMilliseconds))
                } else {
                    describe(object, in: &xml)
                }
                xml.group("Owner") { xml in owner(&xml) }
            }
        }
        for prefix in entries.commonPrefixes {
            xml.group("CommonPrefixes") { $0.element("Prefix", encodedForXML(prefix)) }
        }
        return .xml(xml)
    }

    /// The last key or common prefix of the page, whichever is later.
    private func appendMarkers(_ entries: GroupedEntries<ObjectRecord>, to xml: inout XMLWriter) {
        let object = entries.items.last
        let key = object?.key.bytes ?? []
        if let prefix = entries.commonPrefixes.last, object == nil || bytesPrecede(key, prefix) {
            xml.element("NextKeyMarker", encodedForXML(prefix))
            xml.element("NextVersionIdMarker", "")
        } else {
            xml.element("NextKeyMarker", encodedForXML(key))
            xml.element("NextVersionIdMarker", object?.versionID ?? "")
        }
    }

    private func versions(
        _ transaction: Transaction,
        _ query: ListingQuery,
        after marker: [UInt8],
        version: String
    ) throws -> GroupedEntries<ObjectRecord> {
        var entries = GroupedEntries<ObjectRecord>(
            prefix: query.prefix,
            delimiter: query.delimiter,
            limit: query.limit
        )
        guard query.limit > 0 else { return entries }
        var lower = marker
        var lastID = Int64.max
        if version.isEmpty, !marker.isEmpty {
            let group = commonPrefix(of: marker, prefix: query.prefix, delimiter: query.delimiter)
            lower = group == marker ? successor(of: marker) : marker + [0]
        } else if !version.isEmpty {
            let last = try transaction.object(bucketName, ObjectKey(marker), version: version)
            lastID = last?.id ?? Int64.max
        }
        if bytesPrecede(lower, query.prefix) { lower = query.prefix }
        var position = (key: lower, belowID: version.isEmpty ? Int64.max : lastID)
        while true {
            let rows = try transaction.versions(
                bucketName,
                from: position.key,
                belowID: position.belowID,
                limit: query.limit + 1
            )
            for row in rows {
                guard row.key.bytes.starts(with: query.prefix),
                    entries.add(row, key: row.key.bytes)
                else { return entries }
                position = (row.key.bytes, row.id)
            }
            if rows.count <= query.limit { return entries }
        }
    }
}
