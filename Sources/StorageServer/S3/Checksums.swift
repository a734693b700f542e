/// The checksums that S3 keeps with objects: oss-protocol 4.4.
enum ChecksumAlgorithm: String, Sendable, CaseIterable {
    case crc32
    case crc32c
    case crc64nvme
    case sha1
    case sha256

    init?(name: String) {
        self.init(rawValue: name.lowercased())
    }

    var headerName: String { "x-amz-checksum-" + rawValue }
    var elementName: String { "Checksum" + rawValue.uppercased() }

    var crc: CRCParameters? {
        switch self {
        case .crc32: CRCParameters(width: 32, polynomial: 0xEDB8_8320)
        case .crc32c: CRCParameters(width: 32, polynomial: 0x82F6_3B78)
        case .crc64nvme: CRCParameters(width: 64, polynomial: 0x9A6C_9329_AC4B_C9B5)
        case .sha1, .sha256: nil
        }
    }

    /// Bytes of a value.
    var length: Int {
        switch self {
        case .crc32, .crc32c: 4
        case .crc64nvme: 8
        case .sha1: 20
        case .sha256: 32
        }
    }
}

/// A checksum of the bytes of an object or part, in base64 as the wire has it.
struct Checksum: Sendable, Hashable {
    let algorithm: ChecksumAlgorithm
    let value: String

    /// Of a text such as `crc32:AAAAAA==`.
    init?(storedText: String) {
        let pair = storedText.split(separator: ":", maxSplits: 1).map(String.init)
        guard pair.count == 2, let algorithm = ChecksumAlgorithm(rawValue: pair[0]) else {
            return nil
        }
        self.init(algorithm: algorithm, value: pair[1])
    }

    init(algorithm: ChecksumAlgorithm, value: String) {
        self.algorithm = algorithm
        self.value = value
    }

    var storedText: String { algorithm.rawValue + ":" + value }

    /// Headers of an answer, or of a stored object.
    func headers(type: String) -> [(name: String, value: String)] {
        [(algorithm.headerName, value), ("x-amz-checksum-type", type)]
    }
}

/// A checksum that grows with the bytes of a body.
final class RunningChecksum {
    private enum State {
        case digest(RunningDigest)
        case crc(RunningCRC)
    }

    let algorithm: ChecksumAlgorithm
    private var state: State

    init(_ algorithm: ChecksumAlgorithm) {
        self.algorithm = algorithm
        state =
            if let crc = algorithm.crc {
                .crc(RunningCRC(crc))
            } else {
                .digest(RunningDigest(algorithm == .sha1 ? .sha1 : .sha256))
            }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .digest(let digest): unsafe digest.update(bytes)
        case .crc(var crc):
            unsafe crc.update(bytes)
            state = .crc(crc)
        }
    }

    /// Nothing may be added afterwards.
    func finish() -> Checksum {
        let bytes =
            switch state {
            case .digest(let digest): digest.finish()
            case .crc(let crc): crc.parameters.bytes(crc.value)
            }
        return Checksum(algorithm: algorithm, value: Base64.encode(bytes))
    }
}

extension Checksum {
    /// The checksum of an object from those of its parts, in order; nil if a part has none of the
    /// kind, or the kind can't be combined.
    static func ofWhole(
        _ algorithm: ChecksumAlgorithm,
        isComposite: Bool,
        parts: [(checksum: Checksum?, size: Int64)]
    ) -> Checksum? {
        var values: [[UInt8]] = []
        for part in parts {
            guard let checksum = part.checksum, checksum.algorithm == algorithm,
                let bytes = Base64.decode(checksum.value)
            else { return nil }
            values.append(bytes)
        }
        if isComposite {
            let running = RunningChecksum(algorithm)
            unsafe values.flatMap { $0 }.withUnsafeBytes { unsafe running.update($0) }
            let text = running.finish().value + "-\(parts.count)"
            return Checksum(algorithm: algorithm, value: text)
        }
        guard let crc = algorithm.crc else { return nil }
        var whole: UInt64 = 0
        for (bytes, part) in zip(values, parts) {
            let next = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            whole = crc.combine(whole, next, length: part.size)
        }
        return Checksum(algorithm: algorithm, value: Base64.encode(crc.bytes(whole)))
    }
}
