/// MD5, SHA-1 and SHA-256 in Swift alone, for platforms that offer no library of them.
///
/// Of the size that is needed to sign requests and to check parts; libcrypto and CryptoKit are
/// several times as fast.
struct PortableDigest {
    private let algorithm: DigestAlgorithm
    private var state: [UInt32]
    private var block: [UInt8] = []
    private var length: UInt64 = 0

    init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        state = Self.start(of: algorithm)
        block.reserveCapacity(Self.blockSize)
    }

    static let blockSize = 64

    private static func start(of algorithm: DigestAlgorithm) -> [UInt32] {
        switch algorithm {
        case .md5: [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        case .sha1: [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        case .sha256:
            [
                0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C,
                0x1F83_D9AB, 0x5BE0_CD19,
            ]
        }
    }

    /// Continues with `bytes`.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length += UInt64(bytes.count)
        var offset = 0
        if !block.isEmpty {
            offset = min(Self.blockSize - block.count, bytes.count)
            unsafe block.append(contentsOf: bytes[..<offset])
            guard block.count == Self.blockSize else { return }
            let full = block
            unsafe full.withUnsafeBytes { unsafe compress($0) }
            block.removeAll(keepingCapacity: true)
        }
        while bytes.count - offset >= Self.blockSize {
            unsafe compress(
                UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Self.blockSize])
            )
            offset += Self.blockSize
        }
        unsafe block.append(contentsOf: bytes[offset...])
    }

    /// The digest of all bytes since the start; starts over.
    mutating func finish() -> [UInt8] {
        let isLittleEndian = algorithm == .md5
        let bits = length * 8
        var end: [UInt8] = [0x80]
        while (block.count + end.count) % Self.blockSize != 56 { end.append(0) }
        for place in 0..<8 {
            let shift = UInt64(isLittleEndian ? place : 7 - place) * 8
            end.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
        unsafe end.withUnsafeBytes { unsafe update($0) }
        let digest = state.flatMap { word in
            (0..<4).map { place in
                UInt8(truncatingIfNeeded: word >> UInt32((isLittleEndian ? place : 3 - place) * 8))
            }
        }
        self = PortableDigest(algorithm)
        return digest
    }

    private mutating func compress(_ block: UnsafeRawBufferPointer) {
        switch algorithm {
        case .md5: unsafe compressMD5(block)
        case .sha1: unsafe compressSHA1(block)
        case .sha256: unsafe compressSHA256(block)
        }
    }
}

extension PortableDigest {
    static func hash(_ bytes: [UInt8], with algorithm: DigestAlgorithm) -> [UInt8] {
        var digest = PortableDigest(algorithm)
        unsafe bytes.withUnsafeBytes { unsafe digest.update($0) }
        return digest.finish()
    }

    /// HMAC, RFC 2104.
    static func code(
        of message: [UInt8],
        key: [UInt8],
        with algorithm: DigestAlgorithm
    ) -> [UInt8] {
        var key = key.count > blockSize ? hash(key, with: algorithm) : key
        key += [UInt8](repeating: 0, count: blockSize - key.count)
        let inner = hash(key.map { $0 ^ 0x36 } + message, with: algorithm)
        return hash(key.map { $0 ^ 0x5C } + inner, with: algorithm)
    }
}

// MARK: - The three functions

private func rotated(_ word: UInt32, left count: UInt32) -> UInt32 {
    word << count | word >> (32 - count)
}

private func rotated(_ word: UInt32, right count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
}

extension PortableDigest {
    /// RFC 1321.
    private mutating func compressMD5(_ block: UnsafeRawBufferPointer) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let mixed: UInt32
            let place: Int
            switch step >> 4 {
            case 0: (mixed, place) = (b & c | ~b & d, step)
            case 1: (mixed, place) = (d & b | ~d & c, (5 * step + 1) & 15)
            case 2: (mixed, place) = (b ^ c ^ d, (3 * step + 5) & 15)
            default: (mixed, place) = (c ^ (b | ~d), (7 * step) & 15)
            }
            let word = unsafe block.loadUnaligned(fromByteOffset: place * 4, as: UInt32.self)
            let sum = a &+ mixed &+ Self.sines[step] &+ UInt32(littleEndian: word)
            let turned = rotated(sum, left: Self.turns[(step >> 4) * 4 + step % 4])
            (a, d, c, b) = (d, c, b, b &+ turned)
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
    }

    /// RFC 3174.
    private mutating func compressSHA1(_ block: UnsafeRawBufferPointer) {
        var words = unsafe Self.bigEndianWords(block, room: 80)
        for step in 16..<80 {
            let word = words[step - 3] ^ words[step - 8] ^ words[step - 14] ^ words[step - 16]
            words[step] = rotated(word, left: 1)
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for step in 0..<80 {
            let mixed: UInt32
            let constant: UInt32
            switch step / 20 {
            case 0: (mixed, constant) = (b & c | ~b & d, 0x5A82_7999)
            case 1: (mixed, constant) = (b ^ c ^ d, 0x6ED9_EBA1)
            case 2: (mixed, constant) = (b & c | b & d | c & d, 0x8F1B_BCDC)
            default: (mixed, constant) = (b ^ c ^ d, 0xCA62_C1D6)
            }
            let sum = rotated(a, left: 5) &+ mixed &+ e &+ constant &+ words[step]
            (a, b, c, d, e) = (sum, a, rotated(b, left: 30), c, d)
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
    }

    /// FIPS 180-4, section 6.2.2.
    private mutating func compressSHA256(_ block: UnsafeRawBufferPointer) {
        var words = unsafe Self.bigEndianWords(block, room: 64)
        for step in 16..<64 {
            let (near, far) = (words[step - 2], words[step - 15])
            let first = rotated(far, right: 7) ^ rotated(far, right: 18) ^ far >> 3
            let second = rotated(near, right: 17) ^ rotated(near, right: 19) ^ near >> 10
            words[step] = words[step - 16] &+ first &+ words[step - 7] &+ second
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for step in 0..<64 {
            let turnedE = rotated(e, right: 6) ^ rotated(e, right: 11) ^ rotated(e, right: 25)
            let sum = h &+ turnedE &+ (e & f ^ ~e & g) &+ Self.roots[step] &+ words[step]
            let turnedA = rotated(a, right: 2) ^ rotated(a, right: 13) ^ rotated(a, right: 22)
            let most = turnedA &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ sum, c, b, a, sum &+ most)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    private static func bigEndianWords(_ block: UnsafeRawBufferPointer, room: Int) -> [UInt32] {
        var words = [UInt32](repeating: 0, count: room)
        for index in 0..<16 {
            let word = unsafe block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
            words[index] = UInt32(bigEndian: word)
        }
        return words
    }

    /// How far MD5 turns, four of each round.
    private static let turns: [UInt32] = [
        7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21,
    ]

    /// The sines of 1 to 64.
    private static let sines: [UInt32] = [
        0xD76A_A478, 0xE8C7_B756, 0x2420_70DB, 0xC1BD_CEEE, 0xF57C_0FAF, 0x4787_C62A,
        0xA830_4613, 0xFD46_9501, 0x6980_98D8, 0x8B44_F7AF, 0xFFFF_5BB1, 0x895C_D7BE,
        0x6B90_1122, 0xFD98_7193, 0xA679_438E, 0x49B4_0821, 0xF61E_2562, 0xC040_B340,
        0x265E_5A51, 0xE9B6_C7AA, 0xD62F_105D, 0x0244_1453, 0xD8A1_E681, 0xE7D3_FBC8,
        0x21E1_CDE6, 0xC337_07D6, 0xF4D5_0D87, 0x455A_14ED, 0xA9E3_E905, 0xFCEF_A3F8,
        0x676F_02D9, 0x8D2A_4C8A, 0xFFFA_3942, 0x8771_F681, 0x6D9D_6122, 0xFDE5_380C,
        0xA4BE_EA44, 0x4BDE_CFA9, 0xF6BB_4B60, 0xBEBF_BC70, 0x289B_7EC6, 0xEAA1_27FA,
        0xD4EF_3085, 0x0488_1D05, 0xD9D4_D039, 0xE6DB_99E5, 0x1FA2_7CF8, 0xC4AC_5665,
        0xF429_2244, 0x432A_FF97, 0xAB94_23A7, 0xFC93_A039, 0x655B_59C3, 0x8F0C_CC92,
        0xFFEF_F47D, 0x8584_5DD1, 0x6FA8_7E4F, 0xFE2C_E6E0, 0xA301_4314, 0x4E08_11A1,
        0xF753_7E82, 0xBD3A_F235, 0x2AD7_D2BB, 0xEB86_D391,
    ]

    /// The cube roots of the first 64 primes, behind the point.
    private static let roots: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1,
        0x923F_82A4, 0xAB1C_5ED5, 0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3,
        0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174, 0xE49B_69C1, 0xEFBE_4786,
        0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147,
        0x06CA_6351, 0x1429_2967, 0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13,
        0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85, 0xA2BF_E8A1, 0xA81A_664B,
        0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A,
        0x5B9C_CA4F, 0x682E_6FF3, 0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208,
        0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]
}
