import StoreFixture
import Testing

@testable import ObjectTransfer

/// Over libcurl in the usual build, and over URLSession in that of `Tests/Portable/run`.
@Suite("The contract of a store", .timeLimit(.minutes(10)))
struct ObjectStoreContractTests {
    @Test(arguments: ObjectStoreContract.rules)
    func `is kept by the client`(rule: ObjectStoreContract.Rule) async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        try await rule.check(try fixture.storageClient())
    }

    /// With one connection at a time.
    @Test(arguments: ObjectStoreContract.rules)
    func `is kept where requests wait in line`(rule: ObjectStoreContract.Rule) async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let limiter = ConnectionLimiter(
            maximum: 1,
            byteBudget: 1,
            monotonic: { .zero },
            sleep: { _ in }
        )
        try await rule.check(LimitedStore(try fixture.storageClient(), limiter))
    }
}
