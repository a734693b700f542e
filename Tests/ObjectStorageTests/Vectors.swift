import FoundationEssentials

/// Reads the published test vectors, which lie beside the tests.
enum Vectors {
    static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: directory.appending(path: name)))
    }

    /// Members' names lose their underscores: `key_id` is read as `keyId`.
    static func decode<Value: Decodable>(_ type: Value.Type, from name: String) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(contentsOf: directory.appending(path: name)))
    }

    static func decodeExactly<Value: Decodable>(
        _ type: Value.Type,
        from name: String
    ) throws -> Value {
        try JSONDecoder().decode(type, from: Data(contentsOf: directory.appending(path: name)))
    }

    private static let directory = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Vectors")
}
