import Testing

@testable import LocalStorage

@Suite("Files of several names")
struct SharedFileTests {
    let temporary: TemporaryDirectory
    let mirror: MirrorDirectory
    private let names = ["a", "b", "c", "d/e"]

    init() throws {
        temporary = try TemporaryDirectory()
        mirror = try temporary.mirror()
        try temporary.write("a", "old")
        try temporary.makeDirectory("d")
        for name in names.dropFirst() { try temporary.makeHardLink(name, to: "a") }
    }

    @Test(
        arguments: [
            .replace, .moveToTrash(run: "r"), .keepBeside(suffix: ".conflict-1-h"),
        ] as [BackupPolicy]
    )
    func `all names get their new versions in one run`(backup: BackupPolicy) throws {
        let items = try names.map { name in
            let seen = ExpectedTarget.file(try mirror.fileIdentity(name))
            return try mirror.publication("new", at: name, expecting: seen, backup: backup)
        }
        for group in [items[..<2], items[2...]] {
            let outcomes = try mirror.publish(Array(group), durability: .synchronized)
            for outcome in outcomes {
                guard case .published = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
            }
        }
        for name in names { #expect(temporary.read(name) == "new") }
    }

    @Test(arguments: [true, false])
    func `all names are deleted in one run`(hasTrash: Bool) throws {
        let seen = try names.map { ($0, try mirror.fileIdentity($0)) }
        for (name, identity) in seen {
            if hasTrash {
                try mirror.moveToTrash(relative(name), expected: identity, run: "r")
            } else {
                try mirror.remove(relative(name), expected: identity)
            }
        }
        #expect(try temporary.userTree() == ["d": "directory"])
    }

    @Test func `one that was written meanwhile is kept`() throws {
        let (first, second) = (try mirror.fileIdentity("a"), try mirror.fileIdentity("b"))
        try mirror.remove(relative("a"), expected: first)
        try temporary.write("b", "edited")
        #expect(throws: LocalError.targetChanged(try relative("b"))) {
            try mirror.remove(relative("b"), expected: second)
        }
        // Another program's name is no change of ours.
        let other = try temporary.mirror()
        let third = try other.fileIdentity("c")
        try temporary.remove("d/e")
        #expect(throws: LocalError.targetChanged(try relative("c"))) {
            try other.remove(relative("c"), expected: third)
        }
    }

    @Test func `the second name that an earlier run could not take back is used again`() throws {
        try temporary.write("x.txt", "old")
        try temporary.makeHardLink("x.conflict-20260101T000000Z-h.txt", to: "x.txt")
        let item = try mirror.publication(
            "new",
            at: "x.txt",
            expecting: .file(try mirror.fileIdentity("x.txt")),
            backup: .keepBeside(suffix: ".conflict-20260202T000000Z-h")
        )
        let outcomes = try mirror.publish([item], durability: .synchronized)
        let kept = try relative("x.conflict-20260101T000000Z-h.txt")
        #expect(outcomes == [.published(try mirror.fileIdentity("x.txt"), keptAs: kept)])
        #expect(try temporary.userTree().keys.filter { $0.hasPrefix("x") }.count == 2)
    }
}
