import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer

@Suite("The form of records")
struct RecordFormTests {
    private static let download = """
        {"source": "oss://host/bucket/key", "etag": "A", "total_length": 100, "crc64": "5",
         "range_size": 16, "partial_name": "p", "ranges": [[16, 16, "7"], [64, 3, "8"]]
        """
    private static let upload = """
        {"target": "oss://host/bucket/key", "upload_id": "u", "part_size": 16,
         "key": "k", "file": [40, [1, 2], [3, 4], "5", "6"], "token": "t", "started": [9, 0],
         "parts": [[2, 16, "B", "7"]]
        """

    private func json(_ text: String) throws -> JSONText {
        try JSONText(parsing: [UInt8](text.utf8))
    }

    @Test func `of a download keeps finished requests in any order`() throws {
        let record = try #require(Checkpoint(json: try json(Self.download + "}")))
        #expect(record.receivedLength == 19)
        let download = try #require(record.download(ObjectKey("key")))
        #expect(download.ranges.map(\.received) == [16, 3])
        #expect(download.ranges.map(\.index) == [1, 4])
    }

    /// A later version may note what it handed over to the system.
    @Test func `has room for members that are not known`() throws {
        let more = ", \"background\": [[0, 1], [32, 2]], \"other\": {\"a\": null}}"
        #expect(
            Checkpoint(json: try json(Self.download + more))
                == Checkpoint(json: try json(Self.download + "}"))
        )
        let known = UploadRecord(json: try json(Self.upload + "}"))
        #expect(known?.checkpoint.parts.map(\.number.value) == [2])
        #expect(UploadRecord(json: try json(Self.upload + more)) == known)
    }
}
