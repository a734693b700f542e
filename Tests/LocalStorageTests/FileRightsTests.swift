import CSystem
import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Who may read a file that was downloaded")
struct FileRightsTests {
    let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    /// The permissions of a list, as `rwx` in octal.
    private static func list(
        owner: UInt8 = 6,
        user: UInt8? = nil,
        group: UInt8,
        mask: UInt8? = nil,
        others: UInt8
    ) -> [UInt8] {
        let nobody: [UInt8] = [255, 255, 255, 255]
        var bytes: [UInt8] = [2, 0, 0, 0, 1, 0, owner, 0] + nobody
        if let user { bytes += [2, 0, user, 0, 0x39, 0x30, 0, 0] }
        bytes += [4, 0, group, 0] + nobody
        if let mask { bytes += [16, 0, mask, 0] + nobody }
        return bytes + [32, 0, others, 0] + nobody
    }

    /// False where this file system has no lists.
    private func setList(
        _ name: String,
        _ bytes: [UInt8],
        forNewFiles: Bool = false
    ) throws -> Bool {
        let attribute = "system.posix_acl_" + (forNewFiles ? "default" : "access")
        let result = try self.attribute(of: name) { file in
            unsafe osssync_set_attribute(file, attribute, bytes, bytes.count)
        }
        if result != 0, errno == EOPNOTSUPP { return false }
        try TemporaryDirectory.check("setxattr", result)
        return true
    }

    /// What `body` does with the open file.
    private func attribute<Number: SignedInteger>(
        of name: String,
        _ body: (Int32) -> Number
    ) throws -> Number {
        let path = temporary.mirrorPath + (name.isEmpty ? "" : "/" + name)
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        try TemporaryDirectory.check("open", file)
        defer { close(file) }
        return body(file)
    }

    private func list(of name: String) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let size = bytes.count
        let count = try attribute(of: name) { file in
            unsafe osssync_get_attribute(file, "system.posix_acl_access", &bytes, size)
        }
        return count < 0 ? nil : [UInt8](bytes[..<count])
    }

    private func setOwner(_ name: String, _ owner: UInt32, group: UInt32) throws {
        let path = temporary.mirrorPath + "/" + name
        try TemporaryDirectory.check("chown", unsafe chown(path, owner, group))
    }

    private func replace(
        _ name: String,
        backup: BackupPolicy = .replace,
        _ given: GivenPermissions? = nil,
        failing rules: SystemCallFaults.Rule...
    ) throws {
        let mirror = try temporary.mirror(
            calls: SystemCalls(usesOpenat2: true, faults: SystemCallFaults(rules))
        )
        let seen = ExpectedTarget.file(try mirror.fileIdentity(name))
        var item = try mirror.publication("new", at: name, expecting: seen, backup: backup)
        (item.permissions, item.keepsPermissions) = (given, given == nil)
        let outcomes = try mirror.publish([item], durability: .synchronized)
        #expect(temporary.read(name) == "new", "\(outcomes)")
    }

    private func publishNew(_ name: String, _ given: GivenPermissions? = nil) throws {
        for isReady in [false, true] {
            let mirror = try temporary.mirror()
            var item =
                isReady
                ? try mirror.readyPublication("new", at: name, expecting: .absent)
                : try mirror.publication("new", at: name + "-2", expecting: .absent)
            item.permissions = given
            let outcomes = try mirror.publish([item], durability: .synchronized)
            #expect(temporary.read(isReady ? name : name + "-2") == "new", "\(outcomes)")
        }
    }

    private static let secret = list(user: 6, group: 0, mask: 6, others: 0)

    @Test func `a new version has the list of the one that it replaces`() throws {
        try temporary.write("f", "old")
        guard try setList("f", Self.secret) else { return }
        try #require(try temporary.permissions("f") == 0o660)
        try replace("f")
        #expect(try list(of: "f") == Self.secret)
        #expect(try temporary.permissions("f") == 0o660)
    }

    @Test func `a list stays with what the object says for it`() throws {
        try temporary.write("f", "old")
        guard try setList("f", Self.secret) else { return }
        // The bucket is told what the list lets the group do, and every update says it again.
        try replace("f", .ofObject(0o600))
        #expect(try list(of: "f") == Self.secret)
        #expect(try temporary.permissions("f") == 0o660)
        // Who makes it private elsewhere makes it private here.
        try temporary.write("g", "old")
        _ = try setList("g", Self.list(user: 6, group: 4, mask: 6, others: 4))
        try replace("g", .ofObject(0o600))
        let bytes = try list(of: "g") ?? []
        #expect(try temporary.permissions("g") == 0o600, "\(bytes)")
    }

    @Test func `without its list a new version gives nobody more`() throws {
        try temporary.write("f", "old")
        guard try setList("f", Self.secret) else { return }
        try replace("f", failing: .init(.fail(errno: EOPNOTSUPP), at: 1, of: ["fsetxattr"]))
        #expect(try list(of: "f") == nil)
        #expect(try temporary.permissions("f") == 0o600)
        // One entry keeps somebody out whom the others would let in.
        try temporary.write("g", "old")
        _ = try setList("g", Self.list(user: 0, group: 4, mask: 4, others: 4))
        try replace("g", failing: .init(.fail(errno: EPERM), at: 1, of: ["fsetxattr"]))
        #expect(try temporary.permissions("g") == 0o600)
    }

    @Test func `a new version stays with the group and the owner of the old one`() throws {
        guard geteuid() == 0 else { return }
        for backup in [BackupPolicy.replace, .replaceHolding(CRC64())] {
            try temporary.write("f", "")
            try setOwner("f", 12_345, group: 12_346)
            try temporary.setMode("f", 0o660)
            try replace("f", backup: backup)
            let status = try temporary.status("f")
            #expect(status.st_uid == 12_345)
            #expect(status.st_gid == 12_346)
            #expect(try temporary.permissions("f") == 0o660)
            try temporary.remove("f")
        }
    }

    @Test func `what cannot have the group of the old one lets its own in as anybody`() throws {
        guard geteuid() == 0 else { return }
        let refused = SystemCallFaults.Rule(.failFromHereOn(errno: EPERM), at: 1, of: ["fchown"])
        for (mode, expected) in [(0o660, 0o600), (0o664, 0o644), (0o640, 0o600), (0o750, 0o700)]
            as [(mode_t, UInt32)]
        {
            try temporary.write("f", "old")
            try setOwner("f", 0, group: 12_346)
            try temporary.setMode("f", mode)
            try replace("f", failing: refused)
            #expect(try temporary.permissions("f") == expected)
        }
        try temporary.write("g", "old")
        try setOwner("g", 0, group: 12_346)
        guard try setList("g", Self.list(user: 6, group: 6, mask: 6, others: 0)) else { return }
        try replace("g", failing: refused)
        #expect(try list(of: "g") == Self.list(user: 6, group: 0, mask: 6, others: 0))
    }

    @Test func `a new file has what its directory gives to new files`() throws {
        try temporary.makeDirectory("d")
        let given = Self.list(owner: 7, user: 6, group: 7, mask: 7, others: 0)
        guard try setList("d", given, forNewFiles: true) else { return }
        for place in ["d", "d/new/deep"] {
            try publishNew(place + "/f")
            try temporary.write(place + "/own", "")
            for name in ["f", "f-2"] {
                #expect(try list(of: "\(place)/\(name)") != nil)
                #expect(
                    try temporary.permissions("\(place)/\(name)")
                        == temporary.permissions(place + "/own") | 0o020
                )
                #expect(try temporary.permissions("\(place)/\(name)") & 0o007 == 0)
            }
        }
        try publishNew("d/g", .ofObject(0o644))
        #expect(try temporary.permissions("d/g") == 0o640)
        try publishNew("d/h", .ofObject(0o600))
        #expect(try temporary.permissions("d/h") == 0o600)
        try publishNew("d/i", .ofCopy(ordinaryRights(0o755)))
        #expect(try temporary.permissions("d/i") == 0o750)
    }

    @Test func `a list of the whole directory is only for what lies where it holds`() throws {
        let given = Self.list(owner: 7, user: 6, group: 7, mask: 7, others: 0)
        guard try setList("", given, forNewFiles: true) else { return }
        try temporary.makeDirectory("d")
        _ = try attribute(of: "d") { file in
            unsafe osssync_remove_attribute(file, "system.posix_acl_default")
        }
        try publishNew("d/f")
        #expect(try list(of: "d/f") == nil)
        #expect(try temporary.permissions("d/f") == 0o644)
        try publishNew("f")
        #expect(try temporary.permissions("f") & 0o007 == 0)
    }

    @Test func `a new file in a directory of a group is of that group`() throws {
        guard geteuid() == 0 else { return }
        try temporary.makeDirectory("d")
        try setOwner("d", 0, group: 12_346)
        try temporary.setMode("d", 0o2775)
        for place in ["d", "d/new/deep"] {
            try publishNew(place + "/f")
            for name in [place, place + "/f", place + "/f-2"] {
                #expect(try temporary.status(name).st_gid == 12_346)
            }
        }
        try publishNew("elsewhere")
        #expect(try temporary.status("elsewhere").st_gid == getegid())
    }

    @Test func `a file that is moved gives nobody more than a new one there`() throws {
        for name in ["from", "list", "group"] { try temporary.makeDirectory(name) }
        let given = Self.list(owner: 7, group: 5, others: 0)
        guard try setList("list", given, forNewFiles: true) else { return }
        try temporary.setMode("group", 0o2775)
        let isRoot = geteuid() == 0
        if isRoot {
            try setOwner("group", 0, group: 12_346)
            try temporary.setMode("group", 0o2770)
        }
        let mirror = try temporary.mirror()
        func move(_ name: String, _ target: String) throws {
            try temporary.write("from/" + name, "x")
            try temporary.setMode("from/" + name, 0o664)
            _ = try setList(
                "from/" + name,
                Self.list(user: 6, group: 6, mask: 6, others: 4)
            )
            let file = try mirror.fileIdentity("from/" + name)
            _ = try mirror.rename(
                RelativePath(key: ObjectKey("from/" + name)),
                expected: file,
                to: RelativePath(key: ObjectKey(target)),
                modified: file.modified
            )
            // Within its directory it is as it was.
            let isMoved = !target.hasPrefix("from/")
            #expect(try (list(of: target) == nil) == isMoved, "the list of \(target)")
        }
        try move("f", "list/f")
        #expect(try temporary.permissions("list/f") == 0o640)
        try move("g", "group/g")
        if isRoot { #expect(try temporary.status("group/g").st_gid == 12_346) }
        try move("h", "from/i")
    }

    @Test func `a version beside a kept one gives nobody more than that one`() throws {
        try temporary.makeDirectory("d")
        for name in ["d/f", "d/g", "d/h"] { try temporary.write(name, "x") }
        try temporary.setMode("d/f", 0o640)
        let known = Self.list(user: 4, group: 4, mask: 4, others: 0)
        // All others may do what the user may not whom the list names.
        let masked = Self.list(user: 4, group: 0, mask: 0, others: 4)
        let given = Self.list(owner: 7, user: 6, group: 6, mask: 6, others: 4)
        guard try setList("d/g", known), try setList("d/h", masked),
            try setList("d", given, forNewFiles: true)
        else { return }
        for (name, user) in [("d/f", UInt8(0)), ("d/g", 4)] {
            try replace(name, backup: .keepBeside(suffix: ".kept"), .ofObject(0o644))
            let expected = Self.list(user: user, group: 6, mask: 4, others: 0)
            #expect(try list(of: name) == expected, "\(name)")
        }
        try replace("d/h", backup: .keepBeside(suffix: ".kept"), .ofObject(0o644))
        #expect(try list(of: "d/h") == Self.list(user: 0, group: 6, mask: 0, others: 0))
    }

    @Test func `what another user put in the way does not say who may read a new file`() throws {
        guard geteuid() == 0 else { return }
        try temporary.setMode("", 0o777)
        let kept: [BackupPolicy] = [.keepBeside(suffix: ".kept"), .moveToTrash(run: "r")]
        for (number, backup) in kept.enumerated() {
            let name = "f\(number)"
            try temporary.write(name, "")
            try setOwner(name, 12_345, group: 12_346)
            try temporary.setMode(name, 0o666)
            try replace(name, backup: backup, .ofObject(0o600))
            let status = try temporary.status(name)
            #expect(status.st_mode & 0o777 == 0o600)
            #expect(status.st_uid == geteuid())
            #expect(status.st_gid == getegid())
        }
        try temporary.write("g", "")
        try setOwner("g", 12_345, group: 12_346)
        try temporary.setMode("g", 0o666)
        let mirror = try temporary.mirror()
        var item = try mirror.publication("new", at: "g", expecting: .anything)
        item.permissions = .ofObject(0o600)
        _ = try mirror.publish([item], durability: .synchronized)
        #expect(try temporary.permissions("g") == 0o600)
        // Nor does it let more people read.
        for (number, backup) in kept.enumerated() {
            let name = "h\(number)"
            try temporary.write(name, "")
            try setOwner(name, 12_345, group: 12_346)
            try temporary.setMode(name, 0o600)
            try replace(name, backup: backup)
            #expect(try temporary.permissions(name) == 0o600)
        }
    }

    @Test func `where only this user makes files, a replaced one has the owner that it was given`()
        throws
    {
        guard geteuid() == 0 else { return }
        try temporary.write("f", "old")
        try setOwner("f", 12_345, group: 12_346)
        try temporary.setMode("f", 0o640)
        try replace("f", backup: .moveToTrash(run: "r"), .ofObject(0o666))
        let status = try temporary.status("f")
        #expect((status.st_uid, status.st_gid) == (12_345, 12_346))
        #expect(try temporary.permissions("f") == 0o640)
        // Beside a version that is kept, as far as others are concerned.
        try replace("f", backup: .keepBeside(suffix: ".kept"), .ofObject(0o666))
        #expect(try temporary.status("f").st_gid == 12_346)
        #expect(try temporary.permissions("f") == 0o640)
    }

    @Test func `in a user's own directory, so has the one beside a version that is kept`() throws {
        guard geteuid() == 0 else { return }
        try temporary.makeDirectory("home")
        try temporary.write("home/f", "old")
        try setOwner("home/f", 12_345, group: 12_346)
        try temporary.setMode("home/f", 0o600)
        try setOwner("home", 12_345, group: 12_346)
        try replace("home/f", backup: .keepBeside(suffix: ".kept"), .ofObject(0o644))
        #expect(try temporary.status("home/f").st_uid == 12_345)
        #expect(try temporary.permissions("home/f") == 0o600)
    }

    @Test func `a list of its own makes no directory an ordinary one`() throws {
        let own = Self.list(owner: 7, user: 7, group: 0, mask: 7, others: 0)
        func permissions(_ name: String) throws -> UInt32? {
            let walk = try temporary.mirror().walk(within: .all, leavingOut: { _, _ in false })
            let entries = try walk.next(limit: 100).entries
            return try #require(entries.first { $0.path == ObjectKey(name + "/") }).permissions
        }
        try temporary.makeDirectory("d")
        guard try setList("d", own), try setList("d", own, forNewFiles: true) else { return }
        #expect(try permissions("d") == 0o770)
        // What it gives to those in it is nobody's choice.
        #expect(unsafe mkdir(temporary.mirrorPath + "/d/in", 0o777) == 0)
        #expect(try list(of: "d/in") == own)
        #expect(try permissions("d/in") == nil)
        try temporary.setMode("d/in", 0o700)
        #expect(try permissions("d/in") == 0o700)
    }

    @Test func `beside a version that is kept there is none that more people may read`() throws {
        try temporary.write("f", "old")
        try temporary.setMode("f", 0o600)
        try replace("f", backup: .keepBeside(suffix: ".kept"), .ofObject(0o644))
        #expect(try temporary.permissions("f") == 0o600)
        #expect(temporary.read("f.kept") == "old")
    }

    @Test func `a copy is of the group of its source`() throws {
        guard geteuid() == 0 else { return }
        try temporary.write("source", "new")
        try setOwner("source", 0, group: 12_346)
        try temporary.setMode("source", 0o660)
        let mirror = try temporary.mirror()
        let source = try mirror.openForReading(relative("source"))
        try publishNew("copy", .ofCopy(try source.rights()))
        #expect(try temporary.status("copy").st_gid == 12_346)
        #expect(try temporary.permissions("copy") == 0o660)
    }
}
