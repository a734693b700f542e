import Foundation
import SyncModel
import Testing

@testable import SyncEngine

@Suite("A run of the engine")
struct MirrorEngineTests {
    private func ramp(_ count: Int, _ seed: Int = 0) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 + seed) % 251) })
    }

    @Test func `pushes, pulls and then has nothing to do`() async throws {
        let fixture = try MirrorFixture()
        for index in 0..<40 { try fixture.write("a/d\(index % 5)/f\(index)", ramp(100 + index)) }
        try fixture.write("a/big", ramp(5 << 20))
        try fixture.write("a/empty", Data())
        try FileManager.default.createDirectory(
            atPath: fixture.directory("a/hollow"),
            withIntermediateDirectories: true
        )
        let log = EventLog()
        let push = try await fixture.engine("a").run(
            .push,
            options: MirrorFixture.options(),
            onEvent: log.add
        )
        #expect(push.transferred == 43, "\(log.items.filter { $0.state == .failed })")
        #expect(push.isInStep)
        let pull = try await fixture.engine("b").run(
            .pull,
            options: MirrorFixture.options(),
            onEvent: log.add
        )
        #expect(pull.transferred == 43, "\(log.items.filter { $0.state == .failed })")
        #expect(fixture.content("b/big") == ramp(5 << 20))
        #expect(FileManager.default.fileExists(atPath: fixture.directory("b/hollow")))
        for name in ["a", "b"] {
            for direction in [SyncDirection.push, .pull] {
                let again = try await fixture.engine(name).run(
                    direction,
                    options: MirrorFixture.options(),
                    onEvent: log.add
                )
                #expect(again.bytes == 0)
                #expect(again.transferred == 0)
                #expect(again.requests == 1)
                #expect(again.unchanged == 43)
            }
        }
    }
}
