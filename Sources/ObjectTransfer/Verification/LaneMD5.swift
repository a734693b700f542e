internal import CChecksums

/// An MD5 that is continued side by side with others, which takes little longer than one alone.
///
/// An MD5 depends on itself from step to step, so a processor computes 0.7 GB of one in a second,
/// and 2.7 GB of eight.
struct LaneMD5: Sendable {
    /// How many are continued at once.
    static let width = Int(CHECKSUMS_MD5_LANES)
    /// Fewer take no less time side by side than one after the other.
    private static let fewest = 3
    private static let blockSize = 64

    private var words: SIMD4<UInt32> = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
    /// Less than a block.
    private var rest: [UInt8] = []
    private var length: UInt64 = 0

    /// Continues with `bytes`.
    mutating func update(_ bytes: RawSpan) {
        var copy = self
        unsafe bytes.withUnsafeBytes { unsafe copy.update($0) }
        self = copy
    }

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let bytes = unsafe completeBlock(bytes)
        let blocks = bytes.count / Self.blockSize
        unsafe compress(bytes, blocks)
        unsafe rest.append(contentsOf: bytes[(blocks * Self.blockSize)...])
        length += UInt64(bytes.count)
    }

    /// Takes as many bytes as the block lacks that is begun, and returns what follows.
    private mutating func completeBlock(
        _ bytes: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        guard !rest.isEmpty else { return unsafe bytes }
        let count = min(Self.blockSize - rest.count, bytes.count)
        unsafe rest.append(contentsOf: bytes[..<count])
        length += UInt64(count)
        if rest.count == Self.blockSize {
            let block = rest
            rest.removeAll(keepingCapacity: true)
            unsafe block.withUnsafeBytes { unsafe compress($0, 1) }
        }
        return unsafe UnsafeRawBufferPointer(rebasing: bytes[count...])
    }

    private mutating func compress(_ bytes: UnsafeRawBufferPointer, _ blocks: Int) {
        guard blocks > 0, let base = bytes.baseAddress else { return }
        var state = [words[0], words[1], words[2], words[3]]
        unsafe checksums_md5(&state, base.assumingMemoryBound(to: UInt8.self), blocks)
        words = SIMD4(state)
    }

    /// The digest of all bytes.
    mutating func finish() -> [UInt8] {
        let bits = length &* 8
        let padding = (2 * Self.blockSize - 8 - rest.count - 1) % Self.blockSize
        let end =
            [0x80] + [UInt8](repeating: 0, count: padding)
            + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) }
        unsafe update(end.span.bytes)
        return (0..<16).map { UInt8(truncatingIfNeeded: words[$0 / 4] >> (8 * UInt32($0 % 4))) }
    }

    /// Continues each digest with the bytes at its place in `inputs`; there are no more of them
    /// than ``width``.
    static func update(_ digests: inout [LaneMD5], with inputs: [UnsafeRawBufferPointer]) {
        var inputs = unsafe inputs
        if digests.count >= fewest {
            for index in digests.indices {
                unsafe inputs[index] = digests[index].completeBlock(inputs[index])
            }
            let blocks = unsafe inputs.map { $0.count / blockSize }.min() ?? 0
            unsafe compress(&digests, inputs, blocks)
            for index in digests.indices {
                digests[index].length += UInt64(blocks * blockSize)
                unsafe inputs[index] = UnsafeRawBufferPointer(
                    rebasing: inputs[index][(blocks * blockSize)...]
                )
            }
        }
        for index in digests.indices { unsafe digests[index].update(inputs[index]) }
    }

    private static func compress(
        _ digests: inout [LaneMD5],
        _ inputs: [UnsafeRawBufferPointer],
        _ blocks: Int
    ) {
        guard blocks > 0, let first = unsafe inputs[0].baseAddress else { return }
        var states = [UInt32](repeating: 0, count: 4 * width)
        // A lane that nobody needs digests what the first one does.
        var bases = unsafe [UnsafePointer<UInt8>?](
            repeating: first.assumingMemoryBound(to: UInt8.self),
            count: width
        )
        for (lane, digest) in digests.enumerated() {
            unsafe bases[lane] = unsafe inputs[lane].baseAddress?.assumingMemoryBound(
                to: UInt8.self
            )
            for word in 0..<4 { states[word * width + lane] = digest.words[word] }
        }
        unsafe checksums_md5_lanes(&states, bases, blocks)
        for lane in digests.indices {
            for word in 0..<4 { digests[lane].words[word] = states[word * width + lane] }
        }
    }
}
