import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer

@Suite("Streams of bytes")
struct StreamTests {
    @Test(arguments: [
        (Int64(8 << 20), Int64(102_400)), (102_400, 102_400), (1, 5 << 20), (5 << 30, 102_400),
        (1 << 30, 5 << 20),
    ])
    func `parts that grow reach the largest object`(preferred: Int64, minimum: Int64) {
        let sizes = GrowingParts(preferred: preferred, minimum: minimum)
        let all = (0..<PartLayout.maximumPartCount).map { Int64(sizes.size(ofPartAt: $0)) }
        #expect(Set(all.prefix(1_000)) == [max(preferred, minimum)])
        #expect(zip(all, all.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(all.reduce(0, +) >= 5 << 40)
        #expect(all.allSatisfy { $0 <= PartLayout.maximumPartSize })
        // Two of them fit into the memory of most machines.
        if preferred <= 8 << 20 { #expect(all[9_999] < 5 << 28) }
    }

    @Test func `a store that takes parts of one size gets no others`() throws {
        let sizes = try GrowingParts(length: nil, preferred: 8 << 20, .s3(.r2))
        #expect([0, 999, 1_000, 9_999].allSatisfy { sizes.size(ofPartAt: $0) == 8 << 20 })
        #expect(sizes.capacity == Int64(8 << 20) * 10_000)
        let others = try GrowingParts(length: nil, preferred: 8 << 20, .s3(.minio))
        #expect(others.size(ofPartAt: 9_999) > 8 << 20 && others.capacity == 5 << 40)
    }

    private func metadata(_ size: Int, etag: String, crc64: CRC64? = nil) -> ObjectMetadata {
        ObjectMetadata(size: Int64(size), etag: ETag(wire: etag), crc64: crc64)
    }

    /// What a proof says after pieces of these lengths.
    private func result(
        _ metadata: ObjectMetadata,
        _ bytes: [UInt8],
        pieces: [Int],
        partSize: Int64 = 4
    ) -> DigestResult {
        var proof = StreamProof(metadata, partSize: partSize)
        var start = 0
        for length in pieces {
            let piece = Array(bytes[start..<start + length])
            unsafe proof.update(piece.span.bytes, CRC64(of: piece))
            start += length
        }
        #expect(proof.checksum == CRC64(of: bytes))
        return proof.finish()
    }

    @Test func `content is compared with a CRC-64, an MD5 or the tag of parts`() {
        let bytes = Array("123456789".utf8)
        let right = metadata(9, etag: "x", crc64: CRC64(of: bytes))
        #expect(result(right, bytes, pieces: [4, 4, 1]) == .proven)
        let wrong = metadata(9, etag: "x", crc64: CRC64(of: [1]))
        #expect(result(wrong, bytes, pieces: [9]) == .contentMismatch(isSure: true))
        let digest = metadata(9, etag: "25f9e794323b453885f5181f1b624d0b")
        #expect(result(digest, bytes, pieces: [2, 7]) == .proven)
        let other = metadata(9, etag: "25f9e794323b453885f5181f1b624d0c")
        #expect(result(other, bytes, pieces: [2, 7]) == .contentMismatch(isSure: false))
        #expect(result(metadata(9, etag: "x"), bytes, pieces: [9]) == .unknown)
        let empty = metadata(0, etag: "d41d8cd98f00b204e9800998ecf8427e")
        #expect(result(empty, [], pieces: []) == .proven)
        // Parts of four bytes, over pieces that end elsewhere.
        let digests = [Array(bytes[0..<4]), Array(bytes[4..<8]), Array(bytes[8...])]
            .flatMap { Digest.md5($0) }
        let tag = MultipartETag.tag(ofDigests: digests).text
        #expect(result(metadata(9, etag: tag), bytes, pieces: [3, 3, 3]) == .proven)
        #expect(result(metadata(9, etag: tag), bytes, pieces: [9], partSize: 3) == .unknown)
    }

    /// An object in parts of six bytes, with the CRC-32 of those of its parts.
    private func composite(_ bytes: [UInt8], partSize: Int = 6) -> ObjectMetadata {
        var checksums: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: partSize) {
            checksums += checksum(Array(bytes[start..<min(start + partSize, bytes.count)]))
        }
        let count = checksums.count / 4
        var object = metadata(bytes.count, etag: "x")
        object.partChecksums = ["crc32": "\(Base64.encode(checksum(checksums)))-\(count)"]
        return object
    }

    private func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var digest = PieceDigest(.crc32)
        unsafe digest.update(bytes.span.bytes)
        return digest.finish()
    }

    @Test func `parts of another size than was guessed leave the digest of the whole`() {
        let bytes = Array("123456789".utf8)
        let damaged = Array("123456788".utf8)
        var object = composite(bytes)
        #expect(result(object, bytes, pieces: [4, 5], partSize: 6) == .proven)
        #expect(result(object, bytes, pieces: [4, 5], partSize: 5) == .unknown)
        object.userMetadata["md5chksum"] = Base64.encode(Digest.md5(bytes))
        for guess in [5, 6] as [Int64] {
            #expect(result(object, bytes, pieces: [4, 5], partSize: guess) == .proven)
            #expect(
                result(object, damaged, pieces: [4, 5], partSize: guess)
                    == .contentMismatch(isSure: false)
            )
        }
        // A tool that replaces content may keep the metadata.
        object.userMetadata["md5chksum"] = Base64.encode(Digest.md5(damaged))
        #expect(result(object, bytes, pieces: [9], partSize: 6) == .proven)
        object.userMetadata = [:]
        object.etag = ETag(wire: hexadecimalText(Digest.md5(bytes)))
        #expect(result(object, bytes, pieces: [9], partSize: 5) == .proven)
        #expect(
            result(object, damaged, pieces: [9], partSize: 5) == .contentMismatch(isSure: false)
        )
    }

    @Test func `a checksum of parts whose size is known shows damage`() {
        let bytes = Array("123456789".utf8)
        let damaged = Array("123456788".utf8)
        var told = composite(bytes)
        told.partSize = 6
        for object in [told, composite(bytes, partSize: 9)] {
            #expect(result(object, bytes, pieces: [4, 5]) == .proven)
            #expect(result(object, damaged, pieces: [9]) == .contentMismatch(isSure: false))
        }
    }
}
