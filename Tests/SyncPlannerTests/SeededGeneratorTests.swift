import SyncTestSupport
import Testing

@Suite("Seeded numbers")
struct SeededGeneratorTests {
    private func numbers(_ seed: UInt64) -> [UInt64] {
        var generator = SeededGenerator(seed: seed)
        return (0..<50).map { _ in generator.next() }
    }

    @Test func `neighbouring seeds have no number in common`() {
        let all = (0..<200).flatMap { numbers($0) }
        #expect(Set(all).count == all.count)
        #expect(numbers(7) == numbers(7))
    }
}
