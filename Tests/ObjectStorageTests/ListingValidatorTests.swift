import SyncModel
import Testing

@testable import ObjectStorage

@Suite("Listing guard")
struct ListingValidatorTests {
    private func page(
        _ keys: [ObjectKey],
        prefixes: [ObjectKey] = [],
        next: String? = nil
    ) -> ListPage {
        ListPage(
            objects: keys.map { RemoteObject(key: $0, size: 1, etag: ETag(wire: "e")) },
            commonPrefixes: prefixes,
            next: next.map { ContinuationToken($0) }
        )
    }

    /// Feeds pages as a client would, and returns what stopped it.
    private func refusal(
        prefix: ObjectKey = "",
        delimiter: String? = nil,
        startAfter: ObjectKey? = nil,
        _ pages: [ListPage]
    ) -> String? {
        var validator = ListingValidator()
        var token: ContinuationToken?
        for page in pages {
            let request = ListRequest(
                prefix: prefix,
                startAfter: startAfter,
                token: token,
                delimiter: delimiter
            )
            do throws(StorageError) {
                try validator.accept(page, request: request)
            } catch {
                guard case .protocolViolation(let what) = error.kind else { return error.message }
                return what
            }
            token = page.next
        }
        return nil
    }

    @Test func `pages in byte order are accepted`() {
        #expect(refusal([page(["a", "b"], next: "1"), page(["b0", "é"])]) == nil)
        #expect(refusal([page([])]) == nil)
        #expect(refusal([page([], next: "1"), page(["a"])]) == nil)
    }

    @Test(arguments: [["b", "a"], ["a", "a"], ["é", "e"]] as [[ObjectKey]])
    func `keys that step back are refused`(keys: [ObjectKey]) {
        #expect(refusal([page(keys)])?.contains("out of order") == true)
        #expect(
            refusal([page([keys[0]], next: "1"), page([keys[1]])])?.contains("out of order")
                == true
        )
    }

    @Test func `keys not after the asked start are refused`() {
        #expect(refusal(startAfter: "b", [page(["b"])])?.contains("out of order") == true)
        #expect(refusal(startAfter: "b", [page(["b0"], next: "1"), page(["c"])]) == nil)
    }

    @Test func `keys outside the prefix are refused`() {
        #expect(refusal(prefix: "a/", [page(["a0"])])?.contains("outside the prefix") == true)
        #expect(refusal(prefix: "a/", [page(["a/"])]) == nil)
    }

    @Test func `tokens that come again are refused`() {
        let pages = [page(["a"], next: "1"), page(["b"], next: "2"), page(["c"], next: "1")]
        #expect(refusal(pages) == "the listing does not advance")
        #expect(refusal([page(["a"], next: "")]) == "the listing does not advance")
    }

    @Test func `empty pages without end are refused`() {
        let pages = (0..<200).map { page([], next: "\($0)") }
        #expect(refusal(pages) == "the listing does not advance")
    }

    @Test func `a page after the last one is refused`() {
        #expect(refusal([page(["a"]), page(["b"])]) == "a page comes after the last one")
    }

    @Test func `more entries than asked for are refused`() {
        let keys = (0..<1_001).map { ObjectKey("k\(10_000 + $0)") }
        #expect(refusal([page(keys)]) == "a page has more entries than were asked for")
    }

    @Test func `common prefixes must have been asked for`() {
        #expect(refusal([page(["a"], prefixes: ["b/"])])?.contains("common prefix") == true)
        #expect(
            refusal(delimiter: "/", [page(["a"], prefixes: ["b"])])?.contains("common prefix")
                == true
        )
        #expect(refusal(delimiter: "/", [page(["c"], prefixes: ["a/", "b/"])]) == nil)
        let pages = [page(["a"], prefixes: ["b/"], next: "1"), page(["b"])]
        #expect(refusal(delimiter: "/", pages)?.contains("out of order") == true)
    }
}
