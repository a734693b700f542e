import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Testing

@Suite("Reads of one object")
struct ReadingTests {
    private static let content = StoreFixture.ramp(1_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// A client and the tag and time of its object `key`.
    private func object(_ fixture: StoreFixture) async throws -> (BucketClient, ObjectInfo) {
        let client = try fixture.client()
        try await client.put(Self.content, to: "key")
        let info = try #require(try await client.head("key").value)
        return (client, info)
    }

    @Test(
        arguments: [
            ("0-499", 0..<500), ("500-2000", 500..<1_000), ("999-", 999..<1_000),
            ("0-", 0..<1_000), ("-1", 999..<1_000), ("-2000", 0..<1_000), ("7-7", 7..<8),
            ("bytes=0-999", 0..<1_000),
        ] as [(String, Range<Int>)]
    )
    func `bring the bytes that each form of a range means`(
        text: String,
        expected: Range<Int>
    ) async throws {
        let (client, info) = try await object(fixture)
        let range = try ObjectRange(parsing: text)
        let content = try #require(
            try await client.get("key", range: range, maxBytes: 1_000).value
        )
        #expect(content.bytes == Array(Self.content[expected]))
        #expect(content.info.size == 1_000)
        #expect(content.info.etag == info.etag)
        #expect(content.info.crc64 == info.crc64)
    }

    @Test(arguments: ["1000-1001", "1000-", "-0"])
    func `without a byte of the range say so`(text: String) async throws {
        let (client, _) = try await object(fixture)
        let outcome = try await client.get(
            "key",
            range: ObjectRange(parsing: text),
            maxBytes: 1_000
        )
        #expect(outcome == .rangeNotSatisfiable)
    }

    @Test func `of several ranges take a request each and stay with one version`() async throws {
        let (client, _) = try await object(fixture)
        fixture.server.clearRequestLog()
        let ranges: [ObjectRange] = [.bytes(10..<20), .last(5), .from(990)]
        let contents = try #require(
            try await client.get("key", ranges: ranges, maxBytes: 100).value
        )
        #expect(
            contents.map(\.bytes) == [
                Array(Self.content[10..<20]), Array(Self.content[995...]),
                Array(Self.content[990...]),
            ]
        )
        #expect(
            fixture.server.requestLog.map(\.operation) == Array(repeating: "GetObject", count: 3)
        )
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 2},
              "effect": {"replaceObject": {"at": 0}}}]
            """
        )
        #expect(try await client.get("key", ranges: ranges, maxBytes: 100) == .preconditionFailed)
    }

    @Test(
        arguments: [
            (
                "0-1,4-5",
                "asks for several ranges in one request, which not every store supports; "
                    + "request each range separately"
            ),
            ("5-4", "is not a range: use FIRST-LAST, FIRST- or -COUNT"),
            ("-", "is not a range: use FIRST-LAST, FIRST- or -COUNT"),
            ("a-b", "is not a range: use FIRST-LAST, FIRST- or -COUNT"),
            ("", "is not a range: use FIRST-LAST, FIRST- or -COUNT"),
        ] as [(String, String)]
    )
    func `refuse what is not one range`(text: String, message: String) {
        let error = #expect(throws: TransferError.self) { try ObjectRange(parsing: text) }
        #expect(error?.code == .configuration)
        #expect(error?.message == "'\(text)' \(message)")
    }

    @Test func `answer each condition, met or not, for content and headers`() async throws {
        let (client, info) = try await object(fixture)
        let time = try #require(info.lastModified)
        let before = StoreTime(secondsSince1970: time.secondsSince1970 - 60)
        let cases: [(ObjectConditions, ReadOutcome<ObjectInfo>?)] = [
            (.init(ifMatch: info.etag), nil),
            (.init(ifMatch: "other"), .preconditionFailed),
            (.init(ifNoneMatch: "other"), nil),
            (.init(ifNoneMatch: info.etag), .notModified),
            (.init(ifModifiedSince: before), nil),
            (.init(ifModifiedSince: time), .notModified),
            (.init(ifUnmodifiedSince: time), nil),
            (.init(ifUnmodifiedSince: before), .preconditionFailed),
        ]
        for (conditions, expected) in cases {
            let head = try await client.head("key", conditions: conditions)
            let content = try await client.get("key", conditions: conditions, maxBytes: 1_000)
            switch expected {
            case nil:
                #expect(head.value?.etag == info.etag, "\(conditions)")
                #expect(content.value?.bytes == Self.content, "\(conditions)")
            case .notModified?: #expect(head == .notModified && content == .notModified)
            default: #expect(head == .preconditionFailed && content == .preconditionFailed)
            }
        }
    }

    @Test func `of what is not there are an error of its own`() async throws {
        let client = try fixture.client()
        let error = await expectError(.notFound) { try await client.head("absent") }
        #expect(error?.requestID != nil)
        await expectError(.notFound) {
            try await client.get("absent", maxBytes: 1)
        }
    }

    @Test func `larger than the limit fetch nothing`() async throws {
        let (client, _) = try await object(fixture)
        let error = await expectError(.configuration) {
            try await client.get("key", maxBytes: 999)
        }
        #expect(error?.message == "GetObject of 'key' failed: the object is larger than 999 bytes")
    }
}
