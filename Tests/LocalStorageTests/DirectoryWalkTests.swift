import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Directory walk")
struct DirectoryWalkTests {
    let temporary: TemporaryDirectory
    let mirror: MirrorDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        mirror = try temporary.mirror()
    }

    private func keys(_ batch: WalkBatch) -> [String] {
        batch.entries.map { String(decoding: $0.path.bytes, as: UTF8.self) }
    }

    @Test func `an empty directory has no entries`() throws {
        #expect(
            try mirror.walkAll(limit: 10) == WalkBatch(entries: [], issues: [], isFinished: true)
        )
    }

    @Test func `a directory sorts as its name and a slash`() throws {
        for name in ["a", "a0.d", "empty"] { try temporary.makeDirectory(name) }
        for name in ["a-b", "a/x", "a/-", "a0", "a.txt", "A", "a0.d/y", "~"] {
            try temporary.write(name, "x")
        }
        let expected = [
            "A", "a-b", "a.txt", "a/", "a/-", "a/x", "a0", "a0.d/", "a0.d/y", "empty/", "~",
        ]
        for limit in [1, 2, 3, 100] {
            #expect(keys(try mirror.walkAll(limit: limit)) == expected)
        }
    }

    @Test func `entries say what the file system says`() throws {
        try temporary.makeDirectory("d")
        try temporary.makeDirectory("d/e")
        try temporary.write("d/f", "12345")
        try temporary.setModified("d/f", seconds: 77)
        let status = try temporary.status("d/f")
        let entries = try mirror.walkAll(limit: 10).entries
        #expect(
            entries.map(\.kind).prefix(2) == [
                .directory(isEmpty: false), .directory(isEmpty: true),
            ]
        )
        guard case .file(let identity) = entries[2].kind else {
            Issue.record("no file")
            return
        }
        #expect(identity.size == 5)
        #expect(identity.modified == Timestamp(seconds: 77))
        #expect(identity.inode == status.st_ino)
        #expect(identity.device == status.st_dev)
        #expect(try mirror.fileIdentity("d/f") == identity)
    }

    @Test(arguments: ["fstatat", "openat"])
    func `a name that leads nowhere for a moment is looked at again`(call: String) throws {
        try temporary.makeDirectory("d")
        for name in ["d/a", "d/b", "e"] { try temporary.write(name, "x") }
        let counted = SystemCallFaults(.fail(errno: ENOENT), at: 0, of: [call])
        _ = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: counted))
        var number = counted.count + 1
        var isCut = false
        while true {
            // A program saves a file by moving the old one away before the new one comes.
            let faults = SystemCallFaults(.fail(errno: ENOENT), at: number, of: [call])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            let mirror = try temporary.mirror(calls: calls)
            let walk = Result { try mirror.walkAll(limit: 10) }
            guard faults.firedCall != nil else { break }
            switch walk {
            case .success(let walk) where walk.issues.isEmpty:
                #expect(keys(walk) == ["d/", "d/a", "d/b", "e"], "call \(number)")
            case .success(let walk):
                #expect(walk.issues == [WalkIssue(path: [0x64], reason: .changedDuringWalk)])
                isCut = true
            case .failure: #expect(call == "openat", "call \(number)")
            }
            number += 1
        }
        #expect(number > counted.count + 1)
        #expect(isCut == (call == "openat"))
    }

    @Test func `names of our own are left out at any depth and in any case of letters`() throws {
        _ = try mirror.partial("x")
        let digits = "0123456789abcdef0123456789abcdef"
        for name in [".OSSsync", "d", "d/.osssync", "d/e", "d/e/.osssync", "f"] {
            try temporary.makeDirectory(name)
        }
        let files = [
            ".OSSsync/x", ".osssync-\(digits)", "d/.osssync/manifest.db", "d/.osssync/config",
            "d/e/.OSSSYNC-\(digits)", "d/e/.osssync/x", "f/.OssSync", "f/x",
        ]
        for name in files { try temporary.write(name, "x") }
        let walk = try mirror.walkAll(limit: 100)
        #expect(keys(walk) == ["d/", "d/e/", "f/", "f/x"])
        let issues = walk.issues.map { displayText($0.path) + ": \($0.reason)" }
        #expect(
            issues
                == [
                    ".osssync-\(digits): reservedName", ".OSSsync: reservedName",
                    "d/.osssync: nestedMirror", "d/e/.OSSSYNC-\(digits): reservedName",
                    "d/e/.osssync: reservedName", "f/.OssSync: reservedName",
                ].sorted()
        )
        #expect(walk.issues.allSatisfy { $0.isLeftOutByDesign && !$0.makesScanIncomplete })
        #expect(
            walk.issues.first { $0.reason == .nestedMirror }?.message
                == "'d' is a separate mirror; its '.osssync' is skipped"
        )
        #expect(
            walk.issues.last?.message
                == "skipped 'f/.OssSync': the name is reserved for osssync's own files"
        )
    }

    @Test func `names of our own that a filter excludes are not named`() throws {
        for name in ["d", "d/.osssync"] { try temporary.makeDirectory(name) }
        let walk = try mirror.walk(within: .all) { path, _ in path.starts(with: "d/.osssync".utf8) }
            .next(limit: 10)
        #expect(walk.issues.isEmpty)
    }

    @Test func `links and special files are issues and hide what is beneath`() throws {
        try temporary.makeDirectory("d")
        try temporary.write("d/f", "x")
        try temporary.makeLink("link", to: "d")
        try temporary.makeLink("dangling", to: "nowhere")
        try temporary.makeFIFO("fifo")
        let walk = try mirror.walkAll(limit: 10)
        #expect(keys(walk) == ["d/", "d/f"])
        #expect(
            walk.issues == [
                WalkIssue(path: [UInt8]("dangling".utf8), reason: .symbolicLink),
                WalkIssue(path: [UInt8]("fifo".utf8), reason: .special(.fifo)),
                WalkIssue(path: [UInt8]("link".utf8), reason: .symbolicLink),
            ]
        )
        let link = try #require(walk.issues.last)
        #expect(!link.makesScanIncomplete)
        #expect(link.message == "skipped 'link': a symbolic link")
        #expect(walk.issues[1].message == "skipped 'fifo': a FIFO")
    }

    @Test func `names that are not UTF-8 are issues that hide no key`() throws {
        let names: [[UInt8]] = [[0xFF], [0x61, 0xC0, 0xAF], [0xED, 0xA0, 0x80]]
        for name in names { try temporary.write(name, []) }
        try temporary.makeDirectory([0xFE])
        try temporary.write([0xFE, 0x2F, 0x61], [])
        let walk = try mirror.walkAll(limit: 10)
        #expect(walk.entries.isEmpty)
        #expect(walk.issues.map(\.path) == [names[1], names[2], [0xFE], names[0]])
        #expect(walk.issues.allSatisfy { $0.reason == .nameNotUTF8 && !$0.makesScanIncomplete })
        #expect(
            walk.issues[0].message
                == "'a\\xC0\\xAF' has a name that is not UTF-8, as keys must be, and is skipped"
        )
    }

    @Test func `strange names come back byte for byte`() throws {
        let names: [[UInt8]] = [
            [UInt8]("new\nline".utf8), [UInt8](repeating: 0x78, count: 255),
            [UInt8]("é".utf8), [UInt8]("e\u{301}".utf8), [UInt8](" ".utf8), [UInt8]("-rf".utf8),
            [UInt8]("\u{1B}[2J".utf8), [UInt8]("*?".utf8), [UInt8]("a\\b:c".utf8), [0x01], [0x7F],
            [UInt8]("...".utf8), [UInt8]("x\u{301}".utf8), [UInt8]("\u{301}".utf8),
        ]
        for name in names { try temporary.write(name, name) }
        let found = try mirror.walkAll(limit: 3).entries.map(\.path)
        #expect(found == names.map { ObjectKey($0) }.sorted())
        for name in names {
            let file = try mirror.openForReading(try RelativePath(key: ObjectKey(name)))
            #expect(try file.read(at: 0, length: 300) == name)
        }
    }

    @Test
    func
        `an unreadable directory keeps its own place and leaves the scan proven`()
        throws
    {
        for name in ["a", "b", "c"] {
            try temporary.makeDirectory(name)
            try temporary.write(name + "/f", "x")
        }
        // Opened on the way: the root's names, `a`, its names, and then `b`.
        let faults = SystemCallFaults(.fail(errno: EACCES), at: 0, of: ["openat"])
        _ = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        let mirror = try temporary.mirror(
            failing: .init(.fail(errno: EACCES), at: faults.count + 4, of: ["openat"])
        )
        let walk = try mirror.walkAll(limit: 100)
        #expect(keys(walk) == ["a/", "a/f", "b/", "c/", "c/f"])
        #expect(walk.entries[2].kind == .directory(isEmpty: false))
        let issue = try #require(walk.issues.first)
        #expect(issue.reason == .unreadableDirectory(errno: EACCES))
        #expect(!issue.makesScanIncomplete)
        #expect(
            issue.message
                == "'b' cannot be read (Permission denied); nothing of it is transferred or deleted"
        )
        let ill = WalkIssue(path: issue.path, reason: .unreadableDirectory(errno: EIO))
        #expect(ill.makesScanIncomplete)
    }

    @Test func `a directory that cannot be read to its end is not half believed`() throws {
        try temporary.makeDirectory("a")
        for index in 0..<5 { try temporary.write("a/\(index)", "x") }
        // The state directory, `a` and the end of the root's names; then the third name of `a`.
        let mirror = try temporary.mirror(
            failing: .init(.fail(errno: EIO), at: 8, of: ["readdir"])
        )
        let walk = try mirror.walkAll(limit: 100)
        #expect(keys(walk) == ["a/"])
        #expect(walk.issues.map(\.reason) == [.unreadableDirectory(errno: EIO)])
    }

    @Test func `an entry that cannot be looked at makes the scan incomplete`() throws {
        for name in ["a", "b", "c"] { try temporary.write(name, "x") }
        let counting = SystemCallFaults(.fail(errno: EIO), at: 0, of: ["fstatat"])
        _ = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: counting))
        let mirror = try temporary.mirror(
            failing: .init(.fail(errno: EIO), at: counting.count + 2, of: ["fstatat"])
        )
        let walk = try mirror.walkAll(limit: 100)
        #expect(keys(walk) == ["a", "c"])
        #expect(walk.issues.map(\.reason) == [.unreadableEntry(errno: EIO)])
        #expect(walk.issues.allSatisfy { $0.makesScanIncomplete })
    }

    @Test func `the mirror itself being unreadable is an error`() throws {
        let mirror = try temporary.mirror(failing: .init(.fail(errno: EIO), at: 1, of: ["readdir"]))
        let error = SystemCallError(call: "readdir", errno: EIO, path: nil)
        #expect(throws: LocalError.systemCall(error)) { try mirror.walkAll(limit: 1) }
    }

    @Test func `what changes its kind during the walk is not sorted wrongly`() throws {
        for name in ["a", "b", "c", "d"] { try temporary.write(name, "x") }
        try temporary.makeDirectory("e")
        try temporary.makeDirectory("f")
        let walk = mirror.walk(within: .all) { _, _ in false }
        #expect(keys(try walk.next(limit: 1)) == ["a"])
        try temporary.remove("b")
        try temporary.remove("c")
        try temporary.makeDirectory("c")
        try temporary.remove("e")
        try temporary.write("e", "x")
        try temporary.remove("f")
        try temporary.makeLink("f", to: "/etc")
        let rest = try walk.next(limit: 100)
        #expect(keys(rest) == ["d"])
        #expect(lost(rest) == ["b"])
        let changed = rest.issues.filter { $0.reason != .disappeared }
        #expect(changed.map { displayText($0.path) } == ["c", "e", "f"])
        #expect(
            changed.allSatisfy { $0.reason == .changedDuringWalk && $0.makesScanIncomplete }
        )
    }

    private func lost(_ batch: WalkBatch) -> [String] {
        batch.issues.filter { $0.reason == .disappeared }.map { displayText($0.path) }
    }

    @Test func `names that are gone with their directory are not taken for deleted`() throws {
        for name in ["d", "d/e", "f"] { try temporary.makeDirectory(name) }
        for name in ["d/a", "d/b", "d/e/x", "f/a", "f/b"] { try temporary.write(name, "x") }
        let walk = mirror.walk(within: .all) { _, _ in false }
        #expect(keys(try walk.next(limit: 2)) == ["d/", "d/a"])
        for name in ["d/a", "d/b", "d/e/x", "d/e", "d"] { try temporary.remove(name) }
        let rest = try walk.next(limit: 3)
        #expect(lost(rest) == ["d/b", "d/e"])
        #expect(rest.issues.last == WalkIssue(path: [0x64], reason: .changedDuringWalk))
        #expect(keys(rest).isEmpty)
        #expect(keys(try walk.next(limit: 1)) == ["f/"])
        // A file of a directory that stays was deleted.
        try temporary.remove("f/b")
        let last = try walk.next(limit: 10)
        #expect(keys(last) == ["f/a"])
        #expect(lost(last) == ["f/b"])
        #expect(last.issues.allSatisfy { !$0.makesScanIncomplete })
    }

    @Test func `a directory that gets another name while it is read is noticed`() throws {
        for name in ["b", "b/c", "d"] { try temporary.makeDirectory(name) }
        for name in ["b/c/x", "b/y", "d/x"] { try temporary.write(name, "x") }
        let walk = mirror.walk(within: .all) { _, _ in false }
        #expect(keys(try walk.next(limit: 3)) == ["b/", "b/c/", "b/c/x"])
        // One of them had been opened before, and one had not.
        try temporary.rename("b/c", to: "b/a")
        try temporary.rename("d", to: "a")
        let rest = try walk.next(limit: 10)
        #expect(
            rest.issues == [
                WalkIssue(path: [UInt8]("b/c".utf8), reason: .changedDuringWalk),
                WalkIssue(path: [UInt8]("d".utf8), reason: .disappeared),
            ]
        )
        #expect(keys(rest) == ["b/y"])
        #expect(walk.hasLostNames)
        let next = try mirror.walkAll(limit: 10)
        #expect(keys(next) == ["a/", "a/x", "b/", "b/a/", "b/a/x", "b/y"])
        #expect(next.issues.isEmpty)
    }

    @Test func `a walk of a directory that is gone fails`() throws {
        try temporary.makeDirectory("m")
        let path = temporary.mirrorPath + "/m"
        let mirror = try MirrorDirectory(
            path: path,
            stateDirectory: temporary.path + "/state",
            homeDirectory: nil,
            createsIfMissing: true
        )
        for name in ["m/a", "m/b"] { try temporary.write(name, "x") }
        let walk = mirror.walk(within: .all) { _, _ in false }
        #expect(keys(try walk.next(limit: 1)) == ["a"])
        for name in ["m/a", "m/b", "m"] { try temporary.remove(name) }
        #expect(throws: LocalError.missingDirectory(path: path)) { try walk.next(limit: 10) }
        #expect(try !mirror.isAtItsPath())
        try temporary.makeDirectory("m")
        #expect(try !mirror.isAtItsPath())
    }

    @Test func `a tree deeper than its descriptors is walked and one that moves is noticed`() throws
    {
        var directory = ""
        for level in 0..<60 {
            directory += "d\(level % 10)/"
            try mirror.makeDirectory(try relative(directory))
            try temporary.write(directory + "z", "x")
        }
        let all = try mirror.walkAll(limit: 7)
        #expect(all.entries.count == 120)
        #expect(all.issues.isEmpty)
        #expect(all.entries.map(\.path) == all.entries.map(\.path).sorted())

        let walk = mirror.walk(within: .all) { _, _ in false }
        #expect(try walk.next(limit: 61).entries.count == 61)
        try temporary.rename("d0/d1/d2", to: "moved")
        try temporary.makeDirectory("d0/d1/d2")
        let rest = try walk.next(limit: 1000)
        #expect(rest.isFinished)
        #expect(rest.issues.contains { $0.reason == .changedDuringWalk })
        #expect(rest.entries.map(\.path) == rest.entries.map(\.path).sorted())
    }

    @Test func `directories beyond the depth of keys are reported and not entered`() throws {
        var directory = ""
        for _ in 0..<RelativePath.maximumDepth { directory += "d/" }
        try mirror.makeDirectory(try relative(directory))
        let walk = try mirror.walkAll(limit: 1000)
        #expect(walk.entries.count == RelativePath.maximumDepth)
        #expect(walk.issues.isEmpty)
        let deepest = try mirror.root.directory(beneath: try relative(directory))
        _ = try deepest.subdirectory(PathBytes("d"), creatingWithMode: 0o755)
        #expect(try mirror.walkAll(limit: 1000).issues.map(\.reason) == [.tooDeep])
        #expect(try mirror.removeDirectoryIfEmpty(try relative(directory)) == false)
    }
}
