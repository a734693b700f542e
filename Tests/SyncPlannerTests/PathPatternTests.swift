import SyncPlanner
import Testing

@Suite("Patterns of names")
struct PathPatternTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let pattern: String
        let fits: [String]
        let fitsNot: [String]

        init(_ pattern: String, fits: [String], fitsNot: [String]) {
            self.pattern = pattern
            self.fits = fits
            self.fitsNot = fitsNot
        }

        var testDescription: String { pattern }
    }

    static let rows = [
        Row("*.tmp", fits: ["a.tmp", "d/e/a.tmp", ".tmp"], fitsNot: ["a.tmp.b", "a.tm", "tmp"]),
        Row("name", fits: ["name", "d/name", "name/"], fitsNot: ["names", "name/a", "my-name"]),
        Row("/name", fits: ["name", "name/"], fitsNot: ["d/name"]),
        Row("name/", fits: ["name/", "d/name/"], fitsNot: ["name", "d/name"]),
        Row("a/b", fits: ["a/b", "a/b/"], fitsNot: ["x/a/b", "a/b/c", "a"]),
        Row("a/*", fits: ["a/b", "a/.b"], fitsNot: ["a/b/c", "a", "b/a/c"]),
        Row("a/**", fits: ["a/b", "a/b/c"], fitsNot: ["a", "a/", "b/a/c"]),
        Row("**/b", fits: ["b", "a/b", "a/a/b"], fitsNot: ["b/a", "ab"]),
        Row("a/**/b", fits: ["a/b", "a/x/b", "a/x/y/b"], fitsNot: ["b", "a/x", "x/a/b"]),
        Row("a/**/b/**/c", fits: ["a/b/c", "a/b/b/c", "a/x/b/y/c"], fitsNot: ["a/c", "a/b/c/d"]),
        Row("**", fits: ["a", "a/b"], fitsNot: []),
        Row("a?c", fits: ["abc", "aéc", "a\u{1F600}c"], fitsNot: ["ac", "abbc", "a/c"]),
        Row("[a-c]1", fits: ["a1", "b1", "d/c1"], fitsNot: ["d1", "1", "A1"]),
        Row("[!a-c]1", fits: ["d1", "é1"], fitsNot: ["a1", "1"]),
        Row("[]-]", fits: ["]", "-"], fitsNot: ["a"]),
        Row("[é-ü]", fits: ["ö"], fitsNot: ["a", "o\u{308}"]),
        Row("\\*", fits: ["*"], fitsNot: ["a"]),
        Row("\\!a", fits: ["!a"], fitsNot: ["a"]),
        Row("a*b*c", fits: ["abc", "axxbyyc", "abbcc"], fitsNot: ["acb", "ab"]),
        Row("x[[:digit:]]", fits: ["x7"], fitsNot: ["x", "xd", "x:", "x77"]),
        Row("[[:alpha:]-z]", fits: ["-", "z", "y"], fitsNot: ["1", "é"]),
        Row("[![:upper:]_]", fits: ["a", "é", "1"], fitsNot: ["A", "_"]),
        Row("[[:digit]", fits: ["d", "[", ":"], fitsNot: ["1"]),
        Row("[[:foo:]a]", fits: [], fitsNot: ["a", "f", ":"]),
        Row("***/foo", fits: ["foo", "a/foo", "a/b/foo"], fitsNot: ["foo/a"]),
        Row("x/***", fits: ["x/a", "x/a/b"], fitsNot: ["x"]),
        Row("a**/c", fits: ["ac", "a/c", "ab/c", "ab/x/c", "a/x/c"], fitsNot: ["abc", "xac"]),
        Row("x/y**/c", fits: ["x/yc", "x/y/c", "x/yz/w/c"], fitsNot: ["x/c", "yc"]),
        Row("x?**/c", fits: ["xa/c", "xab/c"], fitsNot: ["xac", "xab/d/c"]),
        Row("a**b/c", fits: ["ab/c", "axb/c"], fitsNot: ["ax/b/c"]),
        Row("**a/c", fits: ["a/c", "xa/c"], fitsNot: ["q/xa/c"]),
        Row("a\\/b", fits: ["a/b"], fitsNot: ["a", "b", "x/a/b"]),
        Row("a[/x]b", fits: ["axb"], fitsNot: ["a/b", "d/axb"]),
        Row("[/]", fits: [], fitsNot: ["a", "a/b", "["]),
        Row("[!/]", fits: ["a", "é"], fitsNot: ["ab", "d/a"]),
        Row("*a*a*a*a*b", fits: ["aaaab"], fitsNot: [String(repeating: "a", count: 200)]),
    ]

    @Test(arguments: rows)
    func `a pattern fits what gitignore says`(row: Row) throws {
        let pattern = try PathPattern(row.pattern.utf8)
        for path in row.fits { #expect(fits(pattern, path), "\(path)") }
        for path in row.fitsNot { #expect(!fits(pattern, path), "\(path)") }
    }

    /// What git 2.39 says of each byte.
    @Test(arguments: [
        ("alnum", "0-9A-Za-z"), ("alpha", "A-Za-z"), ("blank", "\t "),
        ("cntrl", "\u{1}-\u{1F}\u{7F}"),
        ("digit", "0-9"), ("graph", "\\!-~"), ("lower", "a-z"), ("print", " -~"),
        ("punct", "\\!-/:-@\\[-`{-~"), ("space", "\t\n\r "), ("upper", "A-Z"),
        ("xdigit", "0-9A-Fa-f"),
    ])
    func `a class has the members that git gives it`(name: String, members: String) throws {
        let pattern = try PathPattern("[[:\(name):]]".utf8)
        let set = try PathPattern("[\(members)]".utf8)
        for byte in UInt8(1)...UInt8(255) where byte != UInt8(ascii: "/") {
            let names = [[byte][...]]
            let isMember = set.matches(names, isDirectory: false)
            #expect(pattern.matches(names, isDirectory: false) == isMember, "\(byte)")
        }
    }

    @Test func `a composed letter is not its decomposed spelling`() throws {
        let pattern = try PathPattern("caf\u{E9}".utf8)
        #expect(fits(pattern, "caf\u{E9}"))
        #expect(!fits(pattern, "cafe\u{301}"))
    }

    @Test(arguments: [
        ("", PathPattern.Invalid.empty), ("/", .empty), ("a[b", .unclosedBracket),
        ("a\\", .danglingEscape), ("\\/", .danglingEscape), ("[[:digit:]", .unclosedBracket),
    ])
    func `a pattern that cannot be meant is refused`(
        text: String,
        expected: PathPattern.Invalid
    ) {
        #expect(throws: expected) { try PathPattern(text.utf8) }
    }

    private func fits(_ pattern: PathPattern, _ path: String) -> Bool {
        var bytes = [UInt8](path.utf8)[...]
        let isDirectory = bytes.last == UInt8(ascii: "/")
        if isDirectory { bytes = bytes.dropLast() }
        return pattern.matches(bytes.split(separator: UInt8(ascii: "/")), isDirectory: isDirectory)
    }
}
