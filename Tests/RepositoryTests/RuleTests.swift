import Testing

@Suite("Rules of the house")
struct RuleTests {
    /// The lines of code of the files that contain one of the texts.
    private func findings(
        of texts: [String],
        in files: [RepositoryFile],
        except allowed: (RepositoryFile) -> Bool = { _ in false }
    ) -> [Finding] {
        files.filter { !allowed($0) && !$0.path.hasPrefix("Tests/RepositoryTests/") }
            .filter { $0.mentions(texts) }
            .flatMap { file in
                file.code.compactMap { number, line in
                    texts.first { contains(line, $0) }.map {
                        Finding(path: file.path, line: number, text: $0)
                    }
                }
            }
    }

    /// True if the text occurs and is not the end of a longer word.
    private func contains(_ line: Substring, _ text: String) -> Bool {
        line.ranges(of: text).contains { range in
            guard range.lowerBound > line.startIndex else { return true }
            let before = line[line.index(before: range.lowerBound)]
            return !before.isLetter && !before.isNumber && before != "_" && before != "."
                || text.hasPrefix(".")
        }
    }

    private func sources() throws -> [RepositoryFile] {
        try Repository.swiftFiles(below: "Sources")
    }

    private func everything() throws -> [RepositoryFile] {
        try sources() + Repository.swiftFiles(below: "Tests")
    }

    @Test func `only the programs print`() throws {
        let found = findings(
            of: ["print(", "debugPrint(", "dump(", "fputs(", "puts(", "printf("],
            in: try sources(),
            except: { $0.target.hasSuffix("CLI") }
        )
        #expect(found == [])
    }

    /// What only the program reaches: configuration files and the walk of a mirror.
    private static let ofMirrors = [
        "Sources/ObjectStorage/Credentials/", "Sources/LocalStorage/Walk/WalkIssue.swift",
        "Sources/LocalStorage/SystemCalls/DiskRefusals.swift",
    ]

    @Test func `messages of what an app links name options only to the program`() throws {
        let linked: Set = [
            "SyncModel", "ObjectStorage", "LocalStorage", "ObjectTransfer", "OSSTransfer",
            "OSSBucket", "OSSTransferFoundation", "OSSTransferTesting",
        ]
        let files = try sources().filter { file in
            linked.contains(file.target) && file.mentions(["--", "'osssync "])
                && !Self.ofMirrors.contains { file.path.hasPrefix($0) }
        }
        #expect(!files.isEmpty)
        for file in files {
            let code = file.code.map(\.text).joined(separator: "\n")
            let ofLibrary = code.replacing(/program:\s*"[^"]*"(?:\s*\+\s*"[^"]*")*/, with: "")
            let texts = ofLibrary.matches(of: /"[^"\n]*(?:--[a-z]|'osssync )[^"\n]*"/).map(\.output)
            #expect(texts == [], "\(file.path)")
        }
    }

    @Test func `every form of a small file is in the test that damages each byte`() throws {
        let test = try everything().first { $0.path.hasSuffix("/StateFileTests.swift") }
        let known = try #require(test).code.map(\.1).joined(separator: "\n")
        let forms = try sources().filter { $0.mentions(["StateFile"]) }
        let names = forms.flatMap(\.code).compactMap { _, line -> Substring? in
            line.firstMatch(of: /(?:struct|extension) (\w+): StateFile\b/)?.1
        }
        #expect(names.count > 8)
        #expect(names.filter { !known.contains("\($0)(") } == [])
    }

    @Test func `a task without a parent begins in three places only`() throws {
        let found = findings(of: ["Task {", "Task("], in: try sources())
        let places = [
            "Sources/OSSSyncCLI/Main.swift", "Sources/SyncModel/Concurrency/Finishing.swift",
            "Sources/SyncModel/Concurrency/Starting.swift",
        ]
        #expect(found.map(\.path) == places, "\(found)")
    }

    @Test func `what defeats the compiler's checks does not appear`() throws {
        let banned = [
            "Task.detached", "nonisolated(unsafe)", "try!", "as!", "unowned(unsafe)",
            "@preconcurrency",
        ]
        let found = findings(
            of: banned,
            in: try everything(),
            // `environ` is a variable of C; see there.
            except: { $0.path == "Sources/OSSSyncCLI/Process/ProcessEnvironment.swift" }
        )
        #expect(found == [])
    }

    @Test func `the whole of Foundation is imported for those who asked for it`() throws {
        let others = try sources().filter { file in
            file.target != "OSSTransferFoundation" && platformFiles[file.path] == nil
        }
        let found = others.flatMap { file in
            file.code.filter { line in
                line.text.split { $0 == " " }.suffix(2).elementsEqual(["import", "Foundation"])
            }
            .map { Finding(path: file.path, line: $0.number, text: String($0.text)) }
        }
        #expect(found == [])
    }

    @Test func `SQL is written in the files that are for it`() throws {
        let words = [
            "SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "CREATE TABLE", "CREATE INDEX",
            "PRAGMA ", "BEGIN IMMEDIATE", "ROLLBACK", "ALTER TABLE", "DROP TABLE", "REPLACE INTO",
        ]
        let found = findings(
            of: words,
            in: try sources(),
            except: { $0.path.hasSuffix("Schema.swift") || $0.path.hasSuffix("Statements.swift") }
        )
        #expect(found == [])
    }

    @Test func `no statement of SQL is built from values`() throws {
        let found = try sources()
            .filter { $0.path.hasSuffix("Schema.swift") || $0.path.hasSuffix("Statements.swift") }
            .flatMap { file in
                // A list of columns that several queries share, and the one pragma that takes no
                // parameter, are no values.
                file.code.filter { line in
                    line.text.replacing(/\\\([a-z]+Columns\)/, with: "").contains("\\(")
                        && !line.text.contains("user_version")
                }
                .map { Finding(path: file.path, line: $0.number, text: String($0.text)) }
            }
        #expect(found == [])
    }

    @Test func `nothing is left for later without a link`() throws {
        // Composed, so that these lines do not find themselves.
        let words = ["TO" + "DO", "FIX" + "ME"]
        for file in try everything() + Repository.documents() where file.mentions(words) {
            for (index, line) in file.lines.enumerated() {
                for word in words where contains(line, word) && !line.contains("https://") {
                    Issue.record("\(file.path):\(index + 1): \(word)")
                }
            }
        }
    }

    @Test func `no path of somebody's machine is written down`() throws {
        let paths = ["/wo" + "rk/", "/ho" + "me/", "/Us" + "ers/", "/ro" + "ot/"]
        let scripts = try [".ci/run", "Makefile", "Package.swift"].map(Repository.file)
        for file in try everything() + Repository.documents() + scripts
        where file.mentions(paths) {
            for (index, line) in file.lines.enumerated() {
                for path in paths where line.contains(path) {
                    Issue.record("\(file.path):\(index + 1): \(path)")
                }
            }
        }
    }

    @Test func `tests do not sleep`() throws {
        let found = findings(
            of: ["Task.sleep(", "usleep(", "nanosleep("],
            in: try Repository.swiftFiles(below: "Tests"),
            // That a pause of ours is no stall of the server shows only in real time.
            except: { $0.path == "Tests/ObjectStorageTests/ReceptionTests.swift" }
        )
        #expect(found == [])
    }
}
