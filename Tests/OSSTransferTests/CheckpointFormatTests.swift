import Foundation
import OSSTransfer
import Testing

@Suite("The encoded form of a checkpoint")
struct CheckpointFormatTests {
    private static let state =
        #"{"source":"oss://h/b/k","etag":"E","total_length":10,"crc64":null,"range_size":8,"#
        + #""partial_name":"p","ranges":[[0,3,"7"]]}"#

    private struct Form: Codable {
        var format: Int?
        var state: String?
    }

    /// As a process of today writes it.
    static var encoded: Data {
        get throws { try JSONEncoder().encode(Form(format: 1, state: state)) }
    }

    @Test func `has a number, and is read back`() throws {
        let checkpoint = try JSONDecoder().decode(Checkpoint.self, from: Self.encoded)
        #expect(checkpoint.etag == "E")
        #expect(checkpoint.totalLength == 10)
        #expect(checkpoint.receivedLength == 3)
        #expect(checkpoint.crc64 == nil)
        let again = try JSONEncoder().encode(checkpoint)
        #expect(try JSONDecoder().decode(Form.self, from: again).format == 1)
        #expect(try JSONDecoder().decode(Checkpoint.self, from: again) == checkpoint)
    }

    @Test(arguments: [
        (2, state, "the checkpoint has format 2, and this version reads format 1: "),
        (1, "{}", "the checkpoint is damaged: "), (1, "", "the checkpoint is damaged: "),
    ])
    func `of another format is refused, and says that the download needs none`(
        format: Int,
        state: String,
        reason: String
    ) throws {
        let data = try JSONEncoder().encode(Form(format: format, state: state))
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Checkpoint.self, from: data)
        }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(context.debugDescription == reason + "start the download without it")
    }

    @Test func `without a number is refused`() throws {
        let data = try JSONEncoder().encode(Form(state: Self.state))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Checkpoint.self, from: data)
        }
    }
}
