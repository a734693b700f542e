import Foundation
import SyncModel
import SyncTestSupport
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// Two people, one remote, and whatever they do between their syncs.
    @Suite("Syncs of two directories")
    struct SyncPropertyTests {
        private static let names = ["f", "g", "d/h", "d/i", "e/j", "k.txt"]

        /// Contents of different lengths, so that each of them is one of a kind and every change is
        /// seen.
        private struct Author {
            var generator: SeededGenerator
            var written = 0

            mutating func edit(_ fixture: MirrorFixture, _ directory: String) throws -> Set<Data> {
                var contents: Set<Data> = []
                for _ in 0..<generator.below(4) {
                    let path = directory + "/" + generator.pick(SyncPropertyTests.names)
                    switch generator.below(3) {
                    case 0 where fixture.exists(path): try fixture.remove(path)
                    case 1 where fixture.exists(path):
                        let other = directory + "/" + generator.pick(SyncPropertyTests.names)
                        guard !fixture.exists(other) else { continue }
                        try fixture.write(other, fixture.content(path) ?? Data())
                        try fixture.remove(path)
                    default:
                        written += 1
                        let content = MirrorFixture.ramp(1_000 + written, written)
                        try fixture.write(path, content)
                        contents.insert(content)
                    }
                }
                // What was overwritten or removed again before anybody saw it need not last.
                let rest = Set(try fixture.tree(directory).values)
                return contents.intersection(rest)
            }
        }

        @Test(arguments: UInt64(0)..<4)
        func `agree in the end, and lose nothing that was written`(seed: UInt64) async throws {
            let fixture = try MirrorFixture()
            var author = Author(generator: SeededGenerator(seed: seed))
            try fixture.makeDirectory("a")
            try fixture.makeDirectory("b")
            func sync(_ name: String) async throws {
                _ = try await fixture.run(name, .sync) { options in
                    options.deletesKnown = true
                    options.allowsEmpty = true
                }
            }
            for round in 0..<3 {
                var fresh: Set<Data> = []
                for name in ["a", "b"] { fresh.formUnion(try author.edit(fixture, name)) }
                // A copy that a conflict kept goes up with the second sync.
                for name in ["a", "b", "b", "a", "b"] { try await sync(name) }
                let (first, second) = (try fixture.tree("a"), try fixture.tree("b"))
                #expect(first == second, "seed \(seed), round \(round)")
                let lost = fresh.subtracting(first.values)
                #expect(lost.isEmpty, "seed \(seed), round \(round): \(lost.map(\.count))")
                let objects = try await fixture.objects().filter { !$0.hasSuffix("/") }
                #expect(Set(objects) == Set(first.keys), "seed \(seed), round \(round)")
            }
        }
    }
}
