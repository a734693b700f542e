import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import SyncEngine

/// Permissions that the store, or the key, lets nobody send.
@Suite("Permissions that are refused")
struct RefusedModeTests {
    private let fixture: MirrorFixture
    private let content = MirrorFixture.ramp(2_000, 3)

    /// A mirror of three files that anybody may read.
    init() async throws {
        fixture = try MirrorFixture()
        for name in ["f", "g", "h"] {
            try fixture.write("a/" + name, content)
            try fixture.setMode("a/" + name, 0o644)
        }
        try await fixture.run("a", .push)
        fixture.server.clearRequestLog()
    }

    /// A store that makes no copies, and a key that may write but not read, as for backups.
    @Test(arguments: [("CopyObject", 501), ("CopyObject", 403), ("HeadObject", 403)])
    func `that cannot be sent are named, and hold no deletion back`(
        _ operation: String,
        _ status: Int
    ) async throws {
        try fixture.setFaults(
            #"[{"match": {"operation": "\#(operation)"}, "#
                + #""effect": {"fail": {"status": \#(status), "code": "AccessDenied"}}}]"#
        )
        try fixture.setMode("a/f", 0o600)
        try fixture.remove("a/h")
        for deleted in [1, 0] {
            let log = EventLog()
            let run = try await fixture.run("a", .push, log) { $0.deletesKnown = true }
            #expect(run.deleted == deleted && run.isComplete && !run.isInStep, "\(run)")
            #expect((run.localChanges, run.modes) == (1, 0))
            #expect(log.skipped("f")?.contains("permissions") == true)
            #expect(log.warnings.count == 1 && log.warnings[0].contains("'f'"), "\(log.warnings)")
        }
        try fixture.setFaults("[]")
        #expect(try await fixture.run("a", .push).modes == 1)
        #expect(try await fixture.head("f").userMetadata["mode"] == "100600")
    }

    @Test func `are asked for ten times in a run that may send none`() async throws {
        for index in 0..<30 {
            try fixture.write("a/n\(index)", content)
            try fixture.setMode("a/n\(index)", 0o644)
        }
        try await fixture.run("a", .push)
        for index in 0..<30 { try fixture.setMode("a/n\(index)", 0o600) }
        try fixture.setFaults(
            #"[{"match": {"operation": "CopyObject"}, "#
                + #""effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]"#
        )
        fixture.server.clearRequestLog()
        let run = try await fixture.run("a", .push) { $0.connectionLimit = 1 }
        #expect(run.localChanges == 30 && run.isComplete)
        #expect(fixture.operations.count { $0 == "CopyObject" } == 10)
    }

    @Test func `of directories are sent by a key that may not read`() async throws {
        let names = (10..<25).map { "d\($0)" }
        let fixture = try MirrorFixture(dialect: .s3)
        for name in names {
            try fixture.write("a/\(name)/f", MirrorFixture.ramp(100))
            try fixture.setMode("a/" + name, 0o700)
        }
        try fixture.setFaults(
            "["
                + ["HeadObject", "GetObject", "CopyObject"].map { operation in
                    #"{"match": {"operation": "\#(operation)"},"#
                        + #""effect": {"fail": {"status": 403, "code": "AccessDenied"}}}"#
                }.joined(separator: ",") + "]"
        )
        for _ in 0..<3 { #expect(try await fixture.run("a", .push).isInStep) }
        #expect(try await fixture.objects().count { $0.hasSuffix("/") } == names.count)
        try fixture.setMode("a/d10", 0o750)
        let log = EventLog()
        let run = try await fixture.run("a", .push, log)
        #expect(run.isInStep && run.modes == 1 && log.warnings.isEmpty)
        try fixture.setFaults("[]")
        #expect(try await fixture.head("d10/").userMetadata["mode"] == "40750")
        #expect(try await fixture.run("a", .push).isInStep)
    }
}
