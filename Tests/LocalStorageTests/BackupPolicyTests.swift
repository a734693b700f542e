import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Displacement and trash")
struct BackupPolicyTests {
    let temporary: TemporaryDirectory
    let mirror: MirrorDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        mirror = try temporary.mirror()
    }

    /// A mirror on a file system where files have one name.
    private func mirrorWithoutHardLinks() throws -> MirrorDirectory {
        try temporary.mirror(failing: .init(.failFromHereOn(errno: EPERM), at: 1, of: ["linkat"]))
    }

    private func trashTree() throws -> [String: String] {
        try temporary.tree(".osssync/trash").filter { $0.value != "directory" }
    }

    @Test(arguments: [true, false])
    func `a replaced version goes to the trash by its path`(hasHardLinks: Bool) throws {
        let mirror = hasHardLinks ? mirror : try mirrorWithoutHardLinks()
        try temporary.makeDirectory("d")
        try temporary.write("d/f", "old")
        let publication = try mirror.publication(
            "new",
            at: "d/f",
            expecting: .file(try mirror.fileIdentity("d/f")),
            backup: .moveToTrash(run: "12")
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        #expect(outcomes == [.published(try mirror.fileIdentity("d/f"), keptAs: nil)])
        #expect(temporary.read("d/f") == "new")
        #expect(try trashTree() == [".osssync/trash/12/d/f": "old"])
        #expect(try temporary.status(".osssync/trash/12/d/f").st_nlink == 1)
        #expect(try temporary.permissions(".osssync/trash") == 0o700)
    }

    @Test(arguments: [true, false])
    func `a conflicting version stays beside the new one`(hasHardLinks: Bool) throws {
        let mirror = hasHardLinks ? mirror : try mirrorWithoutHardLinks()
        try temporary.write("report.pdf", "mine")
        try temporary.write("report.conflict-T-host.pdf", "an earlier conflict")
        let publication = try mirror.publication(
            "theirs",
            at: "report.pdf",
            expecting: .file(try mirror.fileIdentity("report.pdf")),
            backup: .keepBeside(suffix: ".conflict-T-host")
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        let kept = try relative("report.conflict-T-host-2.pdf")
        #expect(outcomes == [.published(try mirror.fileIdentity("report.pdf"), keptAs: kept)])
        #expect(
            try temporary.userTree() == [
                "report.pdf": "theirs",
                "report.conflict-T-host.pdf": "an earlier conflict",
                "report.conflict-T-host-2.pdf": "mine",
            ]
        )
    }

    @Test(arguments: [true, false])
    func `a rename that fails puts the old version back`(hasHardLinks: Bool) throws {
        // With second names a plain rename replaces; without, the second exclusive one fills the
        // gap.
        let mirror =
            hasHardLinks
            ? try temporary.mirror(failing: .init(.fail(errno: EIO), at: 1, of: ["renameat"]))
            : try temporary.mirror(
                failing: .init(.fail(errno: EIO), at: 2, of: ["renameat2"]),
                .init(.failFromHereOn(errno: EPERM), at: 1, of: ["linkat"])
            )
        try temporary.write("f", "old")
        let publication = try mirror.publication(
            "new",
            at: "f",
            expecting: .anything,
            backup: .keepBeside(suffix: ".kept")
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        let call = hasHardLinks ? "renameat" : "renameat2"
        let error = SystemCallError(call: call, errno: EIO, path: "f")
        #expect(outcomes == [.failed(.systemCall(error))])
        #expect(try temporary.userTree() == ["f": "old"])
        #expect(try mirror.partials.names() == [publication.partialName])
    }

    @Test func `a deleted file goes to the trash`() throws {
        try temporary.makeDirectory("d")
        try temporary.write("d/f", "x")
        let identity = try mirror.fileIdentity("d/f")
        try mirror.moveToTrash(try relative("d/f"), expected: identity, run: "3")
        #expect(try temporary.userTree() == ["d": "directory"])
        #expect(try trashTree() == [".osssync/trash/3/d/f": "x"])
    }

    @Test func `a path that is in the trash already gets a second tree`() throws {
        for content in ["1", "2", "3"] {
            try temporary.write("f", content)
            try mirror.moveToTrash(
                try relative("f"),
                expected: try mirror.fileIdentity("f"),
                run: "3"
            )
        }
        try temporary.makeDirectory("f")
        try temporary.write("f/g", "beneath")
        try mirror.moveToTrash(
            try relative("f/g"),
            expected: try mirror.fileIdentity("f/g"),
            run: "3"
        )
        #expect(
            try trashTree() == [
                ".osssync/trash/3/f": "1", ".osssync/trash/3~1/f": "2",
                ".osssync/trash/3~2/f": "3", ".osssync/trash/3~3/f/g": "beneath",
            ]
        )
    }

    @Test func `a file that cannot be renamed to the trash is copied there`() throws {
        try temporary.write("f", "x")
        let faults = SystemCallFaults(.fail(errno: EXDEV), at: 1, of: ["renameat2"])
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        let path = try relative("f")
        try mirror.moveToTrash(path, expected: mirror.fileIdentity("f"), run: "3")
        #expect(try temporary.userTree() == [:])
        #expect(try trashTree() == [".osssync/trash/3/f": "x"])
    }

    @Test func `a file that changed is not deleted`() throws {
        try temporary.write("f", "x")
        let identity = try mirror.fileIdentity("f")
        try temporary.write("f", "yz")
        let path = try relative("f")
        #expect(throws: LocalError.targetChanged(path)) {
            try mirror.moveToTrash(path, expected: identity, run: "3")
        }
        #expect(throws: LocalError.targetChanged(path)) {
            try mirror.remove(path, expected: identity)
        }
        try temporary.remove("f")
        try temporary.makeDirectory("f")
        #expect(throws: LocalError.targetChanged(path)) {
            try mirror.remove(path, expected: identity)
        }
        #expect(try temporary.userTree() == ["f": "directory"])
    }

    @Test func `without a trash an unchanged file is removed at once`() throws {
        try temporary.write("f", "x")
        try mirror.remove(try relative("f"), expected: try mirror.fileIdentity("f"))
        #expect(try temporary.userTree().isEmpty)
    }

    @Test func `old trash is swept, links within it are not followed`() throws {
        try temporary.makeDirectory("keep")
        try temporary.write("keep/precious", "x")
        for run in ["1", "2"] {
            var directory = ""
            for _ in 0..<40 {
                directory += "d/"
                try mirror.makeDirectory(try relative(directory))
                try temporary.write(directory + "f", run)
                try mirror.moveToTrash(
                    try relative(directory + "f"),
                    expected: try mirror.fileIdentity(directory + "f"),
                    run: run
                )
            }
        }
        try temporary.makeLink(".osssync/trash/1/link", to: temporary.mirrorPath + "/keep")
        try temporary.makeLink(".osssync/trash/1/d/link", to: temporary.mirrorPath + "/keep")
        try temporary.setModified(".osssync/trash/1", seconds: 1000)
        #expect(
            try mirror.trash.sweep(olderThan: Timestamp(seconds: 2000)) { Issue.record($0) } == 1
        )
        #expect(!temporary.exists(".osssync/trash/1"))
        #expect(try trashTree().count == 40)
        #expect(temporary.read("keep/precious") == "x")
    }

    @Test func `a run's name cannot lead out of the trash`() throws {
        for run in ["../../x", "", ".", "..", "a/b", "/etc"] {
            try temporary.write("f", "x")
            try mirror.moveToTrash(
                try relative("f"),
                expected: try mirror.fileIdentity("f"),
                run: run
            )
        }
        #expect(try trashTree().count == 6)
        #expect(try temporary.userTree().isEmpty)
    }

    struct NameCase: CustomTestStringConvertible {
        let original: String
        let suffix: String
        let attempt: Int
        let expected: String
        var testDescription: String { "\(original) \(suffix) \(attempt)" }
    }

    @Test(arguments: [
        NameCase(original: "a.txt", suffix: ".c", attempt: 0, expected: "a.c.txt"),
        NameCase(original: "a.txt", suffix: ".c", attempt: 1, expected: "a.c-2.txt"),
        NameCase(original: "a", suffix: ".c", attempt: 0, expected: "a.c"),
        NameCase(original: ".bashrc", suffix: ".c", attempt: 0, expected: ".bashrc.c"),
        NameCase(original: "a.tar.gz", suffix: ".c", attempt: 0, expected: "a.tar.c.gz"),
        NameCase(original: "a.", suffix: ".c", attempt: 0, expected: "a.c."),
        NameCase(original: "a.txt", suffix: "/../x", attempt: 0, expected: "a_.._x.txt"),
        NameCase(
            original: String(repeating: "é", count: 125) + ".txt",
            suffix: ".c",
            attempt: 0,
            expected: String(repeating: "é", count: 124) + ".c.txt"
        ),
        NameCase(
            original: "a.a sentence is no extension",
            suffix: ".c",
            attempt: 0,
            expected: "a.a sentence is no extension.c"
        ),
    ])
    func `the old version's name says what it is`(example: NameCase) throws {
        let name = ConflictName(
            original: [UInt8](example.original.utf8)[...],
            suffix: example.suffix,
            attempt: example.attempt
        )
        #expect(String(decoding: name.bytes, as: UTF8.self) == example.expected)
        #expect(name.bytes.count <= 255)
        #expect(isValidUTF8(name.bytes))
    }
}
