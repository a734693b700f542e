internal import CLibrary
internal import SyncModel

/// The digests of a finished blob.
struct StoredBlob: Sendable {
    let id: String
    let size: Int64
    let md5: [UInt8]
    let crc64: CRC64
}

/// Files of content under opaque names, never changed once written.
///
/// A blob that is being read when its last object goes stays until the reader has finished.
final class BlobStore: Sendable {
    private struct Use {
        var readers = 0
        var isDoomed = false
    }

    let directory: String
    private let uses = SleepingLock<[String: Use]>([:])

    init(directory: String) throws {
        self.directory = directory
        try Self.makeDirectory(directory)
        for value in 0..<256 {
            try Self.makeDirectory(directory + "/" + hexadecimal([UInt8(value)], uppercase: false))
        }
    }

    static func makeDirectory(_ path: String) throws {
        guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else {
            throw ServerFailure.file(path: path, call: "mkdir", code: errno)
        }
    }

    func path(_ id: String) -> String {
        directory + "/" + id.prefix(2) + "/" + id
    }

    func makeWriter() throws -> BlobWriter {
        // A folder, the time, and what nothing else has: so the index of a folder's blobs grows at
        // its end, and a million of them do not touch all of its pages.
        let random = randomBytes(8)
        let time = UInt64(bitPattern: ServerCore.machineTime.nanosecondsSince1970)
        let stamp = (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * $0)) }
        let id = hexadecimal([random[0]] + stamp + random[1...], uppercase: false)
        return try BlobWriter(id: id, path: path(id))
    }

    /// Keeps the blobs until ``unpin(_:)``; to be called while the metadata that names them is
    /// locked.
    func pin(_ ids: [String]) {
        uses.withLock { uses in
            for id in ids { uses[id, default: Use()].readers += 1 }
        }
    }

    func unpin(_ ids: [String]) {
        let doomed = uses.withLock { uses in
            ids.filter { id in
                guard var use = uses[id] else { return false }
                use.readers -= 1
                uses[id] = use.readers > 0 ? use : nil
                return use.readers == 0 && use.isDoomed
            }
        }
        for id in doomed { unsafe unlink(path(id)) }
    }

    /// Deletes blobs that no metadata names any more.
    func remove(_ ids: [String]) {
        let unused = uses.withLock { uses in
            ids.filter { id in
                guard uses[id] != nil else { return true }
                uses[id]?.isDoomed = true
                return false
            }
        }
        for id in unused { unsafe unlink(path(id)) }
    }

    /// Deletes what an earlier process left behind.
    func sweep(keeping isUsed: (String) throws -> Bool) throws {
        for value in 0..<256 {
            let folder = directory + "/" + hexadecimal([UInt8(value)], uppercase: false)
            guard let stream = unsafe opendir(folder) else { continue }
            defer { unsafe closedir(stream) }
            while let entry = unsafe readdir(stream) {
                let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard !name.hasPrefix("."), try !isUsed(name) else { continue }
                unsafe unlink(folder + "/" + name)
            }
        }
    }
}

/// A blob being written, whose digests grow with it; discarded unless finished.
final class BlobWriter {
    private let id: String
    private let path: String
    private let descriptor: Int32
    private let md5 = RunningDigest(.md5)
    private var crc64 = CRC64()
    private(set) var size: Int64 = 0
    private var isFinished = false

    fileprivate init(id: String, path: String) throws {
        self.id = id
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw ServerFailure.file(path: path, call: "open", code: errno)
        }
    }

    deinit {
        close(descriptor)
        if !isFinished { unsafe unlink(path) }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        unsafe md5.update(bytes)
        unsafe crc64.update(bytes)
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let written = unsafe write(
                descriptor,
                UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                rest.count
            )
            if written < 0 {
                if errno == EINTR { continue }
                throw ServerFailure.file(path: path, call: "write", code: errno)
            }
            unsafe rest = unsafe rest.dropFirst(written)
        }
        size += Int64(bytes.count)
    }

    func append(_ bytes: [UInt8]) throws {
        try unsafe bytes.withUnsafeBytes { try unsafe append($0) }
    }

    /// Nothing may be added afterwards; whoever gets the result owns the file.
    func finish() -> StoredBlob {
        isFinished = true
        return StoredBlob(id: id, size: size, md5: md5.finish(), crc64: crc64)
    }
}
