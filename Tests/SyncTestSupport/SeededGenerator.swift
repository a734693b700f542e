/// Random numbers of which the seed is the whole input (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Neighbouring seeds have nothing in common.
    package init(seed: UInt64) {
        state = Self.mix(seed &+ Self.step)
    }

    /// For seeds that are random themselves, as those in the histories of the simulator: the
    /// numbers of one seed are those of its neighbour but for the first.
    package init(randomSeed seed: UInt64) {
        state = seed &* Self.step &+ 0x1234_5678_9ABC_DEF1
    }

    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mix(state)
    }

    /// A number from 0 to `bound - 1`.
    package mutating func below(_ bound: Int) -> Int {
        Int(next() % UInt64(bound))
    }

    /// True once in `count` times.
    package mutating func oneIn(_ count: Int) -> Bool {
        below(count) == 0
    }

    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}
