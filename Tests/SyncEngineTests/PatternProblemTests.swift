import SyncModel
import Testing

@testable import SyncEngine

@Suite("Patterns that cannot be meant so")
struct PatternProblemTests {
    @Test(
        arguments: [
            (["-*.tmp", "+keep.tmp"], []),
            (["+keep.tmp", "-*.tmp"], ["has no effect"]),
            (["-/a/", "+/a/b.jpg"], ["'a/' is excluded"]),
            (["-/a/*", "+/a/b/", "+/a/b/c.jpg"], []),
            (["-/a/*", "+/a/b/c.jpg"], ["'a/b/' is excluded"]),
            (["-/a/", "+/a/*/c.jpg"], ["'a/' is excluded"]),
            (["-x[z-a]y"], ["its '[…]' has no members"]),
            (["-x[!z-a]y", "-**/x", "-/*/"], []),
            (["-./build", "-../x"], ["it begins at DIR", "it begins at DIR"]),
            (["-/srv/photos/raw"], ["write '/raw'"]),
            (["-/srv/photosets"], []),
            (["-*.{jpg,png}", "-{a}", "-}{,"], ["'{jpg,png}' is literal"]),
            (["-{a}{b,c}", #"-\{a,b\}"#, "-x[{,}]y", "-{a,b"], ["'{b,c}' is literal"]),
        ] as [([String], [String])]
    )
    func `patterns that are surely not meant so are told`(lines: [String], parts: [String]) throws {
        var filter = FileFilter()
        for line in lines {
            let pattern = String(line.dropFirst())
            if line.first == "-" {
                try filter.exclude(pattern)
            } else {
                try filter.include(pattern)
            }
        }
        let problems = filter.problems(directory: "/srv/photos")
        #expect(problems.count == parts.count, "\(problems)")
        for (problem, part) in zip(problems, parts) { #expect(problem.contains(part)) }
    }

    @Test func `lines that git ignores are passed over and told`() throws {
        var filter = FileFilter()
        try filter.add(ignoreFile: [UInt8]("\\\n/\n!\n\\/\n[/]\n*.tmp\n".utf8), named: "rules")
        #expect(filter.excludes(ObjectKey("a.tmp")) && !filter.excludes(ObjectKey("a")))
        let problems = filter.problems(directory: "/srv")
        #expect(
            problems.prefix(2) == [
                "the pattern '\\\\' in rules:1 is ignored: it ends with a lone '\\'",
                "the pattern '/' in rules:2 is ignored: it is empty",
            ]
        )
        #expect(problems.count == 5, "\(problems)")
    }

    @Test func `at most ten patterns are told`() throws {
        var filter = FileFilter()
        for index in 0..<30 { try filter.include("\(index)") }
        #expect(filter.problems(directory: "d").count == 10)
    }
}
