import OSSSync
import Testing

@testable import OSSSyncCLI

@Suite("Arguments of single objects")
struct ObjectArgumentsTests {
    @Test(
        arguments: [
            ("0s", 0), ("90s", 90), ("15m", 900), ("2h", 7_200), ("7d", 604_800),
            ("36500d", 3_153_600_000),
        ]
    )
    func `durations have one unit`(text: String, seconds: Int) {
        #expect(parseDuration(text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "s", "90", "1.5h", "-1s", "1h30m", "36501d", "9223372036854775807d", "2 h",
    ])
    func `other durations are refused`(text: String) {
        #expect(parseDuration(text) == nil)
    }

    @Test(
        arguments: [
            ("/a/b", "/a/b"), ("/a//./b", "/a/b"), ("/a/../b", "/a/../b"), ("/", "/"),
            ("//", "/"),
        ]
    )
    func `a path from the root is known again`(path: String, expected: String) {
        #expect(absolutePath(path) == expected)
    }

    @Test func `a relative path is one of the working directory`() {
        let path = absolutePath("./a//b")
        #expect(path.hasPrefix("/"))
        #expect(path.hasSuffix("/a/b"))
        #expect(path == absolutePath("a/b"))
    }

    @Test func `options of other commands are refused`() {
        for line in [
            ["get", "oss://b/k", "f", "--abort"], ["put", "f", "oss://b/k", "--head-url", "u"],
            ["presign", "oss://b/k", "--jobs", "2"], ["uploads", "oss://b", "--method", "GET"],
            ["presign", "oss://b/k", "--method", "POST"], ["get", "oss://b/k"],
        ] {
            #expect(throws: UsageError.self) { try ArgumentParser.parse(line) }
        }
    }
}
