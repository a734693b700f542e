import Testing

/// Who may import whom; the arrows of `docs/architecture.md` as a table.
private let allowedImports: [String: Set<String>] = [
    "CLibrary": ["libc"],
    "SyncModel": ["CISAL", "CChecksums"],
    "SyncPlanner": ["SyncModel"],
    "ObjectStorage": ["SyncModel", "CCurl", "CCrypto", "CExpat", "CSodium", "CLibrary"],
    "LocalStorage": ["SyncModel", "CSystem", "CLibrary"],
    "ManifestStore": ["SyncModel", "CSQLite", "CLibrary"],
    "ObjectTransfer": ["SyncModel", "ObjectStorage", "LocalStorage", "CChecksums"],
    "SyncEngine": [
        "SyncModel", "SyncPlanner", "ObjectStorage", "LocalStorage", "ManifestStore",
        "ObjectTransfer",
    ],
    "OSSTransfer": ["ObjectTransfer", "ObjectStorage", "LocalStorage", "SyncModel", "CLibrary"],
    "OSSBucket": ["OSSTransfer", "ObjectTransfer", "ObjectStorage", "SyncModel"],
    "OSSTransferFoundation": ["OSSBucket", "OSSTransfer", "SyncModel", "Foundation"],
    "OSSTransferTesting": ["OSSBucket", "OSSTransfer", "ObjectStorage", "SyncModel"],
    "OSSSync": [
        "OSSBucket", "OSSTransfer", "SyncEngine", "ObjectTransfer", "ObjectStorage", "LocalStorage",
        "SyncModel",
    ],
    "OSSSyncCLI": ["OSSBucket", "OSSSync", "CSystem", "CLibrary", "libc"],
    "StorageServer": [
        "SyncModel", "CMicrohttpd", "CCrypto", "CExpat", "CSQLite", "CSystem", "CLibrary",
        "FoundationEssentials",
    ],
    "StorageServerCLI": ["StorageServer", "SyncModel", "CLibrary"],
]

/// The files that use a platform's own modules, where the libraries of C are not linked.
let platformFiles: [String: Set<String>] = [
    "Sources/ObjectStorage/HTTP/URLSessionTransport.swift": ["Foundation", "FoundationNetworking"],
    "Sources/ObjectStorage/HTTP/URLSessionTranslation.swift": [
        "Foundation", "FoundationNetworking",
    ],
    "Sources/ObjectStorage/Crypto/CryptoKitDigest.swift": ["CryptoKit", "Foundation"],
]

/// Modules of the toolchain that any layer may use.
private let allowedEverywhere: Set<String> = ["Synchronization", "Dispatch"]

/// The one folder of a target that may use a module; other targets use it freely.
private let homes: [(target: String, module: String, folder: String)] = [
    ("ObjectStorage", "CCurl", "HTTP"), ("ObjectStorage", "CCrypto", "Crypto"),
    ("ObjectStorage", "CExpat", "XML"),
    ("ObjectStorage", "CSodium", "Sealing"),
    ("ManifestStore", "CSQLite", "SQLite"), ("ObjectTransfer", "CChecksums", "Verification"),
    ("OSSSyncCLI", "CSystem", "Process"),
]

@Suite("Layers")
struct LayerTests {
    /// The module of an import declaration, with Glibc and Darwin under one name.
    private func module(of line: Substring) -> String? {
        let words = line.split { $0 == " " }
        guard let place = words.firstIndex(of: "import"),
            words[..<place].allSatisfy({ isModifier($0) }), place + 1 < words.count
        else { return nil }
        // `import struct A.B` names the module before the point.
        let kinds: Set<Substring> = ["struct", "class", "enum", "func", "protocol", "typealias"]
        let name = kinds.contains(words[place + 1]) ? words.last : words[place + 1]
        let module = String(name?.split(separator: ".").first ?? "")
        return module == "Glibc" || module == "Darwin" ? "libc" : module
    }

    private func isModifier(_ word: Substring) -> Bool {
        word.hasPrefix("@") || ["public", "package", "internal", "private"].contains(word)
    }

    private func imports() throws -> [(file: RepositoryFile, line: Int, module: String)] {
        try Repository.swiftFiles(below: "Sources").flatMap { file in
            file.code.compactMap { number, text in
                module(of: text).map { (file, number, $0) }
            }
        }
    }

    @Test func `a target imports only what its layer may know`() throws {
        let found = try imports()
        #expect(found.count > 50)
        for (file, line, module) in found where !allowedEverywhere.contains(module) {
            let layer = try #require(allowedImports[file.target], "\(file.path)")
            let allowed = layer.union(platformFiles[file.path, default: []])
            #expect(allowed.contains(module), "\(file.path):\(line) imports \(module)")
        }
    }

    @Test func `a C library is known to one folder only`() throws {
        for (file, line, module) in try imports() {
            for home in homes where home.target == file.target && home.module == module {
                let folder = "Sources/\(home.target)/\(home.folder)/"
                #expect(file.path.hasPrefix(folder), "\(file.path):\(line) imports \(module)")
            }
        }
    }

    /// Swift gives each structure of the C library to one module that shows it, and which one
    /// depends on the order of compilation: in a file that imports the C library alone, it may be
    /// missing.
    @Test func `headers of our own show nothing of the C library`() throws {
        let headers = try Repository.files(below: "Sources") {
            // A shim is a header of somebody else.
            $0.hasSuffix(".h") && $0 != "shim.h"
        }
        #expect(headers.count > 1)
        for header in headers {
            for line in header.lines where line.hasPrefix("#include") {
                #expect(["<stddef.h>", "<stdint.h>"].contains(line.dropFirst(9)), "\(header.path)")
            }
        }
    }

    @Test func `every target has its row in the table`() throws {
        let targets = Set(try Repository.swiftFiles(below: "Sources").map(\.target))
        #expect(targets.isSubset(of: allowedImports.keys))
    }

    @Test(
        arguments: [
            ("import A", "A"), ("internal import A", "A"), ("@_exported public import A", "A"),
            ("package import struct A.B", "A"), ("internal import Glibc", "libc"),
            ("let text = \"import A\"", nil), ("important", nil),
        ] as [(String, String?)]
    )
    func `imports are recognized in every form`(line: String, expected: String?) {
        #expect(module(of: line[...]) == expected)
    }
}
