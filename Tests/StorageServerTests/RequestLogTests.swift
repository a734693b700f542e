import Testing

@testable import StorageServer

@Suite("The log of requests")
struct RequestLogTests {
    @Test func `counts what left, not what was asked, when the client dies`() throws {
        let test = try TestServer()
        let content = ramp(32 << 20)
        _ = try test.send("PUT", "/demo/big", body: content)
        let received: Int
        do {
            let connection = try TestConnection(port: test.port)
            try connection.send("GET", "/demo/big", headers: [], body: [])
            received = connection.receive(isHead: false, limit: 1 << 20).body.count
        }
        let record = try test.lastRecord(count: 2)
        #expect(!record.isComplete)
        #expect(record.bytesSent >= Int64(received))
        #expect(record.bytesSent < Int64(content.count))
    }

    @Test func `has the range, the part and the bytes of both directions`() throws {
        let test = try TestServer()
        _ = try test.send("PUT", "/demo/a", body: ramp(1_000))
        #expect(try test.lastRecord(count: 1).bytesReceived == 1_000)
        _ = try test.send("GET", "/demo/a", headers: [("Range", "bytes=10-19")])
        let record = try test.lastRecord(count: 2)
        #expect(record.operation == "GetObject")
        #expect(record.range == "bytes=10-19")
        #expect(record.bytesSent == 10)
        #expect(record.status == 206)
        #expect(record.isComplete)
        #expect(JSONValue.parse([UInt8](record.json.utf8))?.object?["key"]?.string == "a")
    }

    @Test func `a failed request names its error`() throws {
        let test = try TestServer()
        _ = try test.send("HEAD", "/demo/none")
        let record = try test.lastRecord(count: 1)
        #expect(record.errorCode == "NoSuchKey")
        #expect(record.bytesSent == 0)
    }
}
