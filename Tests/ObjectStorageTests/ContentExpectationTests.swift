import SyncModel
import Testing

@testable import ObjectStorage

@Suite("Judgement of content")
struct ContentExpectationTests {
    private let etag = ETag(wire: "\"E\"")

    private func validate(
        _ expectation: ContentExpectation,
        _ status: Int,
        _ headers: [String: String]
    ) -> Result<Int64?, ContentFailure> {
        let head = ResponseHead(
            status: status,
            headers: headers.map { (name: $0.key, value: $0.value) }
        )
        do throws(ContentFailure) {
            return .success(try expectation.validate(head))
        } catch {
            return .failure(error)
        }
    }

    private var ranged: ContentExpectation {
        ContentExpectation(
            range: ByteRange(offset: 500, length: 500),
            length: 500,
            etag: etag,
            totalSize: 1_000
        )
    }

    private var whole: ContentExpectation {
        ContentExpectation(range: nil, length: 1_000, etag: etag, totalSize: nil)
    }

    @Test func `the right range is accepted`() {
        let headers = ["content-range": "bytes 500-999/1000", "content-length": "500"]
        #expect(validate(ranged, 206, headers) == .success(500))
        #expect(validate(ranged, 206, ["content-range": "bytes 500-999/*"]) == .success(500))
        #expect(
            validate(whole, 200, ["content-length": "1000", "etag": "\"E\""]) == .success(1_000)
        )
        #expect(validate(whole, 200, ["transfer-encoding": "chunked"]) == .success(1_000))
    }

    @Test(arguments: [
        "bytes 0-499/1000", "bytes 500-998/1000", "bytes 0-499/1001",
        "bytes */1000", "500-999/1000", "bytes 500-999/1000, 1-2/1000", "",
    ])
    func `another range is refused`(value: String) {
        let result = validate(ranged, 206, ["content-range": value])
        guard case .failure(.integrity(.wrongContentRange)) = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test(arguments: ["bytes 500-1000/1001", "bytes 500-999/1001", "bytes 500-699/700"])
    func `a part of an object of another size is of another version`(value: String) {
        let result = validate(ranged, 206, ["content-range": value])
        guard case .failure(.integrity(.otherSize(expected: 1_000, found: _))) = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test func `a part without its range is refused`() {
        let wrong = ContentFailure.integrity(.wrongContentRange(found: nil))
        #expect(validate(ranged, 206, ["content-length": "500"]) == .failure(wrong))
        let unasked = validate(whole, 206, ["content-range": "bytes 0-999/1000"])
        #expect(
            unasked == .failure(.integrity(.wrongContentRange(found: "bytes 0-999/1000")))
        )
    }

    @Test func `the whole object in place of a range is refused`() {
        let ignored = ContentFailure.integrity(.rangeIgnored)
        #expect(validate(ranged, 200, ["content-length": "1000"]) == .failure(ignored))
        #expect(validate(ranged, 200, ["content-length": "500"]) == .failure(ignored))
        var first = ranged
        first.range = ByteRange(offset: 0, length: 500)
        first.totalSize = nil
        #expect(validate(first, 200, ["content-length": "1000"]) == .failure(ignored))
        #expect(validate(first, 200, [:]) == .failure(ignored))
        // The object is no larger than the range: nothing was ignored.
        #expect(validate(first, 200, ["content-length": "500"]) == .success(500))
    }

    @Test func `another length is refused`() {
        #expect(
            validate(whole, 200, ["content-length": "999"])
                == .failure(.integrity(.wrongLength(expected: 1_000, found: 999)))
        )
        let headers = ["content-range": "bytes 500-999/1000", "content-length": "499"]
        #expect(
            validate(ranged, 206, headers)
                == .failure(.integrity(.wrongLength(expected: 500, found: 499)))
        )
    }

    @Test func `another version is refused`() {
        let headers = ["content-length": "1000", "etag": "\"F\""]
        let found = ETag(wire: "F")
        #expect(
            validate(whole, 200, headers)
                == .failure(.integrity(.objectChanged(expected: etag, found: found)))
        )
    }

    @Test(arguments: [201, 202, 203, 204])
    func `another success is no content`(status: Int) {
        #expect(validate(whole, status, [:]) == .failure(.unexpectedStatus(status)))
    }

    @Test func `content encoded on the way is refused`() {
        let refused = ContentFailure.integrity(.unexpectedEncoding("gzip"))
        let chunked = ["content-encoding": "gzip", "transfer-encoding": "chunked"]
        #expect(validate(whole, 200, chunked) == .failure(refused))
        let bare = ["content-encoding": "gzip", "content-length": "1000"]
        #expect(validate(whole, 200, bare) == .failure(refused))
        var stored = bare
        stored["etag"] = "\"E\""
        #expect(validate(whole, 200, stored) == .success(1_000))
        let plain = ["content-encoding": "identity", "content-length": "1000"]
        #expect(validate(whole, 200, plain) == .success(1_000))
    }
}
