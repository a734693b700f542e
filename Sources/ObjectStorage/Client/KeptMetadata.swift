internal import SyncModel

/// What other tools put on an object beside its content stays when a new version takes its place,
/// and when it is copied under another name.
extension StorageDialect {
    /// The headers of HTTP itself that are stored with an object, but for its type.
    package static let contentHeaders = [
        "cache-control", "content-disposition", "content-encoding", "content-language", "expires",
    ]

    /// Metadata that say something of one content only, or of the upload that made it.
    private static let metadataOfContent: Set<String> = [
        tokenMetadataName, checksumMetadataName, encryptionMetadataName, "mtime", "mode", "md5",
        "md5chksum", "sha1",
        "sha256", "s3cmd-attrs",
    ]

    /// The longest value of one header, in bytes; user metadata have a limit of all together.
    private static let longestValue = 4 << 10

    /// Adds what `metadata` has and `headers` do not say otherwise; the type is taken over if
    /// `keepsType`.
    ///
    /// False if something had to be left out, which no request can carry or the store would not
    /// take.
    func keep(
        _ metadata: ObjectMetadata,
        in headers: inout [(String, String)],
        keepsType: Bool
    ) -> Bool {
        var isWhole = true
        func isTaken(_ value: String) -> Bool {
            let isSendable =
                !value.isEmpty && value.utf8.count <= Self.longestValue
                && value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
            if !isSendable, !value.isEmpty { isWhole = false }
            return isSendable
        }
        if keepsType, let type = metadata.contentType, isTaken(type) {
            headers.removeAll { $0.0 == "content-type" }
            headers.append(("content-type", type))
        }
        for name in Self.contentHeaders {
            guard let value = metadata.contentHeaders[name], isTaken(value),
                !headers.contains(where: { $0.0 == name })
            else { continue }
            headers.append((name, value))
        }
        let classHeader = header("storage-class")
        if keepsClass(metadata.storageClass), !headers.contains(where: { $0.0 == classHeader }) {
            headers.append((classHeader, metadata.storageClass.name))
        }
        let prefix = header("meta-")
        let present = Set(headers.map(\.0))
        var size = headers.filter { $0.0.hasPrefix(prefix) }.reduce(0) { $0 + room($1) }
        for (name, value) in metadata.userMetadata.sorted(by: { $0.key < $1.key }) {
            let field = (prefix + name, value)
            guard !Self.metadataOfContent.contains(name), !present.contains(field.0) else {
                continue
            }
            guard isTaken(value) else { continue }
            guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
                size + room(field) <= maximumMetadataSize
            else {
                isWhole = false
                continue
            }
            size += room(field)
            headers.append(field)
        }
        return isWhole
    }

    /// What a field takes of ``maximumMetadataSize``.
    private func room(_ field: (String, String)) -> Int {
        // S3 does not count the prefix; nobody says that of OSS.
        let uncounted = computesChecksum ? 0 : header("meta-").utf8.count
        return field.0.utf8.count - uncounted + field.1.utf8.count
    }

    /// True for a class that a write may name; some stores show the names of places where they
    /// keep old objects.
    private func keepsClass(_ found: StorageClass) -> Bool { writableClasses.contains(found.name) }
}

extension ObjectMetadata {
    /// The stored headers of HTTP in an answer.
    static func contentHeaders(_ head: ResponseHead, _ dialect: StorageDialect) -> [String: String]
    {
        var found: [String: String] = [:]
        for name in StorageDialect.contentHeaders {
            guard let value = head[name], !value.isEmpty else { continue }
            found[name] = value
        }
        // How a body was sent is no property of the object.
        if let codings = found["content-encoding"] {
            let stored = codings.split(separator: ",")
                .map { String($0.drop { $0 == " " }) }
                .filter { !$0.lowercased().hasPrefix("aws-chunked") }
            found["content-encoding"] = stored.isEmpty ? nil : stored.joined(separator: ",")
        }
        // OSS adds this to answers of its own domains.
        if head[dialect.headerPrefix, "force-download"] != nil,
            found["content-disposition"]?.lowercased() == "attachment"
        {
            found["content-disposition"] = nil
        }
        return found
    }
}
