import OSSSync
import Testing

@testable import OSSSyncCLI

@Suite("Arguments of single objects")
struct ObjectArgumentsTests {
    @Test(
        arguments: [
            ("0s", 0), ("90s", 90), ("15m", 900), ("2h", 7_200), ("7d", 604_800),
            ("36500d", 3_153_600_000), ("2h30m", 9_000), ("1d2h3m4s", 93_784),
            ("1d0s", 86_400),
        ]
    )
    func `durations have units in descending order`(text: String, seconds: Int) {
        #expect(parseDuration(text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "s", "90", "1.5h", "-1s", "30m1h", "1h1h", "1h30", "h", "36500d1s", "36501d",
        "9223372036854775807d", "2 h",
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
