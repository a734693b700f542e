import Dispatch
import Glibc
import SyncModel
import Synchronization
import Testing

@testable import LocalStorage

@Suite("Confinement beneath the mirror")
struct ConfinementTests {
    let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    @Test(arguments: bothWays)
    func `no component of a path may be a link`(calls: SystemCalls) throws {
        let mirror = try temporary.mirror(calls: calls)
        try temporary.makeDirectory("real")
        try temporary.makeDirectory("real/sub")
        try temporary.write("real/sub/f", "x")
        try temporary.makeLink("link", to: "real")
        try temporary.makeLink("real/sub/up", to: "..")
        for text in ["link/sub/f", "real/sub/up/sub/f", "link/f"] {
            let path = try relative(text)
            let link = try relative(text.hasPrefix("link") ? "link/" : "real/sub/up/")
            let expected = LocalError.symlinkInPath(link)
            #expect(throws: expected) { try mirror.openForReading(path) }
            #expect(throws: expected) { try mirror.identity(of: path) }
            #expect(throws: expected) { try mirror.makeDirectory(try #require(path.parent)) }
            #expect(throws: expected) { try mirror.removeDirectoryIfEmpty(path) }
            #expect(throws: expected) {
                try mirror.moveToTrash(path, expected: mirror.fileIdentity("real/sub/f"), run: "1")
            }
        }
        #expect(temporary.read("real/sub/f") == "x")
    }

    @Test(arguments: bothWays)
    func `a missing or wrong component is named`(calls: SystemCalls) throws {
        let mirror = try temporary.mirror(calls: calls)
        try temporary.makeDirectory("d")
        try temporary.write("d/f", "x")
        #expect(throws: LocalError.absent(try relative("d/e/"))) {
            try mirror.openForReading(try relative("d/e/g"))
        }
        #expect(throws: LocalError.parentIsFile(try relative("d/f/"))) {
            try mirror.openForReading(try relative("d/f/g/h"))
        }
        #expect(throws: LocalError.parentIsFile(try relative("d/f/"))) {
            try mirror.makeDirectory(try relative("d/f/"))
        }
        #expect(try mirror.identity(of: try relative("d/f/g")) == .absent)
        #expect(try mirror.identity(of: try relative("d/e/g")) == .absent)
        #expect(try mirror.identity(of: try relative("d/e")) == .absent)
        #expect(try mirror.identity(of: try relative("d")) == .directory)
    }

    @Test(arguments: bothWays)
    func `paths longer than the system's limit work`(calls: SystemCalls) throws {
        let mirror = try temporary.mirror(calls: calls)
        let component = String(repeating: "x", count: 200)
        let directory = Array(repeating: component, count: 30).joined(separator: "/")
        let outcomes = try mirror.publish(
            [try mirror.publication("deep", at: directory + "/f", expecting: .absent)],
            durability: .synchronized
        )
        #expect(outcomes == [.published(try mirror.fileIdentity(directory + "/f"), keptAs: nil)])
        let file = try mirror.openForReading(try relative(directory + "/f"))
        #expect(try file.read(at: 0, length: 10) == [UInt8]("deep".utf8))
        #expect(try mirror.walkAll(limit: 100).entries.count == 31)
        try mirror.moveToTrash(
            try relative(directory + "/f"),
            expected: try mirror.fileIdentity(directory + "/f"),
            run: "1"
        )
        var parent = try relative(directory + "/f").parent
        while let next = parent, try mirror.removeDirectoryIfEmpty(next) { parent = next.parent }
        #expect(try mirror.walkAll(limit: 100).entries.isEmpty)
        #expect(
            try mirror.trash.sweep(olderThan: Timestamp(seconds: 1 << 40)) { Issue.record($0) } == 1
        )
    }

    @Test func `a sandbox without openat2 is served by single steps`() throws {
        for errno in [ENOSYS, EPERM, EAGAIN] {
            let mirror = try temporary.mirror(
                failing: .init(.failFromHereOn(errno: errno), at: 1, of: ["openat2"])
            )
            try mirror.makeDirectory(try relative("a/b\(errno)/c"))
            #expect(temporary.exists("a/b\(errno)/c"))
        }
    }

    /// Keys are judged before they become paths; here is what holds if that judgement failed.
    @Test(arguments: bothWays)
    func `a path that no key can make leads nowhere either`(calls: SystemCalls) throws {
        let mirror = try temporary.mirror(calls: calls)
        try temporary.makeDirectory("d")
        let outside = temporary.path + "/outside"
        try TemporaryDirectory.check("mkdir", unsafe mkdir(outside, 0o755))
        try temporary.write("../outside/canary", "theirs")
        let before = try TemporaryDirectory.namesOutside(temporary.path)
        for text in [
            "../outside/canary", "d/../../outside/canary", "..", "d/../..", "../outside/", "d/.",
            "../\u{301}x", "../made/x", outside + "/canary", "/", "/" + outside, "../outside/made/",
            "../mirror/../outside/canary",
        ] {
            let path = unchecked(text)
            try withKnownFailures(of: text) { try mirror.makeDirectory(path) }
            try withKnownFailures(of: text) {
                let file = try mirror.openForReading(path)
                let bytes = try file.read(at: 0, length: 6)
                Issue.record("\(text) was read: \(bytes)")
            }
            try withKnownFailures(of: text) {
                let removed = try mirror.removeDirectoryIfEmpty(path)
                #expect(!removed, "\(text) was removed")
            }
            try withKnownFailures(of: text) {
                var item = try mirror.publication("evil", at: "d/evil", expecting: .anything)
                item.path = path
                let outcome = try mirror.publish([item], durability: .synchronized)[0]
                if case .published = outcome { Issue.record("\(text) was published") }
            }
        }
        #expect(TemporaryDirectory.content(of: outside + "/canary") == "theirs")
        #expect(try TemporaryDirectory.namesOutside(outside) == ["canary"])
        #expect(try TemporaryDirectory.namesOutside(temporary.path) == before)
    }

    /// Every error of the file system's is fine here; a success is judged by its effect.
    private func withKnownFailures(of text: String, _ body: () throws -> Void) throws {
        do { try body() } catch is LocalError {}
    }

    /// A path as it would be if its key had not been judged.
    private func unchecked(_ text: String) -> RelativePath {
        struct Twin {
            let bytes: [UInt8]
            let isDirectory: Bool
            let isLink = false
            let isFollowed = false
            let isEscaped = false
        }
        let twin = Twin(bytes: [UInt8](text.utf8), isDirectory: text.utf8.last == 0x2F)
        return unsafe unsafeBitCast(twin, to: RelativePath.self)
    }

    /// What a race left behind.
    private struct RaceResult: Sendable {
        var published = 0
        var refused = 0
        var readSecrets = 0
    }

    /// While `mirror/d` is exchanged with a link to `outside` as fast as possible, nothing that the
    /// mirror does may reach `outside`.
    @Test(arguments: bothWays)
    func `a directory that is swapped for a link leads nowhere`(calls: SystemCalls) throws {
        let mirror = try temporary.mirror(calls: calls)
        let outside = temporary.path + "/outside"
        try TemporaryDirectory.check("mkdir", unsafe mkdir(outside, 0o755))
        try temporary.makeDirectory("d")
        try temporary.write("d/secret", "ours")
        try temporary.makeLink("link", to: outside)
        try temporary.makeLink("link/never", to: "x")
        try temporary.write("link/secret", "theirs")
        let expected = Set(["never", "secret"])

        let directory = temporary.mirrorPath + "/d"
        let link = temporary.mirrorPath + "/link"
        var result = RaceResult()
        var rounds = 0
        try withSwapper(of: directory, and: link) { turns in
            while rounds < 400 || turns() < 100_000 {
                try race(mirror, rounds, &result)
                rounds += 1
            }
        }
        #expect(result.readSecrets == 0)
        #expect(result.published + result.refused == rounds)
        let names = try TemporaryDirectory.namesOutside(outside)
        #expect(Set(names) == expected)
        #expect(TemporaryDirectory.content(of: outside + "/secret") == "theirs")
    }

    private func race(
        _ mirror: MirrorDirectory,
        _ round: Int,
        _ result: inout RaceResult
    ) throws {
        let publication = try mirror.publication(
            "new \(round)",
            at: "d/new",
            expecting: .anything,
            backup: round.isMultiple(of: 3) ? .keepBeside(suffix: ".\(round % 5)") : .replace
        )
        switch try mirror.publish([publication], durability: .synchronized)[0] {
        case .published: result.published += 1
        case .failed:
            result.refused += 1
            try mirror.partials.remove(publication.partialName)
        }
        if let file = try? mirror.openForReading(try relative("d/secret")) {
            let bytes = try file.read(at: 0, length: 10)
            if bytes != [UInt8]("ours".utf8) { result.readSecrets += 1 }
        }
        _ = try? mirror.makeDirectory(try relative("d/made/\(round % 5)"))
        let walk = try mirror.walkAll(limit: 1000)
        if walk.entries.contains(where: { $0.path.bytes.ends(with: "/never".utf8) }) {
            result.readSecrets += 1
        }
    }

    private func withSwapper(
        of first: String,
        and second: String,
        _ body: (_ turns: () -> Int) throws -> Void
    ) throws {
        // Swift sees no declaration of it, but the library has it.
        typealias Exchange =
            @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) ->
            Int32
        let symbol = unsafe try #require(unsafe dlsym(nil, "renameat2"))
        let renameat2 = unsafe unsafeBitCast(symbol, to: Exchange.self)
        let started = DispatchSemaphore(value: 0)
        let stopped = DispatchSemaphore(value: 0)
        let flag = StopFlag()
        DispatchQueue.global().async {
            let exchange: UInt32 = 2
            while !flag.isSet.load(ordering: .relaxed) {
                _ = unsafe renameat2(AT_FDCWD, first, AT_FDCWD, second, exchange)
                flag.turns.add(1, ordering: .relaxed)
                started.signal()
            }
            stopped.signal()
        }
        defer {
            flag.isSet.store(true, ordering: .relaxed)
            stopped.wait()
        }
        started.wait()
        try body { flag.turns.load(ordering: .relaxed) }
    }
}

private final class StopFlag: Sendable {
    let isSet = Atomic(false)
    let turns = Atomic(0)
}

extension Collection where Element == UInt8 {
    fileprivate func ends(with tail: some Collection<UInt8>) -> Bool {
        reversed().starts(with: tail.reversed())
    }
}
