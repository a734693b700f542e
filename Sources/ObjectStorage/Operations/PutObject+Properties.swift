package import SyncModel

extension PutRequest {
    /// Takes over what is set, but for the user's metadata.
    package mutating func set(_ properties: ObjectProperties) {
        if let type = properties.contentType {
            contentType = type
            hasChosenType = true
        }
        if let name = properties.storageClass { storageClass = StorageClass(name: name) }
        encryption = properties.encryption
        accessControl = properties.accessControl
        tags = properties.sortedTags
        contentHeaders = properties.contentHeaders.sorted { $0.key < $1.key }
            .map { (name: $0.key.lowercased(), value: $0.value) }
    }
}

extension StorageClient {
    /// OSS takes them with the request that makes the object, S3 with the one that begins it.
    func accessControlHeaders(_ accessControl: String?) -> [(String, String)] {
        accessControl.map { [(dialect.accessControlHeader, $0)] } ?? []
    }

    /// As a query, with which all services write them.
    func tagHeaders(_ tags: [(name: String, value: String)]) -> [(String, String)] {
        guard !tags.isEmpty else { return [] }
        let pairs = tags.map { name, value in
            percentEncode(name.utf8, keepsSlash: false) + "="
                + percentEncode(value.utf8, keepsSlash: false)
        }
        return [(dialect.header("tagging"), pairs.joined(separator: "&"))]
    }

    func encryptionHeaders(
        _ encryption: ObjectProperties.Encryption?
    ) -> [(String, String)] {
        guard let encryption else { return [] }
        let names = dialect.encryptionNames
        switch encryption {
        case .aes256: return [(names.method, "AES256")]
        case .kms(let keyID):
            return [(names.method, names.keyService)] + (keyID.map { [(names.key, $0)] } ?? [])
        }
    }
}
