import SyncModel
import Synchronization

@testable import ManifestStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A state directory of its own for one test, removed afterwards.
@safe final class StateDirectory: Sendable {
    struct Failure: Error {
        let call: String
        let errno: Int32
    }

    let path: String

    init() throws {
        let template =
            (unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp")
            + "/osssync-manifest-XXXXXX"
        var bytes = Array(template.utf8CString)
        let made = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe mkdtemp($0) != nil } ?? false
        }
        guard made else { throw Failure(call: "mkdtemp", errno: errno) }
        path = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names where unsafe unlink(path + "/" + name) != 0 {
            unsafe rmdir(path + "/" + name)
        }
        unsafe rmdir(path)
    }

    /// The names in the directory, in byte order.
    var names: [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { buffer in
                unsafe String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    var databasePath: String { path + "/manifest.db" }

    func open(
        writeAheadLog: Bool = true,
        smallestSearchable: Int64 = 0,
        schema: Schema = .current
    ) async throws -> (store: ManifestStore, outcome: OpenOutcome) {
        try await ManifestStore.open(
            ManifestOpening(
                files: ManifestFiles(directory: path),
                schema: schema,
                usesWriteAheadLog: writeAheadLog
            ),
            now: Timestamp(seconds: 1_767_323_045),
            threads: .system,
            smallestSearchable: smallestSearchable
        )
    }

    /// The store alone, where the outcome is not of interest.
    func store() async throws -> ManifestStore { try await open().store }

    func read(_ name: String) throws -> [UInt8] {
        let file = unsafe fopen(path + "/" + name, "rb")
        guard let file = unsafe file else { throw Failure(call: "fopen", errno: errno) }
        defer { unsafe fclose(file) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return result }
            result += buffer[..<count]
        }
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        let file = unsafe fopen(path + "/" + name, "wb")
        guard let file = unsafe file else { throw Failure(call: "fopen", errno: errno) }
        let written = unsafe fwrite(bytes, 1, bytes.count, file)
        guard unsafe fclose(file) == 0, written == bytes.count else {
            throw Failure(call: "fwrite", errno: errno)
        }
    }

    /// Runs `body` with a connection of its own to the closed database.
    func edit(_ body: (Connection) throws -> Void) throws {
        try body(try Connection(path: databasePath, mode: .readWrite))
    }
}

/// Values with every field set, so that a swapped column shows.
enum Sample {
    static func entry(
        _ key: ObjectKey,
        size: Int64 = 1_000,
        etag: String = "0CC175B9C0F1B6A831C399E269772661",
        inode: UInt64 = 77
    ) -> ManifestEntry {
        ManifestEntry(
            key: key,
            size: size,
            etag: ETag(wire: etag),
            crc64: CRC64(value: 0x8000_0000_0000_0001),
            lastModified: Timestamp(seconds: 1_700_000_000, nanoseconds: 5_000_000),
            storageClass: StorageClass(name: "IA"),
            localModified: Timestamp(seconds: 1_600_000_000, nanoseconds: 999_999_999),
            inode: inode
        )
    }

    static func range(
        _ index: Int,
        received: Int64 = 10,
        bootID: String = "boot-1"
    ) -> RangeProgress {
        RangeProgress(
            index: index,
            range: ByteRange(offset: Int64(index) * 100, length: 100),
            received: received,
            checksum: CRC64(value: UInt64.max - UInt64(index)),
            bootID: bootID
        )
    }

    static func download(
        _ key: ObjectKey,
        partialName: String = "p1",
        ranges: [RangeProgress] = [range(0), range(1, received: 0)]
    ) -> DownloadCheckpoint {
        DownloadCheckpoint(
            key: key,
            size: 250,
            etag: ETag(wire: "abc-2"),
            crc64: CRC64(value: 42),
            partialName: partialName,
            rangeSize: 100,
            ranges: ranges
        )
    }

    static let source = FileIdentity(
        size: 5_000,
        modified: Timestamp(seconds: -5, nanoseconds: 1),
        changed: Timestamp(seconds: 7, nanoseconds: 2),
        inode: UInt64.max,
        device: 3
    )

    static func upload(
        _ key: ObjectKey,
        uploadID: String? = "upload-1",
        token: String = "token-1",
        parts: [UploadedPart] = []
    ) -> UploadCheckpoint {
        UploadCheckpoint(
            key: key,
            uploadID: uploadID.map { UploadID($0) },
            partSize: 102_400,
            source: source,
            token: token,
            started: Timestamp(seconds: 1_750_000_000, nanoseconds: 8),
            parts: parts
        )
    }

    static func part(_ index: Int) -> UploadedPart {
        UploadedPart(
            number: PartNumber(index: index),
            size: 102_400,
            etag: ETag(wire: "part-\(index)"),
            crc64: index == 1 ? nil : CRC64(value: UInt64(index))
        )
    }

    static let counts = Dictionary(uniqueKeysWithValues: zip(RunCount.allCases, Int64(1)...))
}

extension RowDigest {
    /// The values with their checksum after them.
    static func sealing(_ values: [SQLValue], table: Table) -> [SQLValue] {
        var digest = RowDigest(table: table)
        for value in values { digest.append(value) }
        return values + [digest.value]
    }
}
