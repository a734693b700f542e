import SyncModel
import Synchronization
import Testing

@testable import ObjectStorage

@Suite("Listings of versions and uploads")
struct MarkedListingTests {
    /// Gives the same page each time, and fails before it has given a tenth.
    private final class SamePage: HTTPSending {
        private let page: String
        private let count = Atomic(0)

        init(_ page: String) { self.page = page }

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            guard count.add(1, ordering: .relaxed).newValue < 10 else { throw .cancelled }
            return HTTPResponse(
                head: ResponseHead(status: 200, headers: []),
                body: [UInt8](page.utf8),
                sent: nil
            )
        }
    }

    private func client(_ page: String) throws -> StorageClient {
        try StorageClient.over(SamePage(page), runBudget: 0, sleep: { _ in })
    }

    private func refusal(_ body: () async throws -> Void) async -> StorageError.Kind? {
        let error = await #expect(throws: StorageError.self) { try await body() }
        return error?.kind
    }

    private static let stuck = StorageError.Kind.protocolViolation("the listing does not advance")

    @Test func `a listing of versions that does not advance is left`() async throws {
        let store = try client(
            "<ListVersionsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>"
                + "<NextVersionIdMarker>v</NextVersionIdMarker></ListVersionsResult>"
        )
        let past = PastStore(store, .at(ClientFixture.now))
        let listing = await refusal { _ = try await past.list(ListRequest(prefix: "")) }
        #expect(listing == Self.stuck)
        let reading = await refusal { _ = try await past.head("a", versionID: nil) }
        #expect(reading == Self.stuck)
    }

    @Test func `a listing of uploads that does not advance is left`() async throws {
        let store = try client(
            "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>"
                + "<NextKeyMarker>a</NextKeyMarker></ListMultipartUploadsResult>"
        )
        var request = ListUploadsRequest(prefix: "")
        request.marker = try await store.listMultipartUploads(request).next
        let kind = await refusal { [request] in
            _ = try await store.listMultipartUploads(request)
        }
        #expect(kind == Self.stuck)
    }

    @Test func `an entry may name several checksums and prefixes`() throws {
        let text =
            "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>k</Key>"
            + "<Size>1</Size><ETag>e</ETag><ChecksumAlgorithm>CRC32</ChecksumAlgorithm>"
            + "<ChecksumAlgorithm>SHA256</ChecksumAlgorithm></Contents>"
            + "<CommonPrefixes><Prefix>a/</Prefix><Prefix>b/</Prefix></CommonPrefixes>"
            + "</ListBucketResult>"
        let page = try decodeAnyListObjects([UInt8](text.utf8), style: .strict)
        #expect(page.objects.map(\.key) == ["k"])
        #expect(page.commonPrefixes == ["a/", "b/"])
    }
}
