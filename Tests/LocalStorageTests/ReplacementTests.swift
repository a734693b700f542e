import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Replacing and deleting beside other programs")
struct ReplacementTests {
    let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        try temporary.write("f", "old")
    }

    /// A mirror in which another program saves "f" as editors do, right before the Nth `call`.
    private func mirror(
        savingBefore call: String,
        _ number: Int = 1,
        _ content: String = "saved"
    ) throws -> MirrorDirectory {
        let temporary = temporary
        let faults = SystemCallFaults(before: [number], of: call) { _ in
            do {
                try temporary.write("f.new", content)
                try temporary.rename("f.new", to: "f")
            } catch {
                Issue.record(error)
            }
        }
        return try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
    }

    private static let policies: [BackupPolicy] = [
        .replace, .moveToTrash(run: "1"), .keepBeside(suffix: ".kept"),
    ]

    @Test(arguments: policies)
    func `a file that is saved between the last look and the rename stays`(
        backup: BackupPolicy
    ) throws {
        let mirror = try mirror(savingBefore: "renameat2")
        let publication = try mirror.publication(
            "new",
            at: "f",
            expecting: .file(try mirror.fileIdentity("f")),
            backup: backup
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        #expect(outcomes == [.failed(.targetChanged(try relative("f")))])
        #expect(try temporary.userTree() == ["f": "saved"])
        let partials = try temporary.tree(".osssync/partial")
        #expect(Array(partials.values) == ["new"])
        let kept = try temporary.tree(".osssync").filter { $0.key.contains("/trash/") }
        #expect(kept.values.allSatisfy { $0 == "directory" })
    }

    @Test func `a file that is removed between the last look and the rename stays away`() throws {
        let temporary = temporary
        let faults = SystemCallFaults(before: [1], of: "renameat2") { _ in
            do { try temporary.remove("f") } catch { Issue.record(error) }
        }
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        let publication = try mirror.publication(
            "new",
            at: "f",
            expecting: .file(try mirror.fileIdentity("f"))
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        #expect(outcomes == [.failed(.targetChanged(try relative("f")))])
        #expect(try temporary.userTree().isEmpty)
    }

    @Test func `of two saves at that moment neither is lost`() throws {
        let temporary = temporary
        // The first comes before the names are exchanged, the second before they are given back.
        let faults = SystemCallFaults(before: [1, 2], of: "renameat2") { number in
            do {
                try temporary.write("f.new", "saved \(number)")
                try temporary.rename("f.new", to: "f")
            } catch {
                Issue.record(error)
            }
        }
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        let publication = try mirror.publication(
            "new",
            at: "f",
            expecting: .file(try mirror.fileIdentity("f"))
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        #expect(outcomes == [.failed(.targetChanged(try relative("f")))])
        #expect(try temporary.userTree() == ["f": "saved 2", "f.saved": "saved 1"])
    }

    @Test func `a replaced file leaves nothing behind`() throws {
        let mirror = try temporary.mirror()
        let publication = try mirror.publication(
            "new",
            at: "f",
            expecting: .file(try mirror.fileIdentity("f"))
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        #expect(outcomes == [.published(try mirror.fileIdentity("f"), keptAs: nil)])
        #expect(try temporary.userTree() == ["f": "new"])
        #expect(try mirror.partials.names().isEmpty)
    }

    @Test(arguments: [EINVAL, ENOSYS, EOPNOTSUPP])
    func `a file system that cannot exchange names gets a rename`(errno: Int32) throws {
        let mirror = try temporary.mirror(
            failing: .init(.failFromHereOn(errno: errno), at: 1, of: ["renameat2"])
        )
        let publication = try mirror.publication(
            "new",
            at: "f",
            expecting: .file(try mirror.fileIdentity("f"))
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        #expect(outcomes == [.published(try mirror.fileIdentity("f"), keptAs: nil)])
        #expect(try temporary.userTree() == ["f": "new"])
        #expect(try mirror.partials.names().isEmpty)
    }

    /// As if it had been written again within one tick of the file system's clock.
    @Test(arguments: [true, false], [true, false])
    func `a file whose times cannot tell of a change is replaced only with its content`(
        isUnchanged: Bool,
        canExchange: Bool
    ) throws {
        let fault = SystemCallFaults.Rule(
            .failFromHereOn(errno: EINVAL),
            at: 1,
            of: ["renameat2"]
        )
        let mirror = try canExchange ? temporary.mirror() : temporary.mirror(failing: fault)
        let publication = try mirror.publication(
            "new",
            at: "f",
            expecting: .file(try mirror.fileIdentity("f")),
            backup: .replaceHolding(CRC64(of: Array((isUnchanged ? "old" : "odd").utf8)))
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        let replaced = PublicationOutcome.published(try mirror.fileIdentity("f"), keptAs: nil)
        let path = try relative("f")
        #expect(outcomes == [isUnchanged ? replaced : .failed(.targetChanged(path))])
        #expect(try temporary.userTree() == ["f": isUnchanged ? "new" : "old"])
    }

    @Test func `without exclusive renames a file that appears at the last moment stays`() throws {
        let temporary = temporary
        try temporary.remove("f")
        let faults = SystemCallFaults(
            before: [1],
            of: "linkat",
            [.init(.failFromHereOn(errno: EINVAL), at: 1, of: ["renameat2"])]
        ) { _ in
            do { try temporary.write("f", "saved") } catch { Issue.record(error) }
        }
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        let publication = try mirror.publication("new", at: "f", expecting: .absent)
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        #expect(outcomes == [.failed(.targetChanged(try relative("f")))])
        #expect(try temporary.userTree() == ["f": "saved"])
    }

    @Test(arguments: [true, false])
    func `a file that is saved between the last look and its deletion stays`(
        hasTrash: Bool
    ) throws {
        let mirror = try mirror(savingBefore: "renameat2")
        let path = try relative("f")
        let expected = try mirror.fileIdentity("f")
        #expect(throws: LocalError.targetChanged(path)) {
            if hasTrash {
                try mirror.moveToTrash(path, expected: expected, run: "1")
            } else {
                try mirror.remove(path, expected: expected)
            }
        }
        #expect(try temporary.userTree() == ["f": "saved"])
        #expect(try temporary.tree(".osssync").values.allSatisfy { $0 != "saved" })
    }

    @Test(arguments: [true, false])
    func `a deletion that fails, at whatever call, leaves the file in its place`(
        hasTrash: Bool
    ) throws {
        let path = try relative("f")
        let expected = try temporary.mirror().fileIdentity("f")
        for number in 1... {
            let faults = SystemCallFaults(.fail(errno: EACCES), at: number, of: Self.ofDeletions)
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            let mirror = try temporary.mirror(calls: calls)
            let isDeleted: Bool
            do throws(LocalError) {
                if hasTrash {
                    try mirror.moveToTrash(path, expected: expected, run: "1")
                } else {
                    try mirror.remove(path, expected: expected)
                }
                isDeleted = true
            } catch {
                isDeleted = false
            }
            let call = faults.firedCall
            #expect(isDeleted == (call == nil))
            #expect(try temporary.userTree() == (isDeleted ? [:] : ["f": "old"]), "\(call ?? "")")
            guard !isDeleted, call != nil else { break }
        }
        #expect(try temporary.tree(".osssync").values.contains("old") == hasTrash)
    }

    private static let ofDeletions: Set = ["renameat2", "unlinkat", "mkdirat"]

    // MARK: - Permissions

    @Test(arguments: [0o600, 0o755, 0o4755, 0o400, 0o7640] as [mode_t], policies)
    func `a new version has the permissions of the one that it replaces`(
        mode: mode_t,
        backup: BackupPolicy
    ) throws {
        try temporary.setMode("f", mode)
        let mirror = try temporary.mirror()
        let publication = try mirror.publication(
            "new",
            at: "f",
            expecting: .file(try mirror.fileIdentity("f")),
            backup: backup
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        #expect(temporary.read("f") == "new", "\(outcomes)")
        // What was set to run as another user was set so for other content.
        // Beside a version that is kept, it is a new file that lets no more people in.
        let expected: mode_t
        if case .keepBeside = backup {
            expected = 0o644 & (mode | 0o700)
        } else {
            expected = mode & 0o777
        }
        #expect(try temporary.permissions("f") == UInt32(expected))
    }

    @Test func `a temporary file with the permissions of a read-only one is opened again`() throws {
        let name = try temporary.mirror().partial("x")
        let place = ".osssync/partial/" + name
        try temporary.setMode(place, 0o400)
        // As for any user but the administrator.
        let counting = SystemCallFaults(.fail(errno: EACCES), at: 0, of: ["openat"])
        let first = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: counting))
        _ = try first.partials.names()
        _ = try first.partials.open(name, expectedSize: 1)
        let faults = SystemCallFaults(.fail(errno: EACCES), at: counting.count, of: ["openat"])
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        _ = try mirror.partials.names()
        #expect(try mirror.partials.open(name, expectedSize: 1) != nil)
        #expect(faults.firedCall == "openat")
        #expect(try temporary.permissions(place) == 0o600)
    }

    @Test func `what takes the place of anything keeps its permissions`() throws {
        try temporary.setMode("f", 0o640)
        let mirror = try temporary.mirror()
        let publication = try mirror.publication("new", at: "f", expecting: .anything)
        _ = try mirror.publish([publication], durability: .synchronized)
        #expect(try temporary.permissions("f") == 0o640)
        // A link has none of its own.
        try temporary.remove("f")
        try temporary.makeLink("f", to: "nowhere")
        let other = try mirror.publication("new", at: "f", expecting: .anything)
        _ = try mirror.publish([other], durability: .synchronized)
        try temporary.write("ordinary", "")
        #expect(try temporary.permissions("f") == temporary.permissions("ordinary"))
    }

    @Test func `a copy has the permissions of its source`() throws {
        let mirror = try temporary.mirror()
        var publication = try mirror.publication("copy", at: "g", expecting: .absent)
        try temporary.write("source", "copy")
        try temporary.setMode("source", 0o4750)
        let source = try mirror.openForReading(relative("source"))
        publication.permissions = .ofCopy(try source.rights())
        _ = try mirror.publish([publication], durability: .synchronized)
        #expect(try temporary.permissions("g") == 0o750)
    }
}
