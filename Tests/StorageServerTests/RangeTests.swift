import SyncModel
import Testing

@testable import StorageServer

@Suite("Ranges of a 1000-byte object")
struct RangeTests {
    struct Case: CustomTestStringConvertible {
        let header: String
        let plain: Outcome
        let standard: Outcome
        var testDescription: String { header }
    }

    enum Outcome: Equatable {
        case whole
        case part(Int64, Int64)
        case unsatisfiable
    }

    private static let cases = [
        Case(header: "bytes=0-499", plain: .part(0, 500), standard: .part(0, 500)),
        Case(header: "bytes=999-999", plain: .part(999, 1), standard: .part(999, 1)),
        Case(header: "bytes=500-2000", plain: .whole, standard: .part(500, 500)),
        Case(header: "bytes=1000-2000", plain: .whole, standard: .unsatisfiable),
        Case(header: "bytes=1000-", plain: .whole, standard: .unsatisfiable),
        Case(header: "bytes=990-", plain: .part(990, 10), standard: .part(990, 10)),
        Case(header: "bytes=-10", plain: .part(990, 10), standard: .part(990, 10)),
        Case(header: "bytes=-2000", plain: .whole, standard: .part(0, 1_000)),
        Case(header: "bytes=-0", plain: .unsatisfiable, standard: .unsatisfiable),
        Case(header: "bytes=600-500", plain: .whole, standard: .whole),
        Case(header: "byte=0-1", plain: .whole, standard: .whole),
        Case(header: "bytes=0-0,5-9", plain: .whole, standard: .whole),
    ]

    @Test(arguments: cases)
    func `are honoured as the service does`(test: Case) {
        #expect(outcome(test.header, []) == test.plain)
        #expect(outcome(test.header, [("x-oss-range-behavior", "standard")]) == test.standard)
    }

    private func outcome(_ header: String, _ more: [(name: String, value: String)]) -> Outcome {
        let request = Request(
            method: .get,
            target: "/demo/a",
            headers: [("range", header)] + more
        )
        do {
            guard let range = try RangeRequest(header).range(of: 1_000, for: request) else {
                return .whole
            }
            return .part(range.offset, range.length)
        } catch {
            return .unsatisfiable
        }
    }
}
