import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Mirror directory")
struct MirrorDirectoryTests {
    let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    private func open(
        _ path: String,
        state: String? = nil,
        home: String? = nil,
        creates: Bool = true
    ) throws(LocalError) -> MirrorDirectory {
        try MirrorDirectory(
            path: path,
            stateDirectory: state,
            homeDirectory: home,
            createsIfMissing: creates
        )
    }

    private func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    // MARK: - Which directories

    @Test func `the last component is made, its parents are not`() throws {
        let path = temporary.path + "/new"
        #expect(throws: LocalError.missingDirectory(path: path)) { try open(path, creates: false) }
        #expect(try open(path).state.path == path + "/.osssync")
        _ = try open(path, creates: false)
        #expect(throws: LocalError.missingDirectory(path: path + "/a/b")) {
            try open(path + "/a/b")
        }
        #expect(throws: LocalError.missingDirectory(path: "")) { try open("") }
        #expect(throws: LocalError.missingDirectory(path: "a\\x00b")) { try open("a\0b") }
    }

    @Test func `looking at a directory that was never linked makes nothing`() throws {
        let state = temporary.mirrorPath + "/.osssync"
        #expect(throws: LocalError.missingDirectory(path: state)) {
            try open(temporary.mirrorPath, creates: false)
        }
        #expect(try temporary.tree().isEmpty)
    }

    @Test func `a stand-in for the state lies outside the mirror and goes`() throws {
        try temporary.write("f", "x")
        let looked = try MirrorDirectory.inspect(
            at: temporary.mirrorPath,
            stateDirectory: nil,
            homeDirectory: nil,
            calls: .standard
        )
        let state = looked.state.path
        #expect(exists(state))
        #expect(try looked.root.status(of: PathBytes("f".utf8)) != nil)
        looked.removeStandIn()
        #expect(!exists(state))
        #expect(try temporary.tree().count == 1)
        let absent = try MirrorDirectory.inspect(
            at: temporary.path + "/absent",
            stateDirectory: nil,
            homeDirectory: nil,
            calls: .standard
        )
        #expect(try absent.root.status(of: PathBytes("f".utf8)) == nil)
        absent.removeStandIn()
        #expect(!exists(temporary.path + "/absent"))
    }

    @Test func `a file is no mirror`() throws {
        try temporary.write("f", "x")
        let path = temporary.mirrorPath + "/f"
        #expect(throws: LocalError.notADirectory(path: path)) { try open(path) }
    }

    @Test func `the user may reach the mirror over a link`() throws {
        let link = temporary.path + "/link"
        try TemporaryDirectory.check("symlink", unsafe symlink("mirror", link))
        try open(link).makeDirectory(try relative("d"))
        #expect(temporary.exists("d"))
    }

    @Test(arguments: ["/", "//", "/usr/..", "/etc", "/usr", "/usr/bin"])
    func `directories of the system are refused however they are spelled`(path: String) throws {
        let error = #expect(throws: LocalError.self) { try open(path) }
        guard case .refusedDirectory = error else {
            Issue.record("\(path) was not refused: \(String(describing: error))")
            return
        }
        #expect(error?.endsRun == true)
        #expect(unsafe access("/.osssync", F_OK) != 0)
    }

    @Test func `the home directory and its secrets are refused, a place within is not`() throws {
        let home = temporary.mirrorPath
        for name in [".ssh", "music"] { try temporary.makeDirectory(name) }
        for path in [home, home + "/", home + "/.ssh", home + "/music/.."] {
            let error = #expect(throws: LocalError.self) { try open(path, home: home) }
            guard case .refusedDirectory = error else {
                Issue.record("\(path) was not refused: \(String(describing: error))")
                continue
            }
        }
        #expect(!temporary.exists(".osssync"))
        _ = try open(home + "/music", home: home)
        #expect(temporary.exists("music/.osssync"))
    }

    // MARK: - The state

    @Test func `a state directory that is a link or a file is refused`() throws {
        let path = temporary.mirrorPath + "/.osssync"
        let expected = LocalError.unsafeDirectory(
            path: path,
            reason: "it is a symbolic link or not a directory"
        )
        try temporary.makeDirectory("d")
        try temporary.makeLink(".osssync", to: "d")
        #expect(throws: expected) { try open(temporary.mirrorPath) }
        try temporary.remove(".osssync")
        try temporary.write(".osssync", "x")
        #expect(throws: expected) { try open(temporary.mirrorPath) }
    }

    @Test func `a state directory that others may write to is refused`() throws {
        try temporary.makeDirectory(".osssync")
        try temporary.setMode(".osssync", 0o775)
        let error = LocalError.unsafeDirectory(
            path: temporary.mirrorPath + "/.osssync",
            reason: "other users can write to it; check what it contains, then chmod 700"
        )
        #expect(throws: error) { try open(temporary.mirrorPath) }
        #expect(try temporary.permissions(".osssync") == 0o775)
    }

    @Test func `a state directory that others may read is closed to them`() throws {
        try temporary.makeDirectory(".osssync")
        try temporary.setMode(".osssync", 0o755)
        _ = try open(temporary.mirrorPath)
        #expect(try temporary.permissions(".osssync") == 0o700)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
    func `a state directory of somebody else is refused`() throws {
        try temporary.makeDirectory(".osssync")
        let path = temporary.mirrorPath + "/.osssync"
        try TemporaryDirectory.check("chown", unsafe chown(path, 12345, 12345))
        let error = LocalError.unsafeDirectory(path: path, reason: "it belongs to another user")
        #expect(throws: error) { try open(temporary.mirrorPath) }
    }

    @Test func `temporary files that are replaced by a link are refused`() throws {
        let mirror = try open(temporary.mirrorPath)
        try temporary.makeDirectory("d")
        try temporary.makeLink(".osssync/partial", to: "../d")
        try temporary.makeLink(".osssync/trash", to: "../d")
        try temporary.write("f", "x")
        let identity = try mirror.fileIdentity("f")
        #expect(throws: LocalError.self) { try mirror.partials.create(size: 1) }
        #expect(throws: LocalError.self) {
            try mirror.moveToTrash(try relative("f"), expected: identity, run: "1")
        }
        #expect(try temporary.tree("d").isEmpty)
        #expect(temporary.read("f") == "x")
    }

    @Test func `a state directory elsewhere on the same disk holds everything`() throws {
        let state = temporary.path + "/state"
        let mirror = try open(temporary.mirrorPath, state: state)
        #expect(mirror.state.path == state)
        let group = [try mirror.publication("x", at: "f", expecting: .absent)]
        _ = try mirror.publish(group, durability: .synchronized)
        #expect(try temporary.tree() == ["f": "x"])
        #expect(Set(try TemporaryDirectory.namesOutside(state)) == ["identity", "partial"])
    }

    @Test(.enabled(if: unsafe access("/dev/shm", W_OK) == 0, "needs two file systems"))
    func `with the state on another disk renames still reach`() throws {
        let other = "/tmp/osssync-state-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? TemporaryDirectory.removeTree([UInt8](other.utf8)) }
        let mirror = try open(temporary.mirrorPath, state: other)
        let group = [try mirror.publication("x", at: "f", expecting: .absent)]
        let outcomes = try mirror.publish(group, durability: .synchronized)
        #expect(outcomes == [.published(try mirror.fileIdentity("f"), keptAs: nil)])
        let state = try #require(mirror.work.stateName)
        #expect(temporary.exists(".osssync/work-\(state)/partial"))
        #expect(try TemporaryDirectory.namesOutside(other) == ["identity"])
        #expect(try mirror.walkAll(limit: 10).entries.map(\.path) == ["f"])
    }

    // MARK: - The marker

    @Test func `a marker is found again and its absence is seen`() throws {
        let state = temporary.path + "/state"
        let mirror = try open(temporary.mirrorPath, state: state)
        #expect(try mirror.markerFile.read() == nil)
        try mirror.markerFile.write(DirectoryMarker(name: "one"), isFirst: true)
        try mirror.markerFile.write(DirectoryMarker(name: "two"), isFirst: false)
        #expect(try mirror.markerFile.read() == DirectoryMarker(name: "two"))
        #expect(try temporary.tree() == [".osssync": "directory", ".osssync/marker": "two\n"])
        try temporary.remove(".osssync/marker")
        try temporary.makeLink(".osssync/marker", to: "/etc/hostname")
        #expect(try mirror.markerFile.read() == nil)
    }

    @Test func `the mirror's identity is that of its directory`() throws {
        let status = try temporary.status(".")
        let identity = try open(temporary.mirrorPath).rootIdentity()
        #expect(identity.inode == status.st_ino)
        #expect(identity.disk != nil)
        #expect(RootIdentity(text: identity.text) == identity)
    }

    @Test func `two disks whose roots have one inode are told apart`() throws {
        let early = RootIdentity(inode: 2, disk: .birth(Timestamp(seconds: 1_700_000_000)))
        let late = RootIdentity(inode: 2, disk: .birth(Timestamp(seconds: 1_700_000_001)))
        #expect(!early.isSame(as: late))
        let one = RootIdentity(inode: 2, disk: .fileSystem(7))
        let two = RootIdentity(inode: 2, disk: .fileSystem(UInt64.max))
        #expect(!one.isSame(as: two))
        // Made in one second by one script.
        let time = Timestamp(seconds: 1_700_000_000)
        let first = RootIdentity(inode: 2, disk: .birth(time, fileSystem: 7))
        let second = RootIdentity(inode: 2, disk: .birth(time, fileSystem: 8))
        #expect(!first.isSame(as: second))
        #expect(first.isSame(as: early))
        for identity in [early, late, one, two, first, second] {
            #expect(RootIdentity(text: identity.text) == identity)
            // As it was recorded before disks were told apart.
            #expect(RootIdentity(text: "2")?.isSame(as: identity) == true)
            #expect(RootIdentity.unknown.isSame(as: identity) == false)
        }
        #expect(RootIdentity(text: "2:x7") == nil)
    }

    @Test func `a directory is no mount point`() throws {
        let mirror = try open(temporary.mirrorPath)
        try mirror.makeDirectory(try relative("d/"))
        try temporary.write("d/f", "x")
        for path in ["d", "d/f", "absent", "absent/too", "d/f/g"] {
            #expect(try mirror.isMountPoint(try relative(path)) == false)
        }
    }

    // MARK: - Directories and files

    @Test func `directories are made with what they need and removed if empty`() throws {
        let mirror = try open(temporary.mirrorPath)
        try mirror.makeDirectory(try relative("a/b/c/"))
        try mirror.makeDirectory(try relative("a/b/c/"))
        try temporary.write("a/f", "x")
        #expect(try mirror.removeDirectoryIfEmpty(try relative("a/b")) == false)
        #expect(try mirror.removeDirectoryIfEmpty(try relative("a/f")) == false)
        #expect(try mirror.removeDirectoryIfEmpty(try relative("a/f/g")) == false)
        #expect(try mirror.removeDirectoryIfEmpty(try relative("nothing")) == false)
        #expect(try mirror.removeDirectoryIfEmpty(try relative("a/b/c")))
        #expect(try mirror.removeDirectoryIfEmpty(try relative("a/b")))
        #expect(try temporary.userTree() == ["a": "directory", "a/f": "x"])
    }

    @Test func `only regular files are opened`() throws {
        let mirror = try open(temporary.mirrorPath)
        try temporary.write("f", "content")
        try temporary.makeDirectory("d")
        try temporary.makeFIFO("fifo")
        try temporary.makeLink("link", to: "f")
        let file = try mirror.openForReading(try relative("f"))
        #expect(try file.read(at: 3, length: 100) == [UInt8]("tent".utf8))
        #expect(try file.identity() == (try mirror.fileIdentity("f")))
        #expect(throws: LocalError.targetIsDirectory(try relative("d"))) {
            try mirror.openForReading(try relative("d"))
        }
        #expect(throws: LocalError.targetIsSpecial(try relative("fifo"), .fifo)) {
            try mirror.openForReading(try relative("fifo"))
        }
        #expect(throws: LocalError.targetIsSpecial(try relative("link"), .symbolicLink)) {
            try mirror.openForReading(try relative("link"))
        }
        #expect(throws: LocalError.absent(try relative("g"))) {
            try mirror.openForReading(try relative("g"))
        }
        #expect(try mirror.identity(of: try relative("link")) == .other(.symbolicLink))
        #expect(try mirror.identity(of: try relative("fifo")) == .other(.fifo))
    }

    @Test func `an open file shows that it is being written`() throws {
        let mirror = try open(temporary.mirrorPath)
        try temporary.write("f", "1")
        let file = try mirror.openForReading(try relative("f"))
        let before = try file.identity()
        try temporary.write("f", "12")
        #expect(try file.identity() != before)
    }

    @Test func `descriptors are given back`() throws {
        // Other tests of this process have descriptors of their own: only those beneath this
        // test's directory count.
        func openDescriptors() throws -> Int {
            try TemporaryDirectory.namesOutside("/proc/self/fd").count { name in
                var target = [CChar](repeating: 0, count: 4_096)
                let link = "/proc/self/fd/" + name
                let length = unsafe readlink(link, &target, target.count)
                let bytes = target.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
                return bytes.starts(with: temporary.path.utf8)
            }
        }
        let mirror = try open(temporary.mirrorPath)
        _ = try mirror.partial("warm up")
        for _ in 0..<300 {
            let group = [
                try mirror.publication("x", at: "a/b/c", expecting: .anything),
                try mirror.publication("x", at: "a/b/c/d", expecting: .anything),
            ]
            _ = try mirror.publish(group, durability: .synchronized)
            _ = try mirror.walkAll(limit: 2)
            _ = try mirror.lock()
        }
        // The mirror holds a few for as long as it lives; a leak would be hundreds.
        #expect(try openDescriptors() < 20)
    }
}
