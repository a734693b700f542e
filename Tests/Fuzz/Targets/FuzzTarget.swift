/// One thing that bytes of a stranger are given to, and what must hold whatever they are.
struct FuzzTarget: Sendable {
    let name: String
    /// Returns if all that must hold does; a trap is a finding as well.
    let judge: @Sendable ([UInt8]) throws(FuzzFailure) -> Void

    static let all: [FuzzTarget] = [
        FuzzTarget(name: "listing", judge: judgeListing),
        FuzzTarget(name: "error", judge: judgeError),
        FuzzTarget(name: "headers", judge: judgeHeaders),
        FuzzTarget(name: "pattern", judge: judgePattern),
        FuzzTarget(name: "percent", judge: judgePercent),
        FuzzTarget(name: "configuration", judge: judgeConfiguration),
        FuzzTarget(name: "key", judge: judgeKey),
        FuzzTarget(name: "rows", judge: judgeRows),
        FuzzTarget(name: "sealed", judge: judgeSealed),
    ]

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Something that must hold and does not.
struct FuzzFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws if `condition` does not hold.
func require(
    _ condition: Bool,
    _ what: @autoclosure () -> String
) throws(FuzzFailure) {
    guard condition else { throw FuzzFailure(what()) }
}

/// Throws if `text`, which may be shown, could command a terminal or show as another.
func requirePrintable(_ text: String, _ what: String) throws(FuzzFailure) {
    let harmful = text.unicodeScalars.first { scalar in
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
    try require(harmful == nil, "\(what) has a control character: \(text.debugDescription)")
}

/// Takes an input apart: what it holds decides what is tried.
struct InputReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    /// The next byte; 0 at the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return [UInt8](rest.prefix(count))
    }

    /// Eight bytes, the lowest first; missing ones are 0.
    mutating func number() -> Int64 {
        var value: UInt64 = 0
        for place in 0..<8 { value |= UInt64(byte()) << (8 * UInt64(place)) }
        return Int64(bitPattern: value)
    }

    mutating func remaining() -> [UInt8] {
        defer { rest = [] }
        return [UInt8](rest)
    }
}
