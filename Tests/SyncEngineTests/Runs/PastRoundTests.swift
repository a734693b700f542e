import Foundation
import ObjectTransfer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    @Suite("Rounds that have ended")
    struct PastRoundTests {
        private func names(_ fixture: MirrorFixture) throws -> [String] {
            let path = fixture.directory("a") + "/.osssync/rounds"
            guard FileManager.default.fileExists(atPath: path) else { return [] }
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        }

        private func cut(_ fixture: MirrorFixture, _ count: Int) async throws {
            var options = CutOptions()
            options.count = count
            _ = try await fixture.engine("a").cut(options) { _ in }
        }

        @Test func `only the last that ended stays, and joining removes all`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<8 { try fixture.write("a/f\(index)", MirrorFixture.ramp(100 + index)) }
            try await cut(fixture, 2)
            for number in 1...4 {
                #expect(try await fixture.run("a", .push).isInStep)
                #expect(try names(fixture).count == min(number, 2))
            }
            try await cut(fixture, 1)
            #expect(try names(fixture).isEmpty)
            #expect(try await fixture.run("a", .push).isInStep)
        }

        @Test func `a task of a round that was removed is refused`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<8 { try fixture.write("a/f\(index)", MirrorFixture.ramp(100 + index)) }
            try await cut(fixture, 2)
            func task(_ round: String) async throws {
                try await fixture.run("a", .push) { options in
                    options.shard = ShardSelection(task: 0, of: 1, round: round)
                }
            }
            for round in ["one", "two", "three"] {
                try await task(round)
                _ = try await fixture.engine("a").finish(
                    round: round,
                    .push,
                    options: MirrorFixture.options(),
                    onEvent: { _ in }
                )
            }
            #expect(try !names(fixture).contains("one"))
            let error = await #expect(throws: TransferError.self) { try await task("one") }
            #expect(error?.message.contains("it has ended") == true)
            try await task("three")
        }
    }
}
