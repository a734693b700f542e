#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#endif

/// One text file of the repository.
struct RepositoryFile: Sendable {
    /// Relative to the repository's root, with "/".
    let path: String
    let text: String
    let lines: [Substring]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The directory below `Sources` or `Tests`: the target.
    var target: String {
        let parts = path.split(separator: "/")
        return parts.count > 1 ? String(parts[1]) : ""
    }

    /// Whether it is worth looking through the lines: a test compiles without optimization, and
    /// there are thousands of lines for each that is found.
    func mentions(_ words: [String]) -> Bool {
        unsafe text.withCString { text in
            words.contains { unsafe strstr(text, $0) != nil }
        }
    }

    /// The lines of code with their numbers from 1: comments are empty, texts stay.
    var code: [(number: Int, text: Substring)] {
        lines.enumerated().map { index, line in
            let trimmed = line.drop { $0 == " " }
            return (index + 1, trimmed.hasPrefix("//") ? "" : line)
        }
    }
}

/// The repository that these tests are part of.
enum Repository {
    static let root: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(3).joined(separator: "/")
    }()

    /// The Swift files below a directory, in order of their paths.
    static func swiftFiles(below directory: String) throws -> [RepositoryFile] {
        switch directory {
        case "Sources": try sources.get()
        case "Tests": try tests.get()
        default: try files(below: directory) { $0.hasSuffix(".swift") }
        }
    }

    /// Read once for all tests.
    private static let sources = Result { try files(below: "Sources") { $0.hasSuffix(".swift") } }
    private static let tests = Result { try files(below: "Tests") { $0.hasSuffix(".swift") } }

    /// The documents for people: `README.md` and its like, and everything below `docs`.
    static func documents() throws -> [RepositoryFile] {
        let top = try FileManager.default.contentsOfDirectory(atPath: root)
            .filter { $0.hasSuffix(".md") }.sorted()
        let below = exists("docs") ? try files(below: "docs") { $0.hasSuffix(".md") } : []
        return try top.map(file) + below
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root + "/" + path)
    }

    static func files(
        below directory: String,
        where isWanted: (String) -> Bool
    ) throws -> [RepositoryFile] {
        var result: [RepositoryFile] = []
        let names = try FileManager.default.contentsOfDirectory(atPath: root + "/" + directory)
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = directory + "/" + name
            if isWanted(name) {
                result.append(try file(path))
            } else if isDirectory(path) {
                result += try files(below: path, where: isWanted)
            }
        }
        return result
    }

    static func file(_ path: String) throws -> RepositoryFile {
        RepositoryFile(
            path: path,
            text: try String(contentsOfFile: root + "/" + path, encoding: .utf8)
        )
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory = false
        let attributes = try? FileManager.default.attributesOfItem(atPath: root + "/" + path)
        isDirectory = attributes?[.type] as? FileAttributeType == .typeDirectory
        return isDirectory
    }
}

/// One place that breaks a rule, as `path:line`.
struct Finding: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let text: String

    var description: String { "\(path):\(line): \(text)" }
}
