import Foundation
import Testing

@Suite("Output", .serialized)
struct OutputTests {
    private static let hostileName = "esc\u{1B}[31m\u{7}\rback\u{8}\u{9B}2J"

    @Test func `says as much as was asked for`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(100))
        let quiet = try workplace.run("push", tree.path, workplace.remote, "-q")
        #expect(quiet.status == 0)
        #expect(quiet.output.isEmpty && quiet.diagnostics.isEmpty)

        try tree.write("b", ramp(200))
        let plain = try workplace.run("push", tree.path)
        #expect(
            Self.withoutTime(plain.output)
                == "push finished in T: 1 transferred (200 B), 1 unchanged\n"
        )
        #expect(plain.diagnostics.isEmpty)

        try tree.write("c", ramp(300))
        let verbose = try workplace.run("push", tree.path, "-v")
        #expect(
            Self.withoutTime(verbose.output) == """
                upload c (300 B)
                push finished in T: 1 transferred (300 B), 2 unchanged

                """
        )
        #expect(verbose.diagnostics == "push \(tree.path) to \(workplace.remote)/\n")

        try tree.write("d", ramp(400))
        let all = try workplace.run("push", tree.path, "-vv")
        #expect(
            Self.withoutTime(all.output) == """
                started upload d (400 B)
                upload d (400 B)
                push finished in T: 1 transferred (400 B), 3 unchanged

                """
        )
        try tree.remove("a")
        let dry = try workplace.run("push", tree.path, "--delete", "-n")
        #expect(
            dry.output == """
                would delete the object a: deleted here
                push would delete 1; 3 unchanged

                """
        )
        #expect(try workplace.run("push", tree.path, "-q", "-v").status == 2)
    }

    /// The output with `T` for how long the run took.
    private static func withoutTime(_ text: String) -> String {
        text.replacing(/finished in [0-9.:]+( s)?/, with: "finished in T")
    }

    @Test func `quiet still tells what went wrong`() throws {
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "PutObject", "key": "mirror/a"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """
        )
        let tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(100))
        let push = try workplace.run("push", tree.path, workplace.remote, "-q")
        #expect(push.status == 1)
        #expect(push.output.isEmpty)
        #expect(push.diagnostics.hasPrefix("osssync: failed: upload a: PutObject "))
        #expect(push.diagnostics.split(separator: "\n").count == 1)
        // Once, not in the message and behind it.
        #expect(push.diagnostics.split(separator: "request ").count == 2)
    }

    @Test func `a run whose report is lost goes on, and says so at its end`() throws {
        let workplace = try Workplace()
        let source = try workplace.makeDirectory("source")
        for index in 0..<50 { try source.write("f\(index)", ramp(1_000, seed: index)) }
        for options in [["--json"], ["-v"]] {
            let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            let remote = "oss://\(Workplace.bucket)/full\(options[0])"
            let push = try workplace.start(
                ["push", source.path, remote, "--rebind"] + options,
                output: full
            ).finish()
            #expect(push.status == 1, "\(push.diagnostics)")
            let target = try workplace.makeDirectory("target\(options[0])")
            #expect(try workplace.run("pull", target.path, remote).status == 0)
            #expect(try target.entries() == source.entries())
        }
        for command in ["status", "doctor", "cancel"] {
            let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            let result = try workplace.start([command, source.path], output: full).finish()
            #expect(result.status == 1, "\(command)")
        }
        let other = try workplace.makeDirectory("other")
        let remote = "oss://\(Workplace.bucket)/full--json"
        let head = try workplace.shell("osssync pull other '\(remote)' --json | head -n 1")
        #expect(head.status == 1)
        #expect(head.diagnostics.isEmpty)
        #expect(head.output.split(separator: "\n").count == 1)
        #expect(try other.entries() == source.entries())
    }

    @Test func `results that cannot be written say why`() throws {
        let workplace = try Workplace()
        for command in ["ls oss://\(Workplace.bucket)", "--version", "doctor"] {
            // The listing has something to write only with an object.
            _ = try workplace.shell("echo x >f; osssync put -q f oss://\(Workplace.bucket)/f")
            let full = try workplace.shell("osssync \(command) >/dev/full")
            #expect(full.status == 1 && full.diagnostics.contains("No space left on device"))
        }
        #expect(try workplace.shell("osssync ls buck").diagnostics.contains("use oss://buck or"))
    }

    @Test func `help and version need no account`() throws {
        let workplace = try Workplace()
        let version = try workplace.run("--version")
        let lines = version.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("osssync ") == true)
        for (line, name) in zip(lines.dropFirst(), ["SQLite 3.", "libcurl/", "expat_"]) {
            #expect(line.hasPrefix(name), "\(line)")
        }
        #expect(lines.count == 4)
        #expect(version.output.contains("SSL/"), "\(lines)")
        #expect(try workplace.run("-V").output == version.output)
        #expect(try workplace.run("version").output == version.output)
        let pages = [
            [], ["help"], ["-h"], ["--help"], ["help", "pull"], ["pull", "--help"],
            ["help", "filters"], ["help", "man"], ["completions", "fish"],
        ]
        for arguments in pages {
            let help = try workplace.start(arguments, environment: ["HOME": ""]).finish()
            #expect(help.status == 0)
            #expect(help.output.contains("osssync"))
            #expect(help.diagnostics.isEmpty)
        }
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        #expect(try workplace.start(["--version"], output: full).finish().status == 1)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a shell finds no mistake in its completions`(shell: String) throws {
        let workplace = try Workplace()
        let line = "! command -v \(shell) >/dev/null || osssync completions \(shell) | \(shell) -n"
        let result = try workplace.shell(line)
        #expect(result.status == 0 && result.diagnostics == "", "\(result.diagnostics)")
    }

    @Test(arguments: [
        ("pull --on-conflict k", "keep-both"), ("pull --dry", "--dry-run"), ("he", "help"),
        ("help exit", "exit-codes"), ("completions f", "fish"), ("init --unl", "--unlink"),
        ("ls --unl", ""),
    ])
    func `bash completes a line`(line: String, completed: String) throws {
        let workplace = try Workplace()
        let words = line.split(separator: " ").count
        let result = try workplace.shell(
            """
            eval "$(osssync completions bash)"
            COMP_WORDS=(osssync \(line)); COMP_CWORD=\(words); _osssync
            echo "${COMPREPLY[*]}"
            """
        )
        #expect(result.output == completed + "\n", "\(result.diagnostics)")
    }

    /// An address is several words of bash, of which the last is replaced.
    @Test(arguments: [
        ("ls oss : //test-bucket/mirror/20", "//test-bucket/mirror/2024/"),
        ("get oss : //test-bucket/mirror/2024/", "//test-bucket/mirror/2024/a //…/2024/b"),
        (#"ls oss : '//test-bucket/mirror/x\ '"#, #"//test-bucket/mirror/x\ y/"#),
        ("ls oss://test-bucket/mirror/x", #"oss://test-bucket/mirror/x\ y/"#),
        ("ls oss : //test-bucket/none", ""), ("ls oss : //test-", ""),
        ("ls oss : //another-bucket/x", ""),
        ("ls oss : //test-bucket/mirror/c =", "d/"),
        ("ls oss : //test-bucket/mirror/c = d/", "d/e"),
        ("ls oss : //test-bucket/mirror/k :", "v"),
        (#"ls oss : //test-bucket/mirror/\$\(touch\ x"#, #"//test-bucket/mirror/\$\(touch\ x\)"#),
        ("ls oss : //test-bucket/mirror/a,", #"//test-bucket/mirror/a\,b"#),
        ("ls --profile none oss : //test-bucket/mirror/2", ""),
    ])
    func `bash completes keys of a bucket`(words: String, completed: String) throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        let names = [
            "2024/a", "2024/b", "x y/z", "c=d/e", "k:v", "$(touch x)", "a,b", "back\\slash",
        ]
        for name in names { try tree.write(name, ramp(7)) }
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
        let result = try workplace.shell(
            """
            eval "$(osssync completions bash)"
            COMP_WORDS=(osssync \(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMP_LINE="${COMP_WORDS[*]}"; COMP_LINE=${COMP_LINE/ : /:}
            COMP_LINE=${COMP_LINE/ = /=}; COMP_LINE=${COMP_LINE/% =/=}; COMP_LINE=${COMP_LINE/% :/:}
            COMP_POINT=${#COMP_LINE}
            _osssync
            echo "${COMPREPLY[*]}"
            """
        )
        let expected = completed.replacing("…", with: "test-bucket/mirror") + "\n"
        #expect(result.output == expected, "\(result.diagnostics)")
    }

    /// Paths in a mirror: of a pull those of the bucket, of a restore also what is in the trash.
    @Test(arguments: [
        ("pull tree ''", #"only\ there.txt season/"#),
        ("pull tree season/e", "season/e1 season/e2"),
        ("restore tree ''", "gone season/"), ("restore --at 2026-01-01 tree g", "gone"),
        ("restore tree none", ""), ("restore none ''", ""),
    ])
    func `bash completes paths of a mirror`(words: String, completed: String) throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        for name in ["season/e1", "season/e2", "gone"] { try tree.write(name, ramp(7)) }
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
        let other = try workplace.makeDirectory("other")
        try #require(try workplace.run("pull", other.path, workplace.remote).status == 0)
        try other.remove("gone")
        try other.write("only there.txt", ramp(7))
        try #require(try workplace.run("push", "--delete", other.path).status == 0)
        try #require(
            try workplace.run("pull", "--delete", tree.path, "gone").status == 0
        )
        let result = try workplace.shell(
            """
            cd "$(dirname '\(tree.path)')"
            eval "$(osssync completions bash)"
            COMP_WORDS=(osssync \(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _osssync
            echo "${COMPREPLY[*]}"
            """
        )
        #expect(result.output == completed + "\n", "\(result.diagnostics)")
    }

    // MARK: - On a terminal

    @Test func `the bar tells of the transfer, and is gone at the end`() throws {
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "UploadPart", "every": 2}, "effect": {"delay": 1}}]
                """
        )
        let tree = try workplace.makeDirectory("tree")
        try tree.write(Self.hostileName, ramp(8 << 20))
        let terminal = try PseudoTerminal(columns: 100, lines: 24)
        let push = try workplace.start(
            ["push", tree.path, workplace.remote, "--part-size", "1M", "--jobs", "2"],
            diagnostics: terminal.device
        ).finish()
        #expect(push.status == 0, "\(push.output)")
        let written = try terminal.finish()
        #expect(written.contains("push  ["))
        #expect(written.contains("0/1 items"))
        #expect(written.contains("  > esc\\x1B[31m\\x07"))
        // The terminal was told nothing but to move up, to clear, and to go to the line's start.
        #expect(screen(after: written) == [])
        // No line is so wide that it wraps.
        for line in written.split(separator: "\n") {
            let shown = screen(after: String(line.drop { $0 == "\r" }))?.last ?? ""
            #expect(shown.count < 100, "\(shown)")
        }
    }

    @Test func `complaints stand above the bar, whole`() throws {
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "GetObject", "key": "mirror/f1"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}},
                 {"match": {"operation": "GetObject", "key": "mirror/f2"},
                  "effect": {"delay": 1}}]
                """
        )
        let source = try workplace.makeDirectory("source")
        for index in 0..<3 { try source.write("f\(index)", ramp(10_000)) }
        #expect(try workplace.run("push", source.path, workplace.remote).status == 0)
        let target = workplace.folder.appendingPathComponent("target").path
        let terminal = try PseudoTerminal(columns: 200, lines: 24)
        let pull = try workplace.start(
            ["pull", target, workplace.remote],
            diagnostics: terminal.device
        ).finish()
        #expect(pull.status == 1)
        let written = try terminal.finish()
        #expect(written.contains("\u{1B}[31mosssync: failed: download f1: "))
        let plain = ["\u{1B}[31m", "\u{1B}[0m"].reduce(written) {
            $0.replacingOccurrences(of: $1, with: "")
        }
        let shown = screen(after: plain)
        #expect(shown?.count == 1)
        #expect(shown?.first?.hasPrefix("osssync: failed: download f1: ") == true)
        #expect(shown?.first?.hasSuffix(")") == true)
    }

    @Test(arguments: [["-q"], ["--json"], ["--progress", "none"]])
    func `draws no bar where none is wanted`(options: [String]) throws {
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "PutObject"}, "effect": {"delay": 0.6}}]
                """
        )
        let tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(100))
        let terminal = try PseudoTerminal(columns: 72, lines: 24)
        let push = try workplace.start(
            ["push", tree.path, workplace.remote] + options,
            diagnostics: terminal.device
        ).finish()
        #expect(push.status == 0)
        #expect(try terminal.finish().isEmpty)
    }
}
