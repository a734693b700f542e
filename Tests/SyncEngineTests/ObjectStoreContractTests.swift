import StoreFixture
import Testing

@testable import SyncEngine

/// The contract of a store is kept by the store that tests of the engine put before the client;
/// ObjectTransferTests run it over the client.
@Suite("The contract of a store with hooks", .timeLimit(.minutes(10)))
struct HookedStoreContractTests {
    @Test(arguments: ObjectStoreContract.rules)
    func `is kept`(rule: ObjectStoreContract.Rule) async throws {
        let fixture = try MirrorFixture()
        try await rule.check(HookedStore(try fixture.store(StoreObserver()), pageSize: 2) { _ in })
    }
}
