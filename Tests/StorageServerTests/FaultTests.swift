import Testing

@testable import StorageServer

@Suite("Faults on the wire")
struct FaultTests {
    private let content = ramp(300_000)

    private func server(_ faults: String) throws -> TestServer {
        let test = try TestServer()
        #expect(try test.send("PUT", "/demo/a", body: content).status == 200)
        try test.setFaults(faults)
        return test
    }

    @Test(arguments: [("fin", ReplyEnd.closed), ("rst", .reset)])
    func `a cut body ends after exactly so many bytes`(kind: String, end: ReplyEnd) throws {
        let test = try server(
            #"""
            [{"match": {"operation": "GetObject"},
              "effect": {"cut": {"at": 200001, "how": "\#(kind)"}}}]
            """#
        )
        let reply = try test.send("GET", "/demo/a")
        #expect(reply.status == 200)
        #expect(reply.end == end)
        #expect(reply.body == Array(content[..<200_001]))
        let record = try test.lastRecord(count: 2)
        #expect(record.bytesSent == 200_001)
        #expect(!record.isComplete)
    }

    @Test(arguments: [("fin", ReplyEnd.closed), ("rst", .reset)])
    func `an answer can be lost after the operation`(kind: String, end: ReplyEnd) throws {
        let test = try server(
            #"""
            [{"match": {"operation": "PutObject", "occurrence": 1},
              "effect": {"close": {"when": "after", "how": "\#(kind)"}}}]
            """#
        )
        let lost = try test.send("PUT", "/demo/b", body: [1, 2, 3])
        #expect(lost.status == 0)
        #expect(lost.end == end)
        #expect(try test.send("GET", "/demo/b").body == [1, 2, 3])
    }

    @Test func `a connection can close before anything is done`() throws {
        let test = try server(
            #"""
            [{"match": {"operation": "PutObject", "occurrence": 1},
              "effect": {"close": {"when": "before"}}}]
            """#
        )
        #expect(try test.send("PUT", "/demo/b", body: [1]).end == .closed)
        #expect(try test.send("GET", "/demo/b").status == 404)
    }

    @Test func `a held request waits for the next script`() async throws {
        let test = try server(
            #"""
            [{"match": {"operation": "PutObject"}, "effect": {"hold": true}},
             {"match": {"operation": "GetObject"},
              "effect": {"hold": true, "close": {"when": "before", "how": "rst"}}}]
            """#
        )
        let put = try TestConnection(port: test.port)
        try put.send("PUT", "/demo/b", headers: [], body: [1, 2, 3])
        let get = try TestConnection(port: test.port)
        try get.send("GET", "/demo/a", headers: [], body: [])
        await test.server.untilHeld(2)
        #expect(try test.send("HEAD", "/demo/b").status == 404)
        #expect(test.server.requestLog.map(\.operation) == ["PutObject", "HeadObject"])
        try test.setFaults("[]")
        #expect(put.receive(isHead: false).status == 200)
        #expect(get.receive(isHead: false).end == .reset)
        #expect(try test.send("GET", "/demo/b").body == [1, 2, 3])
        #expect(test.server.requestLog.count == 5)
    }

    @Test func `an error answer carries its headers and comes as often as it says`() throws {
        let test = try server(
            #"""
            [{"match": {"operation": "HeadObject", "first": 2},
              "effect": {"fail": {"status": 503, "code": "ServiceUnavailable", "retryAfter": 7}}}]
            """#
        )
        for _ in 0..<2 {
            let reply = try test.send("HEAD", "/demo/a")
            #expect(reply.status == 503)
            #expect(reply.headers["retry-after"] == "7")
            let document = reply.headers["x-oss-err"].flatMap(Base64.decode)
            #expect(document.flatMap(XMLElement.parse)?.first("Code")?.text == "ServiceUnavailable")
        }
        #expect(try test.send("HEAD", "/demo/a").status == 200)
    }

    @Test func `a rate lets so many requests a second through`() throws {
        let test = try server(
            #"""
            [{"match": {"operation": "HeadObject", "above": 2},
              "effect": {"fail": {"status": 503, "code": "SlowDown"}}}]
            """#
        )
        var served = 0
        while try test.send("HEAD", "/demo/a").status == 200 { served += 1 }
        #expect(served >= 2)
        while try test.send("HEAD", "/demo/a").status == 503 {}
        #expect(try test.send("GET", "/demo/a").status == 200)
    }

    @Test func `an upload can break in the middle and leaves nothing`() throws {
        let test = try server(#"[{"effect": {"cutUpload": {"at": 150000, "how": "rst"}}}]"#)
        #expect(try test.send("PUT", "/demo/b", body: content).end != .complete)
        try test.setFaults("[]")
        #expect(try test.send("GET", "/demo/b").status == 404)
    }

    @Test func `bytes, lengths, headers and statuses can be wrong`() throws {
        let test = try server(
            #"""
            [{"match": {"occurrence": 1}, "effect": {"flip": 1234}},
             {"match": {"occurrence": 2}, "effect": {"truncate": 10}},
             {"match": {"occurrence": 3},
              "effect": {"headers": {"set": {"ETag": "\"0\""},
                                     "remove": ["x-oss-hash-crc64ecma"]}}},
             {"match": {"occurrence": 4}, "effect": {"status": 206}},
             {"match": {"occurrence": 5}, "effect": {"ignoreRange": true}},
             {"match": {"occurrence": 6}, "effect": {"body": "<Error/>", "slow": 1000000}}]
            """#
        )
        var flipped = content
        flipped[1_234] ^= 1
        #expect(try test.send("GET", "/demo/a").body == flipped)
        #expect(try test.send("GET", "/demo/a").body == Array(content[..<10]))
        let changed = try test.send("GET", "/demo/a")
        #expect(changed.headers["etag"] == "\"0\"")
        #expect(changed.headers["x-oss-hash-crc64ecma"] == nil)
        #expect(try test.send("GET", "/demo/a").status == 206)
        let range = [("Range", "bytes=0-9")]
        let whole = try test.send("GET", "/demo/a", headers: range)
        #expect(whole.status == 200)
        #expect(whole.body == content)
        #expect(try test.send("GET", "/demo/a").text == "<Error/>")
        #expect(try test.send("GET", "/demo/a", headers: range).status == 206)
    }

    @Test func `an object can be replaced while it is read`() throws {
        let test = try server(
            #"""
            [{"match": {"operation": "GetObject", "occurrence": 1},
              "effect": {"replaceObject": {"at": 1000}}}]
            """#
        )
        let first = try test.send("GET", "/demo/a")
        #expect(first.body == content)
        let second = try test.send("GET", "/demo/a")
        #expect(second.body.count == content.count)
        #expect(second.body != content)
        let condition = [("If-Match", first.headers["etag"] ?? "")]
        #expect(try test.send("GET", "/demo/a", headers: condition).status == 412)
    }

    @Test func `an upload can vanish under its parts`() throws {
        let test = try server(
            #"[{"match": {"part": 2}, "effect": {"abortUpload": true}}]"#
        )
        let begun = try test.send("POST", "/demo/m?uploads")
        let id = try #require(XMLElement.parse(begun.body)?.first("UploadId")?.text)
        let first = try test.send("PUT", "/demo/m?partNumber=1&uploadId=\(id)", body: [1])
        #expect(first.status == 200)
        let second = try test.send("PUT", "/demo/m?partNumber=2&uploadId=\(id)", body: [2])
        #expect(second.status == 404)
        #expect(XMLElement.parse(second.body)?.first("Code")?.text == "NoSuchUpload")
    }
}

@Suite("Faults of listings")
struct ListingFaultTests {
    /// Keys, truncation and token of the first page of two keys.
    private func page(_ fault: String) throws -> (keys: [String], more: Bool, token: String?) {
        let test = try TestServer()
        for key in ["p/1", "p/2", "p/3"] { _ = try test.send("PUT", "/demo/" + key) }
        try test.setFaults(#"[{"match": {"keyPrefix": "p/"}, "effect": {"listing": "\#(fault)"}}]"#)
        let reply = try test.send("GET", "/demo/?list-type=2&max-keys=2&prefix=p%2F")
        let document = try #require(XMLElement.parse(reply.body))
        return (
            document.all("Contents").compactMap { $0.first("Key")?.text },
            document.first("IsTruncated")?.text == "true",
            document.first("NextContinuationToken")?.text
        )
    }

    private func position(_ token: String?) -> String? {
        token.flatMap { ListingToken.position(in: $0, bucket: "demo") }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `tokens loop, miss or lead back`() throws {
        let loop = try page("tokenLoop")
        #expect(position(loop.token) == "")
        let missing = try page("missingToken")
        #expect(missing.more && missing.token == nil)
        #expect(position(try page("overlap").token) == "p/2")
    }

    @Test func `entries are out of order, twice, absent or foreign`() throws {
        #expect(try page("outOfOrder").keys == ["p/2", "p/1"])
        #expect(try page("duplicate").keys == ["p/1", "p/2", "p/2"])
        let empty = try page("empty")
        #expect(empty.keys.isEmpty && !empty.more)
        let early = try page("endsEarly")
        #expect(early.keys == ["p/1", "p/2"] && !early.more)
        let hollow = try page("emptyTruncated")
        #expect(hollow.keys.isEmpty && hollow.more && hollow.token != nil)
    }
}

@Suite("Control requests")
struct ControlRequestTests {
    @Test(arguments: [
        (["Host": "127.0.0.1"], 200), (["Host": "localhost:80"], 200),
        (["Host": "127.0.0.1:80", "Origin": "http://127.0.0.1:80"], 200),
        (["Host": "127.0.0.1", "Origin": "http://example.com"], 403),
        (["Host": "127.0.0.1", "Origin": "null"], 403), (["Host": "rebound.example.com"], 403),
    ])
    func `a web page cannot make them`(headers: [String: String], status: Int) throws {
        let server = try TestServer()
        let connection = try TestConnection(port: server.port)
        connection.send(plain: "GET /-/held", headers)
        #expect(connection.receive(isHead: false).status == status)
    }
}
