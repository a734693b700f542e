internal import ObjectStorage

extension Checkpoint: Codable {
    /// Of what ``encode(to:)`` writes; another number for what this code could not read.
    static let format = 1

    private enum CodingKeys: String, CodingKey {
        case format
        case state
    }

    /// Reads a checkpoint that an earlier process encoded.
    ///
    /// - Throws: `DecodingError` that says why, also for another format and for a damaged one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let format = try container.decode(Int.self, forKey: .format)
        guard format == Self.format else {
            throw DecodingError.dataCorruptedError(
                forKey: .format,
                in: container,
                debugDescription: "the checkpoint has format \(format), and this version reads "
                    + "format \(Self.format): start the download without it"
            )
        }
        let state = try container.decode(String.self, forKey: .state)
        guard let json = try? JSONText(parsing: [UInt8](state.utf8), maximumSize: 64 << 20),
            let checkpoint = Checkpoint(json: json)
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .state,
                in: container,
                debugDescription: "the checkpoint is damaged: start the download without it"
            )
        }
        self = checkpoint
    }

    /// Writes the format and an opaque text, without secrets.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.format, forKey: .format)
        try container.encode(json.text, forKey: .state)
    }
}
