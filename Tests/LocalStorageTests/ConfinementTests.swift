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
            durability: .unsynchronized
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
        try mirror.pruneEmptyParents(of: try relative(directory + "/f"))
        #expect(try mirror.walkAll(limit: 100).entries.isEmpty)
        #expect(try mirror.sweepTrash(olderThan: Timestamp(seconds: 1 << 40)) == 1)
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
        try withSwapper(of: directory, and: link) {
            for round in 0..<400 {
                try race(mirror, round, &result)
            }
        }
        #expect(result.readSecrets == 0)
        #expect(result.published + result.refused == 400)
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
            displacing: round.isMultiple(of: 3) ? .keepBeside(suffix: ".\(round % 5)") : .replace
        )
        switch try mirror.publish([publication], durability: .unsynchronized)[0] {
        case .published: result.published += 1
        case .failed:
            result.refused += 1
            try mirror.removePartial(publication.partialName)
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
        _ body: () throws -> Void
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
                started.signal()
            }
            stopped.signal()
        }
        defer {
            flag.isSet.store(true, ordering: .relaxed)
            stopped.wait()
        }
        started.wait()
        try body()
    }
}

private final class StopFlag: Sendable {
    let isSet = Atomic(false)
}

extension Collection where Element == UInt8 {
    fileprivate func ends(with tail: some Collection<UInt8>) -> Bool {
        reversed().starts(with: tail.reversed())
    }
}
