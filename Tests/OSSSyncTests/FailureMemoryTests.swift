import Testing

@testable import OSSSync
@testable import ObjectTransfer

@Suite("Failures from one run to the next")
struct FailureMemoryTests {
    @Test func `are counted together where runs share their sources`() {
        let sources = ConfigurationSources(
            options: ConnectionOptions(),
            environment: [:],
            homeDirectory: nil,
            hostName: "h"
        )
        // As each round of a watch has.
        var next = ConfigurationSources(
            options: ConnectionOptions(),
            environment: [:],
            homeDirectory: nil,
            hostName: "h"
        )
        next.failures = sources.failures
        let cause = FailureStreaks.Cause.refused(
            operation: "PutObject",
            status: 403,
            code: "AccessDenied"
        )
        for _ in 0..<6 { #expect(!sources.failures.streaks.failed(cause)) }
        for _ in 0..<3 { #expect(!next.failures.streaks.failed(cause)) }
        #expect(next.failures.streaks.failed(cause))
        #expect(cause.code == .credentials)
    }

    @Test func `a success of the operation ends their row, and another one does not`() {
        let streaks = FailureStreaks()
        let cause = FailureStreaks.Cause.refused(operation: "GetObject", status: 403, code: nil)
        for _ in 0..<9 { _ = streaks.failed(cause) }
        streaks.succeeded("ListObjectsV2")
        #expect(streaks.failed(cause))
        for _ in 0..<9 { _ = streaks.failed(cause) }
        streaks.succeeded("GetObject")
        #expect(!streaks.failed(cause))
        for _ in 0..<9 { _ = streaks.failed(.connection) }
        streaks.succeeded("ListObjectsV2")
        #expect(!streaks.failed(.connection))
        for _ in 0..<9 { _ = streaks.failed(.diskFull) }
        streaks.stored()
        #expect(!streaks.failed(.diskFull))
    }
}
