import Foundation
import Glibc
import Testing

/// A directory of a test and what is in it, without osssync's own state.
struct Tree {
    let url: URL

    init(_ url: URL) {
        self.url = url
    }

    var path: String { url.path }

    /// Paths to contents and mtimes; a directory without entries has nil content and ends in "/".
    struct Entry: Equatable, CustomStringConvertible {
        let content: Data?
        let modified: Int64?

        var description: String { "\(content?.count ?? -1) bytes at \(modified ?? 0)" }
    }

    /// Writes a file, making the directories above it; `modified` is in nanoseconds since 1970.
    func write(_ path: String, _ content: Data, modified: Int64? = nil) throws {
        let file = self.path + "/" + path
        if let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) {
            try FileManager.default.createDirectory(
                atPath: String(file[..<slash]),
                withIntermediateDirectories: true
            )
        }
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        try #require(descriptor >= 0, "open \(file): errno \(errno)")
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: content)
        if let modified {
            let time = timespec(
                tv_sec: Int(modified / 1_000_000_000),
                tv_nsec: Int(modified % 1_000_000_000)
            )
            let code = unsafe futimens(descriptor, [time, time])
            try #require(code == 0)
        }
    }

    func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(
            at: url.appendingPathComponent(path),
            withIntermediateDirectories: true
        )
    }

    func remove(_ path: String) throws {
        try FileManager.default.removeItem(at: url.appendingPathComponent(path))
    }

    func rename(_ from: String, to: String) throws {
        try FileManager.default.moveItem(
            at: url.appendingPathComponent(from),
            to: url.appendingPathComponent(to)
        )
    }

    func setMode(_ path: String, _ mode: Int) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: url.appendingPathComponent(path).path
        )
    }

    func content(_ path: String) -> Data? {
        FileManager.default.contents(atPath: url.appendingPathComponent(path).path)
    }

    func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: url.appendingPathComponent(path).path)
    }

    /// Everything but `.osssync`, by the bytes of the relative path: composed and decomposed
    /// spellings are two files here, and would be one key of a dictionary of strings.
    func entries() throws -> [[UInt8]: Entry] {
        var result: [[UInt8]: Entry] = [:]
        try collect(directory: "", into: &result)
        return result
    }

    private func collect(directory: String, into result: inout [[UInt8]: Entry]) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: path + "/" + directory)
        if names.isEmpty, !directory.isEmpty {
            result[Array(directory.utf8)] = Entry(content: nil, modified: nil)
        }
        for name in names where !(directory.isEmpty && name == ".osssync") {
            let relative = directory + name
            let full = path + "/" + relative
            var status = stat()
            let code = unsafe lstat(full, &status)
            try #require(code == 0, "lstat \(full): errno \(errno)")
            if status.st_mode & S_IFMT == S_IFDIR {
                try collect(directory: relative + "/", into: &result)
                continue
            }
            result[Array(relative.utf8)] = Entry(
                content: FileManager.default.contents(atPath: full),
                modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000
                    + Int64(status.st_mtim.tv_nsec)
            )
        }
    }
}

/// Bytes whose period is prime, so that a misplaced block shows.
func ramp(_ count: Int, seed: Int = 0) -> Data {
    let period = Data((0..<251).map { UInt8(($0 + seed) % 251) })
    var data = Data(capacity: count + period.count)
    while data.count < count { data.append(period) }
    return Data(data.prefix(count))
}
