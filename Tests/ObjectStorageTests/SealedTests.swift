import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

@Suite("Encrypted contents", .timeLimit(.minutes(10)), .enabled(if: usesLibcurl))
struct SealedTests {
    private static let cipher = cipher("correct horse\nbattery\n")

    private static func cipher(_ passwords: String) -> ContentCipher? {
        let password = try? EncryptionPassword([UInt8](passwords.utf8), source: "test")
        return password.flatMap { try? ContentCipher($0) }
    }

    private var cipher: ContentCipher {
        get throws { try #require(Self.cipher) }
    }

    private static let borders: [Int64] = [
        0, 1, 65_535, 65_536, 65_537, 131_072, 131_073, 200_000, 262_144, 262_145, 700_000,
    ]

    /// What an upload sends of a range of the object.
    private func sealed(
        _ content: [UInt8],
        _ range: ByteRange? = nil,
        token: String = "token"
    ) throws -> [UInt8] {
        let body = SealedBody(
            .bytes(content),
            plainSize: Int64(content.count),
            range: range,
            cipher: try cipher,
            nonce: try cipher.nonce(of: token, "key")
        )
        var bytes: [UInt8] = []
        try unsafe body.read { unsafe bytes.append(contentsOf: $0) }
        #expect(Int64(bytes.count) == body.range.length)
        return bytes
    }

    /// What a mirror reads of an object that is `stored`.
    private func read(
        _ stored: [UInt8],
        _ range: ByteRange? = nil,
        size: Int64,
        breaks: Int = 0,
        cipher: ContentCipher? = nil
    ) async throws -> [UInt8] {
        let fixture = try ClientFixture(attempts: breaks + 1) { request, index in
            index < breaks
                ? [objectResponse(stored, request, sending: 50_000), .close]
                : [objectResponse(stored, request)]
        }
        let store = SealedStore(fixture.client, try cipher ?? self.cipher)
        let sink = FileSink(holding: range?.length ?? size) { _ in }
        let request = GetRequest(
            key: "a",
            range: range,
            ifMatch: ETag(wire: "E"),
            totalSize: size
        )
        let metadata = try await store.get(request, into: sink)
        #expect(metadata.size == size)
        #expect(metadata.crc64 == nil)
        #expect(metadata.sealed?.size == Int64(stored.count))
        #expect(metadata.sealed?.crc64 == CRC64(of: stored))
        return sink.withHeldBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
        }
    }

    /// What a download reads that is told of nothing but the key.
    private func opened(
        _ stored: [UInt8],
        _ length: Int64?,
        breaks: Int = 0
    ) async throws -> [UInt8] {
        let fixture = try ClientFixture(attempts: breaks + 1) { request, index in
            index < breaks
                ? [objectResponse(stored, request, sending: 50_000), .close]
                : [objectResponse(stored, request)]
        }
        let store = SealedStore(fixture.client, try cipher)
        let sinks = Mutex<FileSink?>(nil)
        let request = GetRequest(
            key: "a",
            form: length.map { .bounded(ByteRange(offset: 0, length: $0)) },
            conditions: ReadConditions()
        )
        let metadata = try await store.open(request) { opened in
            #expect(opened.metadata.sealed?.size == Int64(stored.count))
            let sink = FileSink(holding: opened.range.length) { _ in }
            sinks.withLock { $0 = sink }
            return sink
        }
        #expect(metadata.size == SealedFormat.plainSize(of: Int64(stored.count)))
        let sink = try #require(sinks.withLock { $0 })
        return sink.withHeldBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
        }
    }

    @Test(arguments: borders.dropFirst(), [nil, 1, 65_536, 70_000, 1 << 20] as [Int64?])
    func `are opened by their names alone`(size: Int64, length: Int64?) async throws {
        let content = ramp(Int(size))
        let found = try await opened(try sealed(content), length)
        #expect(found == Array(content.prefix(Int(length ?? size))))
    }

    /// Buffers with room for a byte, part of a block, one or several.
    @Test(arguments: [1, 31, 1_000, 65_551, 65_552, 65_600, 131_104, 200_000])
    func `are the same in buffers of any size`(room: Int) throws {
        let content = ramp(300_000)
        let whole = try sealed(content)
        for range in [nil, ByteRange(offset: 70_000, length: 150_001)] {
            let body = SealedBody(
                .bytes(content),
                plainSize: 300_000,
                range: range,
                cipher: try cipher,
                nonce: try cipher.nonce(of: "token", "key")
            )
            let pass = SealedPass(body)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
            defer { unsafe buffer.deallocate() }
            var bytes: [UInt8] = []
            while bytes.count < Int(body.range.length) {
                let count = try unsafe pass.read(at: Int64(bytes.count), into: buffer)
                try #require(count > 0)
                unsafe bytes += buffer[..<count]
            }
            #expect(bytes == Array(whole[Int(body.range.offset)..<Int(body.range.end)]))
            // Of the blocks that begin in the range.
            let start = range == nil ? 0 : 131_072
            let end = range == nil ? 300_000 : 262_144
            #expect(body.plainContent.length == Int64(end - start))
            #expect(body.plainContent.checksum == CRC64(of: Array(content[start..<end])))
        }
    }

    @Test func `give what came before a block that was changed`() async throws {
        let content = ramp(700_000)
        for block in [0, 2, 3, 4, 10] {
            var damaged = try sealed(content)
            damaged[32 + block * 65_552 + 100] ^= 1
            let stored = damaged
            let fixture = try ClientFixture(attempts: 1) { request, _ in
                [objectResponse(stored, request)]
            }
            let store = SealedStore(fixture.client, try cipher)
            let sink = FileSink(holding: 700_000) { _ in }
            let request = GetRequest(key: "a", ifMatch: ETag(wire: "E"), totalSize: 700_000)
            let error = await #expect(throws: StorageError.self) {
                try await store.get(request, into: sink)
            }
            #expect(error?.kind == .integrity(.sealed(.damaged(block: Int64(block)))))
            let given = sink.withHeldBytes { bytes in
                unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
            }
            #expect(given == Array(content.prefix(block * 65_536)))
        }
    }

    @Test func `that are opened go on after a break`() async throws {
        let content = ramp(200_000)
        let found = try await opened(try sealed(content), 150_000, breaks: 2)
        #expect(found == Array(content.prefix(150_000)))
    }

    @Test func `that are opened give nothing of what was changed, or is not encrypted`()
        async throws
    {
        var damaged = try sealed(ramp(200_000))
        damaged[70_000] ^= 1
        let objects = [(damaged, SealedFailure.damaged(block: 1)), (ramp(1_000), .notEncrypted)]
        for (stored, failure) in objects + [(ramp(40), .notEncrypted)] {
            let error = await #expect(throws: StorageError.self) {
                try await opened(stored, 100_000)
            }
            #expect(error?.kind == .integrity(.sealed(failure)))
        }
        let error = await #expect(throws: StorageError.self) { try await opened(sealed([]), 10) }
        #expect(error?.isRangeNotSatisfiable == true)
    }

    @Test(arguments: borders)
    func `have the sizes of rclone's`(size: Int64) {
        let blocks = (size + 65_535) / 65_536
        let stored = SealedFormat.storedSize(of: size)
        #expect(stored == 32 + size + 16 * blocks)
        #expect(SealedFormat.plainSize(of: stored) == size)
        #expect(SealedFormat.plainLength(inFirst: stored) == size)
    }

    @Test(arguments: [0, 1, 31, 33, 48, 65_552 + 32 + 1, 65_552 + 32 + 16] as [Int64])
    func `never have a size of half a block`(stored: Int64) {
        #expect(SealedFormat.plainSize(of: stored) == nil)
    }

    @Test func `of any size that a server may say are no mistake`() {
        let sizes: [Int64] = [.max, .max - 1, .max - 17]
        for stored in sizes {
            if let size = SealedFormat.plainSize(of: stored) {
                #expect(SealedFormat.storedSize(of: size) == stored)
            }
        }
    }

    // Written by rclone 1.6 and later, with the password "correct horse".
    @Test(
        arguments: [
            (
                "correct horse\n",
                "52434c4f4e450000c7acfab9965ebc452e470bc595aeecce29bb2c1ead304d61555282397e3f6f22"
                    + "26bc1d5400de6b882b9cf092c6db6af9aa41bfc9"
            ),
            (
                "correct horse\r\nbattery",
                "52434c4f4e4500000fddc6f38f546e7555d1fa770ac9207c5f71fb6033fcaf3d0f35d9184b8bcfea"
                    + "2b65aa1f850b9b18a084c1d1a3b04f2019ff84ad"
            ),
        ]
    )
    func `are read as rclone wrote them`(passwords: String, object: String) async throws {
        let digits = Array(object)
        let stored = try stride(from: 0, to: digits.count, by: 2).map { index in
            try #require(UInt8(String(digits[index...(index + 1)]), radix: 16))
        }
        let cipher = try #require(Self.cipher(passwords))
        let content = try await read(stored, size: 12, cipher: cipher)
        #expect(content == [UInt8]("hello, world".utf8))
    }

    @Test(arguments: borders.dropFirst())
    func `come back as they were sent`(size: Int64) async throws {
        let content = ramp(Int(size))
        #expect(try await read(try sealed(content), size: size) == content)
    }

    @Test(
        arguments: [(0, 1), (0, 65_536), (1, 65_536), (65_535, 2), (65_536, 65_536), (199_999, 1)]
    )
    func `are read in any range`(offset: Int64, length: Int64) async throws {
        let content = ramp(200_000)
        let range = ByteRange(offset: offset, length: length)
        let found = try await read(try sealed(content), range, size: 200_000)
        #expect(found == Array(content[Int(offset)..<Int(offset + length)]))
    }

    @Test func `go on after a break, also within a block`() async throws {
        // In the first blocks, and with some on their way.
        for (size, breaks) in [(200_000, 3), (700_000, 13)] {
            let content = ramp(size)
            let stored = try sealed(content)
            #expect(try await read(stored, size: Int64(size), breaks: breaks) == content)
        }
    }

    @Test(arguments: [1, 31, 32, 33, 5_000, 65_584, 65_600, 100_000])
    func `are the same in parts of any size`(partSize: Int) throws {
        let content = ramp(200_000)
        let whole = try sealed(content)
        var parts: [UInt8] = []
        while parts.count < min(whole.count, 400_000), parts.count / partSize < 50 {
            let length = min(partSize, whole.count - parts.count)
            parts += try sealed(
                content,
                ByteRange(offset: Int64(parts.count), length: Int64(length))
            )
        }
        #expect(parts.elementsEqual(whole.prefix(parts.count)))
    }

    @Test func `of two uploads have nothing in common`() throws {
        let content = [UInt8](repeating: 0, count: 70_000)
        let (one, other) = (try sealed(content, token: "one"), try sealed(content, token: "two"))
        #expect(one[8..<32] != other[8..<32])
        #expect(one[48..<64] != other[48..<64])
        #expect(one[48..<64] != one[65_600..<65_616])
    }

    @Test func `name the block that was changed, and give nothing of it`() async throws {
        let content = ramp(200_000)
        let whole = try sealed(content)
        for (byte, block) in [(32, 0), (60, 0), (8, 0), (65_584, 1), (140_000, 2)] {
            var stored = whole
            stored[byte] ^= 1
            let error = await #expect(throws: StorageError.self) {
                try await read(stored, size: 200_000)
            }
            #expect(error?.kind == .integrity(.sealed(.damaged(block: Int64(block)))))
        }
    }

    @Test func `are not made of blocks that changed places, or of another object's`() async throws {
        let content = ramp(200_000)
        let whole = try sealed(content)
        let (first, second) = (whole[32..<65_584], whole[65_584..<131_136])
        let exchanged = Array(whole[..<32]) + second + first + whole[131_136...]
        let other = try sealed(content, token: "other")
        let mixed = Array(whole[..<65_584]) + other[65_584...]
        for (stored, block) in [(exchanged, 0), (mixed, 1)] {
            let error = await #expect(throws: StorageError.self) {
                try await read(stored, size: 200_000)
            }
            #expect(error?.kind == .integrity(.sealed(.damaged(block: Int64(block)))))
        }
    }

    @Test func `are not read with another password`() async throws {
        let stored = try sealed(ramp(100))
        let other = try #require(Self.cipher("correct horse\n"))
        let own = try cipher.check
        #expect(other.check != own)
        let error = await #expect(throws: StorageError.self) {
            try await read(stored, size: 100, cipher: other)
        }
        #expect(error?.kind == .integrity(.sealed(.damaged(block: 0))))
    }

    @Test func `are told from an object that is not encrypted`() async throws {
        let error = await #expect(throws: StorageError.self) {
            try await read(ramp(148), size: 100)
        }
        #expect(error?.kind == .integrity(.sealed(.notEncrypted)))
    }

    @Test(arguments: [0, 100] as [Int64])
    func `that a link leads to have the size of their file`(size: Int64) async throws {
        let stored = try sealed(ramp(Int(size)))
        let fixture = try ClientFixture { request, _ in
            guard request.method == "HEAD" else { return [objectResponse(stored, request)] }
            return [
                .text(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(stored.count)\r\nETag: \"E\"\r\n"
                        + "x-oss-object-type: Symlink\r\n\r\n"
                )
            ]
        }
        let found = try await SealedStore(fixture.client, try cipher).head("a", versionID: nil)
        #expect((found.size, found.kind) == (size, .symlink))
    }

    @Test func `of a file that changed are not encrypted under the nonce of the first`() throws {
        let content = ramp(100_000)
        let file = ScratchFile(content)
        let size = Int64(content.count)
        let whole = ByteRange(offset: 0, length: size)
        let body = SealedBody(
            .file(FileRegion(descriptor: file.descriptor, range: whole), isSame: { true }),
            plainSize: size,
            cipher: try cipher,
            nonce: try cipher.nonce(of: "token", "key")
        )
        let first = try body.checksum()
        #expect(try body.checksum() == first)
        #expect(body.plainContent.checksum == CRC64(of: content))
        file.write([1, 2, 3], at: 70_000)
        #expect(throws: TransportError.sourceChanged) { try body.checksum() }
    }

    @Test func `have numbers added to their nonce with all carries`() {
        var bytes = [UInt8](repeating: 0xFF, count: 24)
        bytes[23] = 0
        let sum = SealedNonce(bytes: bytes).ofBlock(1).bytes
        #expect(sum == [UInt8](repeating: 0, count: 23) + [1])
        let small = SealedNonce(bytes: [0xFE] + [UInt8](repeating: 0, count: 23))
        #expect(small.ofBlock(0x1_03).bytes.prefix(3) == [0x01, 0x02, 0])
    }

    @Test(arguments: ["", "\nsecond\n", "one\ntwo\nthree\n"])
    func `need a password in the first line, and one in the second at most`(text: String) {
        #expect(throws: CredentialsError.self) {
            try EncryptionPassword([UInt8](text.utf8), source: "test")
        }
    }
}
