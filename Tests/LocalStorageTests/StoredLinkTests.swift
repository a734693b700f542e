import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Links that are mirrored themselves")
struct StoredLinkTests {
    private func link(_ text: String) throws -> RelativePath {
        try RelativePath(key: ObjectKey(text + ObjectKey.linkSuffix), links: .store)
    }

    private func target(_ temporary: TemporaryDirectory, _ name: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 5_000)
        let path = temporary.mirrorPath + "/" + name
        let count = unsafe readlink(path, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func publication(
        _ mirror: MirrorDirectory,
        _ text: String,
        at path: String,
        _ expected: ExpectedTarget,
        backup: BackupPolicy = .replace
    ) throws -> Publication {
        var publication = try mirror.publication(
            text,
            at: path,
            expecting: expected,
            backup: backup
        )
        publication.path = try link(path)
        return publication
    }

    private func identity(_ mirror: MirrorDirectory, _ path: String) throws -> FileIdentity {
        guard case .file(let identity) = try mirror.identity(of: link(path)) else {
            throw TemporaryDirectory.Failure(call: "no link at \(path)", errno: 0)
        }
        return identity
    }

    @Test func `a walk has each by its key, in the order of the keys`() throws {
        let temporary = try TemporaryDirectory()
        let mirror = try temporary.mirror()
        for name in ["l-x", "l.a", "l.s", "l0", "m.rclonelink", "n.rclonelink"] {
            try temporary.write(name, "x")
        }
        for name in ["d", "l.rclonelink.d", "o.rclonelink"] { try temporary.makeDirectory(name) }
        try temporary.write("o.rclonelink/f", "x")
        for (name, target) in [("l", "d"), ("m", "/"), ("d/up", ".."), (".osssync-link", "x")] {
            try temporary.makeLink(name, to: target)
        }
        let reserved = ".osssync-0123456789abcdef0123456789abcdef"
        try temporary.makeLink(reserved, to: "x")
        for limit in [1, 2, 3, 100] {
            let walk = mirror.walk(within: .all, links: .store, leavingOut: { _, _ in false })
            var keys: [String] = []
            var issues: [WalkIssue] = []
            while true {
                let batch = try walk.next(limit: limit)
                keys += batch.entries.map(\.path.display)
                issues += batch.issues
                if batch.isFinished { break }
            }
            #expect(
                keys == [
                    ".osssync-link.rclonelink", "d/", "d/up.rclonelink", "l-x", "l.a",
                    "l.rclonelink", "l.rclonelink.d/", "l.s", "l0", "m.rclonelink",
                    "o.rclonelink/", "o.rclonelink/f",
                ]
            )
            #expect(keys.map { ObjectKey($0) }.sorted().map(\.display) == keys)
            let expected: [(String, WalkIssue.Reason)] = [
                (reserved, .reservedName), (".osssync-link", .storedLink), ("d/up", .storedLink),
                ("l", .storedLink), ("m", .storedLink), ("m.rclonelink", .linkName),
                ("n.rclonelink", .linkName),
            ]
            #expect(issues.map(\.path) == expected.map { [UInt8]($0.0.utf8) })
            #expect(issues.map(\.reason) == expected.map(\.1))
            #expect(issues.allSatisfy { !$0.files.isEmpty == ($0.reason == .linkName) })
            #expect(issues.allSatisfy { !$0.makesScanIncomplete })
        }
    }

    @Test(arguments: ["file", "directory", "nothing"])
    func `one that becomes something else during the walk proves no deletion`(kind: String) throws {
        let temporary = try TemporaryDirectory()
        try temporary.makeLink("l", to: "x")
        let mirror = try temporary.mirror()
        let walk = mirror.walk(within: .all, links: .store, leavingOut: { _, _ in false })
        #expect(try walk.next(limit: 1).issues.map(\.reason) == [.storedLink])
        try temporary.remove("l")
        switch kind {
        case "file": try temporary.write("l", "x")
        case "directory": try temporary.makeDirectory("l")
        default: break
        }
        let batch = try walk.next(limit: 10)
        #expect(batch.entries.isEmpty)
        let path = [UInt8]("l.rclonelink".utf8)
        let reason: WalkIssue.Reason = kind == "nothing" ? .disappeared : .changedDuringWalk
        #expect(batch.issues == [WalkIssue(path: path, reason: reason)])
    }

    @Test func `one is published with its text and time, beside and in place of another`() throws {
        let temporary = try TemporaryDirectory()
        let mirror = try temporary.mirror()
        for durability in [
            PublicationDurability.synchronized, .synchronizedEach, .synchronizedTwice,
        ] {
            let name = "\(durability)"
            let new = try publication(mirror, "../\(name)", at: "d/\(name)", .absent)
            guard
                case .published(let identity, nil)? = try mirror.publish(
                    [new],
                    durability: durability
                ).first
            else {
                Issue.record("not published")
                continue
            }
            #expect(target(temporary, "d/\(name)") == "../\(name)")
            #expect(identity.modified == new.modified)
            #expect(try self.identity(mirror, "d/\(name)") == identity)
            let file = try mirror.openForReading(try link("d/\(name)"))
            #expect(file.linkText == Array("../\(name)".utf8))
            #expect(try file.identity() == identity)
            #expect(try file.read(at: 1, length: 2) == Array("./".utf8))
            let next = try publication(
                mirror,
                "other",
                at: "d/\(name)",
                .file(identity),
                backup: .keepBeside(suffix: ".kept")
            )
            let outcome = try mirror.publish([next], durability: durability)
            guard case .published(_, let kept?)? = outcome.first else {
                Issue.record("not replaced: \(outcome)")
                continue
            }
            #expect(target(temporary, "d/\(name)") == "other")
            #expect(target(temporary, kept.display) == "../\(name)")
        }
        #expect(try temporary.tree(".osssync/partial").isEmpty)
    }

    @Test func `one replaces nothing but the link that was seen`() throws {
        let temporary = try TemporaryDirectory()
        let mirror = try temporary.mirror()
        try temporary.write("f", "file")
        try temporary.makeDirectory("d")
        try temporary.makeLink("l", to: "first")
        let seen = try identity(mirror, "l")
        try temporary.remove("l")
        try temporary.makeLink("l", to: "second")
        let file = try mirror.fileIdentity("f")
        let group = [
            try publication(mirror, "x", at: "f", .absent),
            try publication(mirror, "x", at: "f", .file(file)),
            try publication(mirror, "x", at: "d", .absent),
            try publication(mirror, "x", at: "l", .absent),
            try publication(mirror, "x", at: "l", .file(seen)),
            try publication(mirror, "x\0y", at: "n", .absent),
            try publication(mirror, "", at: "n", .absent),
        ]
        let outcomes = try mirror.publish(group, durability: .synchronized)
        #expect(
            outcomes == [
                .failed(.targetIsFile(try link("f"))), .failed(.targetIsFile(try link("f"))),
                .failed(.targetIsDirectory(try link("d"))),
                .failed(.targetChanged(try link("l"))), .failed(.targetChanged(try link("l"))),
                .failed(.noLinkText(try link("n"))), .failed(.noLinkText(try link("n"))),
            ]
        )
        #expect(target(temporary, "l") == "second")
        #expect(temporary.read("f") == "file")
        // And no file replaces a link.
        let over = try mirror.publication("x", at: "l", expecting: .file(seen))
        let outcome = try mirror.publish([over], durability: .synchronized)
        #expect(outcome == [.failed(.targetIsSpecial(try relative("l"), .symbolicLink))])
    }

    @Test(arguments: [EIO, ENOSPC])
    func `after any failing call each is the old or the new one`(errno: Int32) throws {
        var number = 0
        var isOver = false
        while !isOver {
            number += 1
            try #require(number < 300, "a publication has an end")
            for effect in [
                SystemCallFaults.Effect.fail(errno: errno), .failFromHereOn(errno: errno),
            ] {
                let temporary = try TemporaryDirectory()
                for name in ["a", "b", "c"] { try temporary.makeLink(name, to: "old") }
                let plain = try temporary.mirror()
                let backups: [String: BackupPolicy] = [
                    "b": .moveToTrash(run: "1"), "c": .keepBeside(suffix: ".old"),
                ]
                let group = try ["a", "b", "c"].map { name in
                    try publication(
                        plain,
                        "new",
                        at: name,
                        .file(try identity(plain, name)),
                        backup: backups[name] ?? .replace
                    )
                }
                let counting = SystemCallFaults(effect, at: 0, of: [])
                _ = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: counting))
                let faults = SystemCallFaults(effect, at: counting.count + number, of: [])
                let calls = SystemCalls(usesOpenat2: true, faults: faults)
                _ = try? temporary.mirror(calls: calls).publish(group, durability: .synchronized)
                for name in ["a", "b", "c"] {
                    let found = target(temporary, name)
                    #expect(found == "old" || found == "new", "\(name), call \(number)")
                }
                isOver = faults.firedCall == nil
            }
        }
        #expect(number > 20)
    }

    @Test func `one goes to the trash and comes back`() throws {
        let temporary = try TemporaryDirectory()
        let mirror = try temporary.mirror()
        try temporary.makeLink("l", to: "text")
        let seen = try identity(mirror, "l")
        // The path of a file has no link.
        #expect(throws: LocalError.targetChanged(try relative("l"))) {
            try mirror.moveToTrash(try relative("l"), expected: seen, run: "1")
        }
        try mirror.moveToTrash(try link("l"), expected: seen, run: "1")
        #expect(try mirror.identity(of: link("l")) == .absent)
        let run = try #require(try mirror.trash.runs().first)
        var found: [String] = []
        try mirror.trash.forEachFile(in: run, at: nil) { key, _ in
            found.append(key.display)
            return true
        }
        #expect(found == ["l"])
        #expect(try mirror.trash.holds(try relative("l"), in: run))
        func restore(_ replacing: String?) throws -> RestorationOutcome {
            try mirror.restore(
                try relative("l"),
                from: run,
                to: try relative("l"),
                replacing: replacing,
                unless: Interruption()
            )
        }
        try temporary.makeLink("l", to: "other")
        #expect(try restore(nil) == .occupied)
        #expect(target(temporary, "l") == "other")
        #expect(try restore("2") == .restored(replaced: true))
        #expect(target(temporary, "l") == "text")
    }
}
