import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Restoring from the trash")
struct RestorationTests {
    private static let run = "20260102T030405Z-run-7"
    private static let later = "20260103T030405Z-restore"
    let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    /// Puts a file into the trash of the run.
    private func discard(_ path: String, _ content: String) throws {
        try temporary.write(path, content)
        try temporary.setModified(path, seconds: 1_000_000_000)
        try temporary.setMode(path, 0o640)
        let mirror = try temporary.mirror()
        try mirror.moveToTrash(
            try relative(path),
            expected: try mirror.fileIdentity(path),
            run: Self.run
        )
    }

    private func restore(
        _ mirror: MirrorDirectory,
        _ path: String,
        to target: String? = nil,
        replacing: String? = nil
    ) throws -> RestorationOutcome {
        let run = try #require(try mirror.trash.runs().first)
        return try mirror.restore(
            try relative(path),
            from: run,
            to: try relative(target ?? path),
            replacing: replacing,
            unless: Interruption()
        )
    }

    /// The contents of all files in the trash.
    private func trash() throws -> [String: String] {
        try temporary.tree(".osssync/trash").filter { $0.value != "directory" }
    }

    @Test func `a file has its path, time and mode again and leaves nothing behind`() throws {
        try temporary.makeDirectory("a")
        try discard("a/f", "gone")
        try temporary.remove("a")
        let mirror = try temporary.mirror()
        let run = try #require(try mirror.trash.runs().first)
        #expect(run.number == 7)
        #expect(run.time == Timestamp(basicText: "20260102T030405Z"))
        #expect(try restore(mirror, "a/f") == .restored(replaced: false))
        #expect(try temporary.userTree() == ["a": "directory", "a/f": "gone"])
        #expect(try temporary.status("a/f").st_mtim.tv_sec == 1_000_000_000)
        #expect(try temporary.permissions("a/f") == 0o640)
        #expect(try mirror.trash.runs().isEmpty)
        #expect(throws: LocalError.absent(try relative("a/f"))) {
            try mirror.restore(
                try relative("a/f"),
                from: run,
                to: try relative("a/f"),
                replacing: nil,
                unless: Interruption()
            )
        }
    }

    @Test func `a file that is there stays, unless it is replaced and kept`() throws {
        try discard("f", "old")
        try temporary.write("f", "new")
        let mirror = try temporary.mirror()
        #expect(try restore(mirror, "f") == .occupied)
        #expect(try temporary.userTree() == ["f": "new"])
        #expect(try restore(mirror, "f", replacing: Self.later) == .restored(replaced: true))
        #expect(try temporary.userTree() == ["f": "old"])
        #expect(try trash() == [".osssync/trash/\(Self.later)/f": "new"])
        #expect(try mirror.trash.runs().map(\.number) == [nil])
    }

    @Test func `equal content is left as it is`() throws {
        try discard("f", "same")
        try temporary.write("f", "same")
        let inode = try temporary.status("f").st_ino
        let mirror = try temporary.mirror()
        #expect(try restore(mirror, "f", replacing: Self.later) == .alreadyThere)
        #expect(try temporary.status("f").st_ino == inode)
        #expect(try trash().count == 1)
    }

    @Test func `no link is followed out of the directory`() throws {
        try temporary.makeDirectory("a")
        try discard("a/f", "gone")
        try temporary.remove("a")
        let outside = try TemporaryDirectory()
        try temporary.makeLink("a", to: outside.mirrorPath)
        let mirror = try temporary.mirror()
        #expect(throws: LocalError.symlinkInPath(try relative("a/"))) { try restore(mirror, "a/f") }
        try temporary.makeLink("l", to: outside.mirrorPath + "/f")
        #expect(throws: LocalError.targetIsSpecial(try relative("l"), .symbolicLink)) {
            try restore(mirror, "a/f", to: "l", replacing: Self.later)
        }
        #expect(try outside.tree().isEmpty)
        #expect(try trash().count == 1)
        // Neither is one in the trash, which can be there itself.
        try temporary.makeLink(".osssync/trash/\(Self.run)/b", to: outside.mirrorPath)
        try outside.write("secret", "theirs")
        var found: [String] = []
        for run in try mirror.trash.runs() {
            try mirror.trash.forEachFile(in: run, at: nil) { key, _ in
                found.append(key.display)
                return true
            }
        }
        #expect(found == ["b", "a/f"])
        #expect(throws: LocalError.absent(try relative("b/secret"))) {
            try restore(mirror, "b/secret")
        }
    }

    @Test(arguments: [false, true], [true, false])
    func `a kill at any call loses neither version`(replaces: Bool, hasHardLinks: Bool) throws {
        var number = 0
        while true {
            number += 1
            let temporary = try TemporaryDirectory()
            let tests = Self(temporary)
            try tests.temporary.makeDirectory("a")
            try tests.discard("a/f", "old")
            if replaces { try temporary.write("a/f", "new") }
            let kill = SystemCallFaults.Rule(.failFromHereOn(errno: EIO), at: number, of: [])
            let links = SystemCallFaults.Rule(
                .failFromHereOn(errno: EPERM),
                at: hasHardLinks ? 0 : 1,
                of: ["linkat"]
            )
            let replacing = replaces ? Self.later : nil
            let faults = SystemCallFaults([kill, links])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            if let mirror = try? temporary.mirror(calls: calls) {
                _ = try? tests.restore(mirror, "a/f", replacing: replacing)
            }
            let isWhole = faults.firedCall == nil
            let path = try temporary.userTree()["a/f"]
            let versions = Set([path].compactMap(\.self) + (try tests.trash().values))
            let isMoving = replaces && !hasHardLinks
            #expect(versions == (replaces ? ["old", "new"] : ["old"]), "call \(number)")
            #expect(!replaces || isMoving || path == "old" || path == "new", "call \(number)")
            // The same command goes on.
            let mirror = try temporary.mirror()
            if path != "old" {
                _ = try tests.restore(mirror, "a/f", replacing: replacing)
            }
            #expect(try temporary.userTree()["a/f"] == "old", "call \(number)")
            let kept = Set(try tests.trash().values)
            #expect(kept.contains("new") == replaces, "call \(number)")
            if isWhole { break }
        }
        #expect(number > 5)
    }

    private init(_ temporary: TemporaryDirectory) {
        self.temporary = temporary
    }

    @Test func `a file that is saved before the exchange has its name again`() throws {
        try discard("f", "old")
        try temporary.write("f", "new")
        let temporary = temporary
        // The first exclusive rename finds the name taken, the second one exchanges.
        let faults = SystemCallFaults(before: [2], of: "renameat2") { _ in
            do {
                try temporary.write("f.new", "saved")
                try temporary.rename("f.new", to: "f")
            } catch {
                Issue.record(error)
            }
        }
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        #expect(throws: LocalError.targetChanged(try relative("f"))) {
            try restore(mirror, "f", replacing: Self.later)
        }
        #expect(try temporary.userTree() == ["f": "saved"])
        #expect(Set(try trash().values) == ["old"])
    }
}
