import Testing

/// Finds declarations whose name occurs nowhere but where it is declared.
///
/// The search is for words, so a declaration is missed whose name has another use.
@Suite("Unused declarations")
struct UnusedTests {
    /// Called by the language or the standard library, and cases that stand for raw values.
    private static let called: Set<String> = [
        "enqueue", "unownedExecutor", "customMirror", "Main", "callAsFunction",
        "OSSSyncServer", "terminate", "hangUp", "urlSession",
        "appendLiteral", "appendInterpolation",
    ]

    /// What only tests observe or set.
    private static let observed: Set<String> = [
        "waitingCallCount", "hiddenCount", "requestLog",
        "clearRequestLog", "setFaults",
    ]

    private static let allowed = called.union(observed)

    /// The programs share only `SyncModel`.
    private enum Program: Hashable { case client, server }

    private struct Declaration {
        let name: String
        let place: Finding
        let programs: Set<Program>
    }

    private struct Words {
        var declarations: [Declaration] = []
        /// How often a name occurs where it is not declared.
        var uses: [Program: [String: Int]] = [:]

        init(_ files: [RepositoryFile]) {
            for file in files {
                let isServer = file.target.hasPrefix("StorageServer")
                let programs: Set<Program> =
                    file.target == "SyncModel"
                    ? [.client, .server] : isServer ? [.server] : [.client]
                for (number, line) in file.code where !line.isEmpty {
                    add(line, programs, Finding(path: file.path, line: number, text: ""))
                }
            }
        }

        private mutating func add(
            _ line: Substring,
            _ programs: Set<Program>,
            _ place: Finding
        ) {
            let words = UnusedTests.words(line)
            var declared: [String: Int] = [:]
            for name in UnusedTests.declared(words, line) { declared[name, default: 0] += 1 }
            if !words.contains("public") {
                for name in declared.keys {
                    let found = Finding(path: place.path, line: place.line, text: name)
                    declarations.append(
                        Declaration(name: name, place: found, programs: programs)
                    )
                }
            }
            for word in words {
                if let count = declared[word], count > 0 {
                    declared[word] = count - 1
                    continue
                }
                for program in programs { uses[program, default: [:]][word, default: 0] += 1 }
            }
        }

        var unused: [Declaration] {
            declarations.filter { declaration in
                declaration.programs.allSatisfy { uses[$0]?[declaration.name] == nil }
            }
        }
    }

    /// The identifiers and keywords of a line, up to a comment.
    private static func words(_ line: Substring) -> [String] {
        let code = line.firstRange(of: " // ").map { line[..<$0.lowerBound] } ?? line
        return code.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                false
            default: true
            }
        }.map { String(decoding: $0, as: UTF8.self) }
    }

    private static let keywords: Set<String> = [
        "func", "var", "let", "struct", "class", "enum", "protocol", "actor", "typealias",
    ]

    /// The names that a line declares.
    private static func declared(_ words: [String], _ line: Substring) -> [String] {
        if words.first == "case" {
            // Patterns begin with a dot or a constant of C, or end with a colon.
            let names = line.drop { $0 == " " }.dropFirst("case ".count)
            guard names.first?.isLowercase == true,
                !names.prefix(while: { $0 != "(" }).contains(":")
            else { return [] }
            return line.contains("(") || line.contains("=")
                ? Array(words.dropFirst().prefix(1)) : Array(words.dropFirst())
        }
        return zip(words, words.dropFirst()).filter { keywords.contains($0.0) }.map(\.1)
            // `class func`, a discarded value, a parameter that is called actor, and a text with
            // CLASS after `storage-class`.
            .filter { !keywords.contains($0) && !["_", "isolated", "CLASS"].contains($0) }
    }

    @Test func `every declaration is used`() throws {
        let unused = Words(try Repository.swiftFiles(below: "Sources")).unused
        #expect(unused.filter { !Self.allowed.contains($0.name) }.map(\.place) == [])
        let stale = Self.allowed.subtracting(unused.map(\.name))
        #expect(stale == [], "they are used, or gone")
    }

    @Test func `what nothing uses is found`() {
        let text = """
            enum Kind {
                case used, unused
                case carrying(Int)
            }
            func lonely(_ kind: Kind) {
                switch kind {
                case .used: lonely(.used)
                case .carrying: break
                case EISDIR: break
                }
            }
            func seen() { let spare = seen() }
            func unseen() {}
            public func offered() {}
            """
        let file = RepositoryFile(path: "Sources/SyncEngine/A.swift", text: text)
        #expect(Set(Words([file]).unused.map(\.name)) == ["unused", "spare", "unseen"])
    }
}
