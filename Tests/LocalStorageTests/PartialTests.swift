import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Temporary files")
struct PartialTests {
    let temporary: TemporaryDirectory
    let mirror: MirrorDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        mirror = try temporary.mirror()
    }

    private func place(_ name: String) -> String { ".osssync/partial/" + name }

    @Test func `a new one has its size, a random name and no other reader`() throws {
        let (name, file) = try mirror.partials.create(size: 100_000)
        #expect(try file.identity().size == 100_000)
        #expect(try temporary.permissions(place(name)) == 0o600)
        #expect(try temporary.permissions(".osssync/partial") == 0o700)
        #expect(try temporary.permissions(".osssync") == 0o700)
        #expect(try temporary.status(place(name)).st_blocks * 512 >= 100_000)
        let other = try mirror.partials.create(size: 0).name
        #expect(other != name)
        #expect(Set(try mirror.partials.names()) == [name, other])
        #expect(PartialName(name) != nil)
    }

    @Test func `nobody can guess a name from those before it`() throws {
        let names = try (0..<64).map { _ in try mirror.partials.create(size: 0).name }
        // By chance a digit stands still over 64 names once in 16^63 times.
        for position in 0..<32 {
            let digits = Set(names.map { [UInt8]($0.utf8)[position] })
            #expect(digits.count > 1, "the digit at \(position) is always the same")
        }
    }

    @Test func `a new file is never one that somebody put there`() throws {
        try temporary.write("f", "precious")
        try temporary.makeHardLink("second", to: "f")
        let root = mirror.root
        for name in ["f", "second"] {
            let error = #expect(throws: LocalError.self) {
                try root.calls.open(
                    at: root.descriptor,
                    PathBytes(name.utf8),
                    flags: SystemCalls.creationFlags,
                    mode: 0o600
                )
            }
            #expect(error?.errno == EEXIST)
        }
        #expect(temporary.read("f") == "precious")
    }

    @Test func `one is opened again with what was written`() throws {
        let (name, file) = try mirror.partials.create(size: 10)
        try file.write([1, 2, 3], at: 4)
        let again = try #require(try mirror.partials.open(name, expectedSize: 10))
        #expect(try again.read(at: 0, length: 20) == [0, 0, 0, 0, 1, 2, 3, 0, 0, 0])
        #expect(try mirror.partials.open(name, expectedSize: nil) != nil)
    }

    @Test func `what is not ours any more is not opened`() throws {
        let name = try mirror.partial("12345")
        #expect(try mirror.partials.open(name, expectedSize: 6) == nil)
        try temporary.makeHardLink("second", to: place(name))
        #expect(try mirror.partials.open(name, expectedSize: 5) == nil)
        try temporary.remove(place(name))
        #expect(try mirror.partials.open(name, expectedSize: 5) == nil)
        try temporary.makeLink(place(name), to: "../../second")
        #expect(try mirror.partials.open(name, expectedSize: 5) == nil)
        try mirror.partials.remove(name)
        try temporary.makeFIFO(place(name))
        #expect(try mirror.partials.open(name, expectedSize: nil) == nil)
        try mirror.partials.remove(name)
        try temporary.makeDirectory(place(name))
        #expect(try mirror.partials.open(name, expectedSize: nil) == nil)
        #expect(temporary.read("second") == "12345")
    }

    @Test(arguments: [
        "", "x", "../../f", "0123456789abcdef0123456789abcdeF", "0123456789abcdef0123456789abcde/",
        "0123456789abcdef0123456789abcdef0",
    ])
    func `a stored name that is none of ours is no path`(name: String) throws {
        try temporary.write("f", "x")
        #expect(try mirror.partials.open(name, expectedSize: nil) == nil)
        try mirror.partials.remove(name)
        #expect(temporary.read("f") == "x")
    }

    @Test func `removing one that is gone is no error`() throws {
        let name = try mirror.partial("x")
        try mirror.partials.remove(name)
        try mirror.partials.remove(name)
        #expect(try mirror.partials.names().isEmpty)
    }

    @Test func `foreign names are not listed`() throws {
        let name = try mirror.partial("x")
        try temporary.write(place("probe-x"), "x")
        try temporary.write([UInt8](place("").utf8) + [0xFF], [])
        #expect(try mirror.partials.names() == [name])
    }

    @Test func `a checksum is that of the bytes on disk`() throws {
        let bytes = (0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 % 251) }
        let (_, file) = try mirror.partials.create(size: Int64(bytes.count))
        try file.write(bytes, at: 0)
        let whole = ByteRange(offset: 0, length: Int64(bytes.count))
        #expect(try file.checksum(of: whole) == CRC64(of: bytes))
        let middle = ByteRange(offset: 1_000_003, length: 1_500_000)
        let expected = CRC64(of: [UInt8](bytes[1_000_003..<2_500_003]))
        #expect(try file.checksum(of: middle) == expected)
        #expect(try file.checksum(of: ByteRange(offset: 5, length: 0)) == CRC64())
        let beyond = ByteRange(offset: 3_000_000, length: 2)
        #expect(throws: LocalError.sizeChanged(path: file.name, expected: 3_000_002)) {
            try file.checksum(of: beyond)
        }
    }

    @Test func `a copy has the content and the checksum of its source`() throws {
        let bytes = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 % 241) }
        try temporary.write([UInt8]("source".utf8), bytes)
        let source = try mirror.openForReading(try relative("source"))
        let (_, copy) = try mirror.partials.create(size: Int64(bytes.count))
        let checksum = try mirror.partials.copyContents(
            of: source,
            intoPartial: copy,
            size: Int64(bytes.count)
        )
        #expect(checksum == nil || checksum == CRC64(of: bytes))
        #expect(try copy.read(at: 0, length: 3_000_000) == bytes)
    }

    @Test(arguments: [4, 6] as [Int64])
    func `a source of another size is not copied`(size: Int64) throws {
        try temporary.write("source", "12345")
        let source = try mirror.openForReading(try relative("source"))
        let (_, copy) = try mirror.partials.create(size: size)
        #expect(throws: LocalError.sizeChanged(path: "source", expected: size)) {
            try mirror.partials.copyContents(of: source, intoPartial: copy, size: size)
        }
    }

    @Test func `an empty file is copied`() throws {
        try temporary.write("source", "")
        let source = try mirror.openForReading(try relative("source"))
        let (_, copy) = try mirror.partials.create(size: 0)
        #expect(try mirror.partials.copyContents(of: source, intoPartial: copy, size: 0) == CRC64())
    }

    @Test func `short reads and writes are carried on`() throws {
        let mirror = try temporary.mirror(
            failing: .init(.shorten(bytes: 7), at: 1, of: ["pread", "pwrite"])
        )
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 % 199) }
        let (_, file) = try mirror.partials.create(size: 1000)
        try file.write(bytes, at: 0)
        #expect(try file.read(at: 0, length: 2000) == bytes)
        let range = ByteRange(offset: 0, length: 1000)
        #expect(try file.checksum(of: range) == CRC64(of: bytes))
        let (_, copy) = try mirror.partials.create(size: 1000)
        let checksum = try mirror.partials.copyContents(of: file, intoPartial: copy, size: 1000)
        #expect(checksum == nil || checksum == CRC64(of: bytes))
        #expect(try copy.read(at: 0, length: 2000) == bytes)
    }

    @Test func `an interrupted call is made again`() throws {
        // Every call of a whole publication is interrupted, one at a time.
        for number in 1...60 {
            let mirror = try temporary.mirror(
                failing: .init(.fail(errno: EINTR), at: number, of: [])
            )
            let group = [try mirror.publication("x", at: "d\(number)/f", expecting: .absent)]
            let outcomes = try mirror.publish(group, durability: .synchronized)
            let identity = try mirror.fileIdentity("d\(number)/f")
            #expect(outcomes == [.published(identity, keptAs: nil)])
        }
    }

    @Test func `a mirror knows its disk`() throws {
        #expect(try mirror.freeBytes() > 0)
        #expect(try mirror.stateIsOnNetworkFileSystem() == false)
        #expect(mirror.bootID.utf8.count == 36)
    }
}
