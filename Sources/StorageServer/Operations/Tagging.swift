extension OperationContext {
    func getObjectTagging() throws -> Answer {
        let object = try taggedObject { _, _ in }
        var xml = document("Tagging")
        xml.group("TagSet") { xml in
            for pair in (object.tagging ?? "").split(separator: "&") {
                let equals = pair.firstIndex(of: "=") ?? pair.endIndex
                xml.group("Tag") { xml in
                    let value = pair[equals...].dropFirst()
                    xml.element("Key", percentDecoded(pair[..<equals].utf8, plusIsSpace: true))
                    xml.element("Value", percentDecoded(value.utf8, plusIsSpace: true))
                }
            }
        }
        return .xml(xml)
    }

    func putObjectTagging() throws -> Answer {
        try checkContentMD5()
        let document = try bodyDocument(ec: "0016-00000701")
        let tags = document.first("TagSet")?.all("Tag") ?? []
        guard tags.count <= 10 else {
            throw ServiceError(400, "InvalidTag", "An object has at most 10 tags.")
        }
        let text = tags.map { tag in
            percentEncoded(tag.first("Key")?.bytes ?? [], keepingSlash: false) + "="
                + percentEncoded(tag.first("Value")?.bytes ?? [], keepingSlash: false)
        }.joined(separator: "&")
        _ = try taggedObject { transaction, object in
            try transaction.setTagging(text.isEmpty ? nil : text, of: object)
        }
        return Answer(200)
    }

    func deleteObjectTagging() throws -> Answer {
        _ = try taggedObject { transaction, object in
            try transaction.setTagging(nil, of: object)
        }
        return Answer(204)
    }

    private func taggedObject(
        _ change: (Transaction, ObjectRecord) throws -> Void
    ) throws -> ObjectRecord {
        try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            let version = request.parameter("versionId")
            let object = try existing(transaction, bucket, key, version: version)
            try change(transaction, object)
            return object
        }
    }
}
