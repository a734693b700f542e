import Foundation
import Testing

@testable import StorageServer

@Suite("Values of the S3 dialect")
struct S3ValueTests {
    private func checksum(_ algorithm: ChecksumAlgorithm, _ bytes: [UInt8]) -> Checksum {
        let running = RunningChecksum(algorithm)
        // In two pieces of odd lengths, so that both loops of the CRC run.
        let middle = bytes.count / 3
        for piece in [Array(bytes[..<middle]), Array(bytes[middle...])] {
            unsafe piece.withUnsafeBytes { unsafe running.update($0) }
        }
        return running.finish()
    }

    @Test(arguments: [
        (ChecksumAlgorithm.crc32, "y/Q5Jg=="), (.crc32c, "4waSgw=="), (.crc64nvme, "rosUhgp5mIg="),
        (.sha1, "98O8HYCOBHMq32eZZczDTKeuNEE="),
        (.sha256, "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="),
    ])
    func `checksums have their check values`(algorithm: ChecksumAlgorithm, value: String) {
        #expect(checksum(algorithm, Array("123456789".utf8)).value == value)
    }

    private struct CRCFile: Decodable {
        struct Value: Decodable {
            struct Input: Decodable {
                let kind: String
                let text: String?
            }
            let input: Input
            let crc64nvmeBase64: String
        }
        let values: [Value]
    }

    private func vectors<File: Decodable>(_ name: String) throws -> File {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Vectors/" + name)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(File.self, from: Data(contentsOf: path))
    }

    @Test func `CRC-64/NVME agrees with the vectors`() throws {
        let file: CRCFile = try vectors("crc64.json")
        var count = 0
        for value in file.values {
            guard let text = value.input.text else { continue }
            #expect(checksum(.crc64nvme, Array(text.utf8)).value == value.crc64nvmeBase64)
            count += 1
        }
        #expect(count >= 6)
    }

    @Test(arguments: [ChecksumAlgorithm.crc32, .crc32c, .crc64nvme])
    func `a CRC of the whole is combined from its parts`(algorithm: ChecksumAlgorithm) {
        let body = ramp(100_003)
        let cuts = [0, 1, 40_000, 40_000, 77_777, body.count]
        let parts = zip(cuts, cuts.dropFirst()).map { start, end in
            (
                checksum: Optional(checksum(algorithm, Array(body[start..<end]))),
                size: Int64(end - start)
            )
        }
        let whole = Checksum.ofWhole(algorithm, isComposite: false, parts: parts)
        #expect(whole == checksum(algorithm, body))
    }

    @Test func `parts without a checksum have none together`() {
        let known = checksum(.sha256, [1])
        let parts: [(checksum: Checksum?, size: Int64)] = [(known, 1), (nil, 1)]
        #expect(Checksum.ofWhole(.sha256, isComposite: true, parts: parts) == nil)
        #expect(Checksum.ofWhole(.sha256, isComposite: false, parts: [(known, 1)]) == nil)
        let one = Checksum.ofWhole(.sha256, isComposite: true, parts: [(known, 1)])
        #expect(one?.value.hasSuffix("-1") == true)
    }

    private struct TagFile: Decodable {
        struct Case: Decodable {
            let partMd5HexUpper: [String]
            let ossEtag: String
            let s3Etag: String
        }
        let cases: [Case]
    }

    @Test func `tags of parts are joined as each service does`() throws {
        let file: TagFile = try vectors("etag.json")
        #expect(file.cases.count == 4)
        for item in file.cases {
            let tags = item.partMd5HexUpper
            #expect("\"" + multipartETag(tags, in: .oss) + "\"" == item.ossEtag)
            let shown = Dialect.s3.etag(multipartETag(tags, in: .s3))
            #expect("\"" + shown + "\"" == item.s3Etag)
        }
    }

    @Test func `listings encode like forms`() {
        let encoded = formEncoded(Array("a b/+*~ü%20.txt".utf8))
        #expect(String(decoding: encoded, as: UTF8.self) == "a+b/%2B*%7E%C3%BC%2520.txt")
    }

    @Test func `storage classes have a name for each service`() {
        for name in ["STANDARD", "STANDARD_IA", "GLACIER", "DEEP_ARCHIVE", "GLACIER_IR"] {
            let stored = StorageClassNames.stored(name, in: .s3)
            #expect(stored.map { StorageClassNames.shown($0, in: .s3) } == name)
        }
        #expect(StorageClassNames.stored("GLACIER", in: .s3) == "Archive")
        #expect(StorageClassNames.stored("GLACIER", in: .oss) == nil)
    }
}
