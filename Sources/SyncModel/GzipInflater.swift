#if SystemLibraries
internal import CISAL

/// Decompresses gzip (RFC 1952) piece by piece, by ISA-L; several members after one another are one
/// text, as in a file that was written in pieces.
///
/// Safe, because the state never leaves this type and is used by its one owner only, hence the
/// unchecked conformance.
@safe package struct GzipInflater: ~Copyable, @unchecked Sendable {
    /// The most that is handed over at once.
    private static let blockSize = 256 << 10
    private static let firstMagicByte: UInt8 = 0x1F

    /// The input is not gzip, or is damaged.
    package struct Failure: Error, Sendable, Hashable {}

    private let state: UnsafeMutablePointer<inflate_state>
    /// What was read of a member's header, which may come in several pieces.
    private let header: UnsafeMutablePointer<isal_gzip_header>
    private var isInHeader = true
    private var block: [UInt8]
    private var isBetweenMembers = true
    private var hasBegun = false

    package init() {
        unsafe state = .allocate(capacity: 1)
        unsafe header = .allocate(capacity: 1)
        block = [UInt8](repeating: 0, count: Self.blockSize)
        beginMember()
    }

    deinit {
        unsafe state.deallocate()
        unsafe header.deallocate()
    }

    /// True if the input so far ends where a member does.
    package var isComplete: Bool { hasBegun && isBetweenMembers }

    private mutating func beginMember() {
        unsafe isal_inflate_init(state)
        // Of a header that it reads by itself, the library forgets the flags between two calls.
        unsafe state.pointee.crc_flag = UInt32(ISAL_GZIP_NO_HDR_VER)
        unsafe isal_gzip_header_init(header)
        isInHeader = true
    }

    /// Continues with `input` and calls `body` with what comes of it, in pieces.
    ///
    /// - Throws: `Failure`, or what `body` throws; do not continue after either.
    package mutating func inflate(
        _ input: [UInt8],
        _ body: (ArraySlice<UInt8>) throws -> Void
    ) throws {
        // The library reads the input through a pointer that it keeps between its calls.
        var offset = 0
        while true {
            if isBetweenMembers {
                guard offset < input.count else { return }
                // What follows a member must be another one: nothing is left out in silence.
                guard input[offset] == Self.firstMagicByte else { throw Failure() }
                if hasBegun { beginMember() }
                (isBetweenMembers, hasBegun) = (false, true)
            }
            let (taken, made) = try step(input, from: offset)
            offset += taken
            if made > 0 { try body(block[..<made]) }
            isBetweenMembers = unsafe state.pointee.block_state == ISAL_BLOCK_FINISH
            if !isBetweenMembers, offset == input.count, made < block.count { return }
            // A call that neither takes nor gives anything would be repeated without end.
            guard taken > 0 || made > 0 || isBetweenMembers else { throw Failure() }
        }
    }

    /// One call of the library: how much of the input it took, and how much it made.
    private mutating func step(
        _ input: [UInt8],
        from offset: Int
    ) throws(Failure) -> (taken: Int, made: Int) {
        let given = min(input.count - offset, Int(Int32.max))
        let (state, header, isInHeader) = unsafe (state, header, isInHeader)
        let code = unsafe input.withUnsafeBufferPointer { source in
            unsafe block.withUnsafeMutableBufferPointer { target in
                unsafe state.pointee.next_in = UnsafeMutablePointer(
                    mutating: source.baseAddress.map { unsafe $0 + offset }
                )
                unsafe state.pointee.avail_in = UInt32(given)
                unsafe state.pointee.next_out = target.baseAddress
                unsafe state.pointee.avail_out = UInt32(target.count)
                return unsafe isInHeader
                    ? isal_read_gzip_header(state, header) : isal_inflate(state)
            }
        }
        // The end of the input within a header is no failure.
        guard code == ISAL_DECOMP_OK || isInHeader && code == ISAL_END_INPUT else {
            throw Failure()
        }
        if code == ISAL_DECOMP_OK { self.isInHeader = false }
        return (
            given - Int(unsafe state.pointee.avail_in),
            block.count - Int(unsafe state.pointee.avail_out)
        )
    }
}
#endif
