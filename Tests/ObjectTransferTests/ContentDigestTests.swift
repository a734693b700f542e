import Foundation
import LocalStorage
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer

@Suite("Proofs of content")
struct ContentDigestTests {
    private func metadata(
        etag: String,
        size: Int64 = 20 << 20,
        checksums: [String: String] = [:],
        isEncrypted: Bool = false,
        userMetadata: [String: String] = [:]
    ) -> ObjectMetadata {
        ObjectMetadata(
            size: size,
            etag: ETag(wire: etag),
            checksums: checksums,
            isEncrypted: isEncrypted,
            userMetadata: userMetadata
        )
    }

    private let digest = "5d41402abc4b2a76b9719d911017c592"

    @Test func `a tag of parts is the digest of digests`() {
        // Two parts of "hello".
        let part = ETag(wire: "\"5D41402ABC4B2A76B9719D911017C592\"")
        let tag = MultipartETag.tag(ofParts: [part, part])
        #expect(tag?.text == "616b22817b80eed9f65c3aa38cd29054-2")
        #expect(MultipartETag.tag(ofParts: [part, ETag(wire: "x")]) == nil)
        #expect(tag.flatMap { MultipartETag.partCount(of: $0) } == 2)
        #expect(MultipartETag.partCount(of: part) == nil)
        #expect(MultipartETag.partCount(of: ETag(wire: digest + "-0")) == nil)
        #expect(MultipartETag.partCount(of: ETag(wire: digest + "-2-2")) == nil)
    }

    @Test func `the surest proof comes first`() {
        let own: Int64 = 8 << 20
        let nvme = metadata(etag: digest, checksums: ["crc64nvme": "rosUhgp5mIg="])
        #expect(
            ContentDigest.all(of: nvme, partSize: own)
                == [.checksum(.crc64nvme, [0xAE, 0x8B, 0x14, 0x86, 0x0A, 0x79, 0x98, 0x88])]
        )
        let several = ["crc32": "y/Q5Jg==", "crc32c": "4waSgw==", "sha256": "AAAA"]
        #expect(
            ContentDigest.all(of: metadata(etag: digest, checksums: several), partSize: own)
                == [.checksum(.crc32c, [0xE3, 0x06, 0x92, 0x83])],
            "a value of another length than its function's is none"
        )
        #expect(ContentDigest.all(of: metadata(etag: digest), partSize: own) == [.md5(digest)])
        let noted = metadata(
            etag: "\(digest)-4",
            userMetadata: ["md5chksum": "XUFAKrxLKna5cZ2REBfFkg=="]
        )
        #expect(ContentDigest.all(of: noted, partSize: own) == [.md5(digest)])
        let encrypted = metadata(etag: digest, isEncrypted: true)
        #expect(ContentDigest.all(of: encrypted, partSize: own).isEmpty)
        #expect(ContentDigest.all(of: metadata(etag: "opaque"), partSize: own).isEmpty)
    }

    @Test func `the part sizes of common tools are tried`() {
        let tag = ETag(wire: "\(digest)-4")
        #expect(
            ContentDigest.all(of: metadata(etag: tag.text), partSize: 6 << 20)
                == [.parts(tag, partSize: 6 << 20), .parts(tag, partSize: 5 << 20)]
        )
    }

    @Test func `what parts' checksums became comes before MD5s`() {
        let tag = ETag(wire: "\(digest)-3")
        var object = metadata(etag: tag.text, size: 24 << 20)
        object.partChecksums = ["crc32c": "4waSgw==-3", "sha1": "short-3"]
        let value: [UInt8] = [0xE3, 0x06, 0x92, 0x83]
        #expect(ContentDigest.needsPartSize(object))
        let sizes: [Int64] = [8 << 20, 10 << 20]
        let tags = sizes.map { ContentDigest.parts(tag, partSize: $0) }
        #expect(
            ContentDigest.all(of: object, partSize: 8 << 20)
                == sizes.map { .composite(.crc32c, value, partSize: $0) } + tags
        )
        object.partSize = 9 << 20
        #expect(!ContentDigest.needsPartSize(object))
        #expect(
            ContentDigest.all(of: object, partSize: 8 << 20) == [
                .composite(.crc32c, value, partSize: 9 << 20), .parts(tag, partSize: 9 << 20),
            ],
            "the store knows the size"
        )
        object.partSize = 5 << 20
        #expect(
            ContentDigest.all(of: object, partSize: 8 << 20).isEmpty,
            "parts of which the first has 5 MiB and that are three differ in size"
        )
        object.partSize = nil
        for odd in ["4waSgw==-0", "4waSgw==-", "4waSgw==-3-3", "4waSgw==", "-3", "4waSgw==-20000"] {
            object.partChecksums = ["crc32c": odd]
            #expect(ContentDigest.all(of: object, partSize: 8 << 20) == tags)
        }
        object.crc64 = CRC64()
        #expect(!ContentDigest.needsPartSize(object))
    }

    /// Of the text "123456789".
    @Test(arguments: [
        (ObjectChecksum.sha256, "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="),
        (.crc64nvme, "rosUhgp5mIg="), (.sha1, "98O8HYCOBHMq32eZZczDTKeuNEE="),
        (.crc32c, "4waSgw=="), (.crc32, "y/Q5Jg=="),
    ])
    func `a file is held against every checksum of the store`(
        kind: ObjectChecksum,
        value: String
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-proof-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("123456789".utf8).write(to: folder.appendingPathComponent("file"))
        let directory = try MirrorDirectory(
            path: folder.path,
            stateDirectory: nil,
            homeDirectory: nil,
            createsIfMissing: true,
            calls: .standard
        )
        let file = try directory.openForReading(RelativePath(key: "file"))
        let right = ObjectMetadata(size: 9, etag: nil, checksums: [kind.rawValue: value])
        let digest = try #require(ContentDigest.all(of: right, partSize: 8 << 20).first)
        #expect(digest.isConclusive)
        #expect(try digest.matches(file, size: 9, unless: nil))
        #expect(try !digest.matches(file, size: 8, unless: nil))
    }

    /// Parts that end within ranges, ranges that end within parts, and one digest for all.
    @Test(arguments: [3, 8, 20, 100] as [Int64])
    func `a proof is computed while ranges arrive, and reads each byte once`(partSize: Int64) {
        let content = (0..<100).map { UInt8(truncatingIfNeeded: $0 * 7) }
        var generator = SystemRandomNumberGenerator()
        var digests: [UInt8] = []
        for start in stride(from: 0, to: 100, by: Int(partSize)) {
            digests += Digest.md5([UInt8](content[start..<min(start + Int(partSize), 100)]))
        }
        var checksums: [UInt8] = []
        for start in stride(from: 0, to: 100, by: Int(partSize)) {
            var checksum = PieceDigest(.crc32c)
            let part = [UInt8](content[start..<min(start + Int(partSize), 100)])
            unsafe checksum.update(part.span.bytes)
            checksums += checksum.finish()
        }
        var whole = PieceDigest(.crc32c)
        unsafe whole.update(checksums.span.bytes)
        let proofs: [ContentDigest] = [
            partSize < 100
                ? .parts(MultipartETag.tag(ofDigests: digests), partSize: partSize)
                : .md5(hexadecimalText(digests)),
            .composite(.crc32c, whole.finish(), partSize: partSize),
        ]
        let damages: [Int?] = [nil, 99]
        for (digest, damage) in proofs.flatMap({ proof in damages.map { (proof, $0) } }) {
            var content = content
            if let damage { content[damage] ^= 1 }
            var ranges = DownloadState.cut(100, rangeSize: 8)
            // What an earlier run left.
            ranges[1].received = ranges[1].range.length
            guard var progress = DigestProgress(digest, size: 100, ranges: ranges) else {
                Issue.record("ranges are missing")
                return
            }
            var waiting = progress.begin()
            var arriving = ranges.indices.filter { $0 != 1 }.shuffled(using: &generator)
            var readBytes: Int64 = 0
            while !waiting.isEmpty || !arriving.isEmpty {
                if !arriving.isEmpty, waiting.isEmpty || Bool.random(using: &generator) {
                    waiting += progress.arrived(arriving.removeLast())
                    continue
                }
                #expect(progress.result == nil)
                let job = waiting.remove(at: Int.random(in: waiting.indices, using: &generator))
                readBytes += job.range.length
                let bytes = [UInt8](content[Int(job.range.offset)..<Int(job.range.end)])
                unsafe job.update(bytes.span.bytes)
                if let next = progress.finished(job) { waiting.append(next) }
            }
            #expect(progress.runningCount == 0)
            #expect(readBytes == 100)
            #expect(progress.result?.matches == (damage == nil))
        }
    }

    @Test func `an object that is whole already is digested at once`() throws {
        let content = (0..<100).map { UInt8($0) }
        let digests = stride(from: 0, to: 100, by: 40).flatMap { start in
            Digest.md5(Array(content[start..<min(start + 40, 100)]))
        }
        let proof = ContentDigest.parts(MultipartETag.tag(ofDigests: digests), partSize: 40)
        var progress = try #require(DigestProgress(proof, size: 100, ranges: nil))
        let jobs = progress.begin()
        #expect(jobs.map(\.range.length) == [40, 40, 20])
        for job in jobs {
            #expect(progress.result == nil)
            let bytes = [UInt8](content[Int(job.range.offset)..<Int(job.range.end)])
            unsafe job.update(bytes.span.bytes)
            #expect(progress.finished(job) == nil)
        }
        #expect(progress.result?.matches == true)
    }

    @Test func `content that was disproved is fetched once more`() {
        var state = DownloadState(rangeSize: 10, streamLimit: 1)
        let object = PinnedObject(etag: ETag(wire: "A"), size: 10, crc64: nil)
        _ = state.start(object)
        let checksum = CRC64(value: 5)
        #expect(state.contentMismatch(object).isEmpty)
        #expect(state.finishedRange(0, checksum: checksum) == [.finish(object, checksum: checksum)])
        #expect(state.contentMismatch(object).first == .begin(object))
        #expect(state.finishedRange(0, checksum: checksum) == [.finish(object, checksum: checksum)])
        #expect(state.contentMismatch(object) == [.fail(.contentMismatch, keepsCheckpoint: false)])
    }
}
