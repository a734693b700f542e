import Foundation
import OSSSync
import Testing

@testable import OSSSyncCLI

@Suite("Filters of a command line")
struct FilterArgumentsTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("osssync-filters-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = folder.appendingPathComponent(name).path
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    private func filter(_ line: String...) throws -> FileFilter {
        guard case .run(let arguments) = try ArgumentParser.parse(["pull", "D"] + line) else {
            throw UsageError.noCommand
        }
        return try RunOptions(arguments).filter
    }

    @Test func `the order of patterns and files is that of the command line`() throws {
        let path = try file("rules", "# comment\n*.log\n!keep.log\n")
        var expected = FileFilter()
        try expected.include("a")
        try expected.exclude("*.log")
        try expected.include("keep.log")
        try expected.exclude("keep.log")
        #expect(
            try filter("--include", "a", "--exclude-from", path, "--exclude", "keep.log")
                == expected
        )
        #expect(
            try filter("--exclude", "keep.log", "--exclude-from=\(path)", "--include", "a")
                != expected
        )
    }

    @Test func `files that exclude a directory are names`() throws {
        let tags = try filter("--exclude-if-present", "a", "--exclude-if-present=b").tags
        #expect(tags.names == ["a", "b"] && !tags.recognizesCaches)
        #expect(try filter("--exclude-caches").tags.recognizesCaches)
        for name in ["", "a/b", "/a"] {
            #expect(throws: UsageError.self) { try filter("--exclude-if-present", name) }
        }
    }

    @Test func `an error names the file and the line`() throws {
        let path = try file("rules", "good\n\n[bad\n")
        let error = #expect(throws: UsageError.self) { try filter("--exclude-from", path) }
        #expect(
            error?.message == "invalid value '\(path)' for '--exclude-from': line 3: "
                + "a '[' in it has no ']'; use '\\[' for the character itself"
        )
        let absent = #expect(throws: UsageError.self) { try filter("--exclude-from", path + "x") }
        #expect(absent?.message.contains("it cannot be read: ") == true)
        let large = try file("large", String(repeating: "x\n", count: 600_000))
        #expect(throws: UsageError.self) { try filter("--exclude-from", large) }
    }
}
