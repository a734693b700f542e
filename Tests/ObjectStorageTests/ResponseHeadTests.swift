import Testing

@testable import ObjectStorage

@Suite("Heads of responses")
struct ResponseHeadTests {
    /// The head that `lines` and an empty one make.
    private func head(_ lines: [String]) throws(TransportError) -> ResponseHead? {
        var parser = ResponseHeadParser()
        for line in lines where try parser.accept([UInt8]((line + "\r\n").utf8).span) != nil {
            return nil
        }
        return try parser.accept([UInt8]("\r\n".utf8).span)
    }

    @Test(arguments: [
        "HTTP/1.1 206 Partial Content", "HTTP/1.1 206", "HTTP/1.0 206 ", "HTTP/2 206 a b  c",
    ])
    func `the status is the number after the version`(line: String) throws {
        #expect(try head([line])?.status == 206)
    }

    @Test(arguments: [
        "", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1  200 OK",
        "HTTP/1.1 +20 OK", "HTTP/1.1 099 OK", " HTTP/1.1 200 OK", "HTTX/1.1 200 OK",
    ])
    func `a line without a status is refused`(line: String) {
        #expect(throws: TransportError.malformedResponse(reason: "it has no HTTP status line")) {
            try head([line])
        }
    }

    @Test func `names are in lower case and values without blanks around them`() throws {
        let found = try #require(
            try head([
                "HTTP/1.1 200 OK", "ETag:\"A\"", "X-Oss-Meta-A: \t b  C\t", "Empty:", "A: b:c",
            ])
        )
        #expect(found.headers.map(\.name) == ["etag", "x-oss-meta-a", "empty", "a"])
        #expect(found.headers.map(\.value) == ["\"A\"", "b  C", "", "b:c"])
        #expect(found["etag"] == "\"A\"")
        #expect(found["x-oss-", "meta-a"] == "b  C")
        #expect(found["etan"] == nil)
        #expect(found["x-amz-", "meta-a"] == nil)
        #expect(found.headers(after: "x-oss-meta-").map(\.name) == ["a"])
    }

    @Test(arguments: ["a", ": b", "a b: c", " a: b", "a\u{1}: b", "a: \u{7F}", "a:\rb"])
    func `a line that is no header is refused`(line: String) {
        #expect(throws: TransportError.self) { try head(["HTTP/1.1 200 OK", line]) }
    }

    @Test func `one length may be said twice, and two are refused`() throws {
        func head(_ lengths: String...) throws -> ResponseHead? {
            try self.head(["HTTP/1.1 200 OK"] + lengths.map { "Content-Length: " + $0 })
        }
        #expect(try head("5", "5")?.contentLength == 5)
        for lengths in [("5", "6"), ("5", "05"), ("5", "-1"), ("", "5")] {
            #expect(throws: TransportError.self) { try head(lengths.0, lengths.1) }
        }
    }
}
