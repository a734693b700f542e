import Foundation
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// Two mirrors have the same files, one within the other: what one found damaged the other must not
/// send.
@Suite("Damaged files of nested mirrors")
struct NestedDamageTests {
    enum Change: CaseIterable { case touch, rename, removal }

    private let good = MirrorFixture.ramp(3_000, 1)

    private func push(_ fixture: MirrorFixture, _ directory: String) async throws -> RunSummary {
        try await fixture.run(directory, .push) { options in
            (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
        }
    }

    private func mirrors() async throws -> MirrorFixture {
        let fixture = try MirrorFixture()
        for name in ["d/sub/f", "d/sub/g", "d/h", "i"] {
            try fixture.write("a/" + name, MirrorFixture.ramp(10))
        }
        try fixture.write("a/d/sub/f", good)
        for directory in ["a/d", "a"] { try await fixture.run(directory, .push) }
        return fixture
    }

    private func change(_ fixture: MirrorFixture, _ change: Change) throws {
        switch change {
        case .touch:
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
                ofItemAtPath: fixture.directory("a/d/sub/f")
            )
        case .rename: try fixture.rename("a/d/sub/f", to: "a/d/sub/new")
        case .removal: try fixture.remove("a/d/sub/f")
        }
    }

    @Test(arguments: [("a/d", "a", "d/sub/f"), ("a", "a/d", "sub/f")], Change.allCases)
    func `are sent by neither, and keep their objects`(
        nested: (finding: String, sending: String, key: String),
        change: Change
    ) async throws {
        let fixture = try await mirrors()
        let name = nested.finding == "a" ? "d/sub/f" : "sub/f"
        try await fixture.damage(name, of: nested.finding)
        let finding = try fixture.engine(nested.finding)
        #expect(try await finding.verify(VerifyOptions()) { _ in }.damaged == 1)
        try self.change(fixture, change)
        for _ in 0..<2 {
            let run = try await push(fixture, nested.sending)
            #expect(run.damaged > 0 && run.transferred == 0 && run.deleted == 0, "\(run)")
            #expect(try await fixture.object(nested.key) == good)
        }
        try await fixture.run(nested.sending, .pull) { options in
            (options.paths, options.replacesLocalChanges) = ([nested.key], true)
        }
        #expect(fixture.content("a/d/sub/f") == good)
        if change == .rename { try fixture.remove("a/d/sub/new") }
        for directory in [nested.finding, nested.sending] {
            #expect(try await finding.verify(VerifyOptions()) { _ in }.damaged == 0)
            let run = try await push(fixture, directory)
            #expect(run.damaged == 0 && run.isComplete, "\(directory) \(run)")
        }
    }
}
