import Foundation
import SyncModel
import Testing

@testable import SyncEngine

/// A damaged file lives on under another name while its old one has good content again.
@Suite("Damaged files beside repaired ones")
struct RepairedNameTests {
    enum Repair: CaseIterable { case pull, verify }

    private let good = MirrorFixture.ramp(3_000, 1)

    private func push(_ fixture: MirrorFixture) async throws -> RunSummary {
        try await fixture.run("a", .push) { options in
            (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
        }
    }

    @Test(arguments: [true, false], Repair.allCases)
    func `are not sent, and no object goes for them`(isMoved: Bool, repair: Repair) async throws {
        let fixture = try MirrorFixture()
        try fixture.write("a/d/f", good)
        try fixture.write("a/other", MirrorFixture.ramp(10))
        try await fixture.run("a", .push)
        try await fixture.damage("d/f")
        let engine = try fixture.engine("a")
        #expect(try await engine.verify(VerifyOptions()) { _ in }.damaged == 1)
        if isMoved {
            try fixture.rename("a/d", to: "a/dd")
        } else {
            try fixture.copy("a/d", "a/dd")
        }
        #expect(try await push(fixture).damaged > 0)
        switch repair {
        case .pull where isMoved: try await fixture.run("a", .pull)
        case .pull: try await fixture.run("a", .pull) { $0.replacesLocalChanges = true }
        case .verify: _ = try await engine.verify(VerifyOptions(repairs: true)) { _ in }
        }
        #expect(fixture.content("a/d/f") == good)
        for _ in 0..<2 {
            let run = try await push(fixture)
            #expect(run.damaged == 1 && !run.isInStep, "\(run)")
            #expect(try await !fixture.objects().contains("dd/f"))
        }
        // The rename is done once more, as far as it goes.
        try fixture.remove("a/d")
        #expect(try await push(fixture).deleted == 0)
        try fixture.rename("a/dd", to: "a/d")
        for _ in 0..<2 {
            let run = try await push(fixture)
            #expect(run.damaged == 1 && run.transferred == 0, "\(run)")
            #expect(try await fixture.object("d/f") == good)
        }
        try fixture.remove("a/d")
        try await fixture.run("a", .pull)
        #expect(fixture.content("a/d/f") == good)
        let last = try await push(fixture)
        #expect(last.isInStep && last.isComplete, "\(last)")
    }
}
