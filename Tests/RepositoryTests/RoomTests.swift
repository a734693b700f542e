import Testing

/// The folders of SyncEngine: each uses only itself and those before it.
private let rooms = [
    "Events", "Session", "Bookkeeping", "Plan", "Publish", "Items", "Deletions", "Run", "Shards",
    "Watch",
]

/// The types of one target, and who uses whom.
private struct TypeGraph {
    /// Where each type is declared, by its name.
    private(set) var homes: [String: RepositoryFile] = [:]
    /// The words of each file's code that begin with a capital letter.
    private(set) var words: [(file: RepositoryFile, words: Set<String>)] = []

    init(files: [RepositoryFile]) {
        for file in files {
            var found: Set<String> = []
            for (_, text) in file.code {
                if let name = Self.declaredType(text) { homes[name] = file }
                found.formUnion(Self.typeWords(text))
            }
            words.append((file, found))
        }
    }

    /// The name that a line without indentation declares for others to see.
    static func declaredType(_ line: Substring) -> String? {
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
        let tokens = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        guard line.first?.isLetter == true, tokens.first != "private",
            tokens.first != "fileprivate", let kind = tokens.firstIndex(where: kinds.contains),
            kind + 1 < tokens.count, tokens[..<kind].allSatisfy({ $0.first?.isLowercase == true })
        else { return nil }
        return String(tokens[kind + 1])
    }

    static func typeWords(_ line: Substring) -> Set<String> {
        Set(
            line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
                .filter { $0.first?.isUppercase == true }.map(String.init)
        )
    }

    /// A file and its extensions count as one: `A.swift`, `A+B.swift`.
    static func family(_ file: RepositoryFile) -> String {
        let name = file.path.split(separator: "/").last ?? ""
        return String(name.prefix { $0 != "." && $0 != "+" })
    }

    var arrows: [String: Set<String>] {
        var arrows: [String: Set<String>] = [:]
        for (file, words) in words {
            let family = Self.family(file)
            let used = words.compactMap { homes[$0].map(Self.family) }
            arrows[family, default: []].formUnion(used.filter { $0 != family })
        }
        return arrows
    }

    /// Every family that leads back to itself over others.
    var circles: [String] {
        let arrows = arrows
        return arrows.keys.sorted().filter { start in
            var seen: Set<String> = []
            var open = Array(arrows[start] ?? [])
            while let next = open.popLast() {
                if seen.insert(next).inserted { open += arrows[next] ?? [] }
            }
            return seen.contains(start)
        }
    }
}

@Suite("Rooms")
struct RoomTests {
    private func graph(_ target: String) throws -> TypeGraph {
        TypeGraph(files: try Repository.swiftFiles(below: "Sources/" + target))
    }

    @Test(arguments: ["SyncModel", "SyncPlanner", "ManifestStore", "ObjectTransfer", "SyncEngine"])
    func `no type of a target leads back to itself over others`(target: String) throws {
        let graph = try graph(target)
        #expect(graph.homes.count > 5)
        #expect(graph.circles == [])
    }

    @Test func `a folder of the engine uses only those before it`() throws {
        let graph = try graph("SyncEngine")
        func room(_ file: RepositoryFile) throws -> Int {
            let folder = file.path.split(separator: "/").dropLast().dropFirst(2).first ?? ""
            return try #require(rooms.firstIndex(of: String(folder)), "\(file.path) has no room")
        }
        for (file, words) in graph.words {
            for word in words.sorted() {
                guard let home = graph.homes[word] else { continue }
                #expect(try room(home) <= room(file), "\(file.path) uses \(word) of a later room")
            }
        }
    }

    @Test func `circles and declarations are recognized`() {
        func file(_ name: String, _ text: String) -> RepositoryFile {
            RepositoryFile(path: "Sources/T/\(name).swift", text: text)
        }
        let graph = TypeGraph(
            files: [
                file("A", "struct A { let b: B }"), file("B", "package final class B { let c: C }"),
                file("C", "enum C {}"), file("C+More", "extension C { var a: A? { nil } }"),
                file("D", "private struct E {}\nstruct D { let a: A; let e: E }"),
            ]
        )
        #expect(graph.homes.keys.sorted() == ["A", "B", "C", "D"])
        #expect(graph.circles == ["A", "B", "C"])
    }
}
