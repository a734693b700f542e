internal import CLibrary

/// Access keys from a file of the server's user: JSON, or INI with one key for each section.
///
/// Names are compared without case, `-` and `_`, as the service's own tools write them:
/// `accessKeyID`, `access-key-id`, `access_key_id`; likewise the secret and the token.
package enum CredentialsFile {
    package static func load(_ path: String) throws -> [ServerCredentials] {
        try parse(try readWholeFile(path))
    }

    package static func parse(_ bytes: [UInt8]) throws(ServerFailure) -> [ServerCredentials] {
        var sections: [[String: String]] = []
        if let document = JSONValue.parse(bytes) {
            guard let objects = document.array ?? document.object.map({ [.object($0)] }) else {
                throw .invalidCredentials("JSON must be an object or an array of objects")
            }
            sections = objects.map { object in
                Dictionary(
                    (object.object ?? [:]).compactMap { name, value in
                        value.string.map { (normalized(name), $0) }
                    },
                    uniquingKeysWith: { _, last in last }
                )
            }
        } else {
            sections = parseINI(String(decoding: bytes, as: UTF8.self))
        }
        var result: [ServerCredentials] = []
        for section in sections {
            guard let id = section["accesskeyid"] ?? section["id"],
                let secret = section["accesskeysecret"] ?? section["secret"]
            else { throw .invalidCredentials("a section has no access key ID or no secret") }
            let token = section["securitytoken"] ?? section["ststoken"] ?? section["token"]
            result.append(
                ServerCredentials(
                    accessKeyID: id,
                    secret: secret,
                    securityToken: token?.isEmpty == true ? nil : token
                )
            )
        }
        guard !result.isEmpty else { throw .invalidCredentials("it has no access key") }
        return result
    }

    private static func parseINI(_ text: String) -> [[String: String]] {
        var sections: [[String: String]] = []
        var current: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("[") {
                if !current.isEmpty { sections.append(current) }
                current = [:]
                continue
            }
            let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            current[normalized(trimmed(pair[0]))] = trimmed(pair[1])
        }
        if !current.isEmpty { sections.append(current) }
        return sections
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" && $0 != "\r" }) else {
            return ""
        }
        return String(start[...last])
    }

    private static func normalized(_ name: String) -> String {
        name.lowercased().filter { $0 != "-" && $0 != "_" }
    }
}

/// At most 16 MiB.
package func readWholeFile(_ path: String) throws -> [UInt8] {
    let descriptor = openForReading(path)
    guard descriptor >= 0 else {
        throw ServerFailure.file(path: path, call: "open", code: errno)
    }
    defer { close(descriptor) }
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while result.count <= 16 << 20 {
        let count = unsafe read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else {
            throw ServerFailure.file(path: path, call: "read", code: errno)
        }
        if count == 0 { return result }
        result.append(contentsOf: buffer[..<count])
    }
    throw ServerFailure.file(path: path, call: "read", code: EFBIG)
}
