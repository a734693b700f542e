import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Publication")
struct PublicationTests {
    let temporary: TemporaryDirectory
    let mirror: MirrorDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        mirror = try temporary.mirror()
    }

    private func publish(_ group: Publication...) throws -> [PublicationOutcome] {
        try mirror.publish(group, durability: .synchronized)
    }

    @Test func `a new file appears with its content, time and permissions`() throws {
        let outcomes = try publish(
            try mirror.publication("hello", at: "a/b/c.txt", expecting: .absent)
        )
        let identity = try mirror.fileIdentity("a/b/c.txt")
        #expect(outcomes == [.published(identity, keptAs: nil)])
        #expect(identity.modified == Timestamp(seconds: 1_000_000_000, nanoseconds: 123_456_789))
        #expect(temporary.read("a/b/c.txt") == "hello")
        try temporary.write("ordinary", "")
        let ordinary = try temporary.permissions("ordinary")
        #expect(try temporary.permissions("a/b/c.txt") == ordinary)
        #expect(try mirror.partials.names().isEmpty)
    }

    @Test func `a new file that was made whole is not opened again`() throws {
        let opened = SystemCallFaults(.fail(errno: EACCES), at: 0, of: ["openat"])
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: opened))
        let ready = try mirror.readyPublication("hello", at: "f", expecting: .absent)
        let before = opened.count
        let outcomes = try mirror.publish([ready], durability: .synchronized)
        #expect(opened.count == before)
        let identity = try mirror.fileIdentity("f")
        #expect(outcomes == [.published(identity, keptAs: nil)])
        #expect(identity.modified == ready.modified)
        #expect(temporary.read("f") == "hello")
        try temporary.write("ordinary", "")
        let ordinary = try temporary.permissions("ordinary")
        #expect(try temporary.permissions("f") == ordinary)
        #expect(try mirror.partials.names().isEmpty)
    }

    @Test(
        arguments: [
            (GivenPermissions.ofObject(0o777), 0o755), (.ofObject(0o600), 0o600),
            (.ofObject(0o666), 0o644), (.ofObject(0o4755), 0o755), (.ofObject(0), 0o400),
            (.ofObject(0o444), 0o444), (.ofCopy(ordinaryRights(0o777)), 0o777),
            (.ofCopy(ordinaryRights(0o750)), 0o750), (.ofCopy(ordinaryRights(0)), 0),
        ] as [(GivenPermissions, UInt32)]
    )
    func `an object gives a new file no more permissions than the umask allows`(
        given: GivenPermissions,
        expected: UInt32
    ) throws {
        // The tests' own umask is the ordinary one.
        try temporary.write("ordinary", "")
        try #require(try temporary.permissions("ordinary") == 0o644)
        for isReady in [false, true] {
            let name = "f-\(isReady)"
            var publication =
                isReady
                ? try mirror.readyPublication("hello", at: name, expecting: .absent)
                : try mirror.publication("hello", at: name, expecting: .absent)
            publication.permissions = given
            #expect(
                try publish(publication) == [
                    .published(try mirror.fileIdentity(name), keptAs: nil)
                ]
            )
            #expect(try temporary.permissions(name) == expected)
        }
    }

    @Test func `one whose object says what is usual is not opened again`() throws {
        let opened = SystemCallFaults(.fail(errno: EACCES), at: 0, of: ["openat"])
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: opened))
        var ready = try mirror.readyPublication("hello", at: "f", expecting: .absent)
        ready.permissions = .ofObject(0o644)
        let before = opened.count
        let outcomes = try mirror.publish([ready], durability: .synchronized)
        #expect(opened.count == before)
        #expect(outcomes == [.published(try mirror.fileIdentity("f"), keptAs: nil)])
    }

    @Test func `one that was made whole gets the permissions of the file that it replaces`() throws
    {
        try temporary.write("f", "old")
        try temporary.setMode("f", 0o640)
        let seen = try mirror.fileIdentity("f")
        let ready = try mirror.readyPublication("new", at: "f", expecting: .file(seen))
        #expect(try publish(ready) == [.published(try mirror.fileIdentity("f"), keptAs: nil)])
        #expect(try temporary.permissions("f") == 0o640)
        #expect(temporary.read("f") == "new")
    }

    @Test(arguments: ["changed", "removed", "another"])
    func `one that was made whole and is another by now is not vouched for`(
        change: String
    ) throws {
        let ready = try mirror.readyPublication("verified", at: "f", expecting: .absent)
        let good = try mirror.readyPublication("good", at: "g", expecting: .absent)
        let partial = ".osssync/partial/" + ready.partialName
        if change != "changed" { try temporary.remove(partial) }
        if change != "removed" { try temporary.write(partial, "VERIFIED") }
        let outcomes = try publish(ready, good)
        let isFailed = if case .failed = outcomes[0] { true } else { false }
        #expect(isFailed)
        #expect(outcomes[1] == .published(try mirror.fileIdentity("g"), keptAs: nil))
    }

    @Test(arguments: ["pwrite", "futimens"])
    func `one that can't be made whole leaves nothing`(call: String) throws {
        _ = try mirror.readyPublication("first", at: "f", expecting: .absent)
        let before = try mirror.partials.names()
        let failing = try temporary.mirror(
            failing: SystemCallFaults.Rule(.failFromHereOn(errno: ENOSPC), at: 1, of: [call])
        )
        let error = #expect(throws: LocalError.self) {
            try failing.readyPublication("x", at: "f", expecting: .absent)
        }
        guard case .diskFull = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(Set(try mirror.partials.names()) == Set(before))
    }

    @Test func `a temporary file that is written to before its rename is not vouched for`() throws {
        let publication = try mirror.publication("verified", at: "f", expecting: .absent)
        var publisher = try Publisher(directory: mirror, group: [publication])
        publisher.prepare(synchronizesEach: false)
        try temporary.write(".osssync/partial/" + publication.partialName, "VERIFIED")
        publisher.commit(synchronizesEach: false)
        #expect(publisher.outcomes == [.failed(.targetChanged(try relative("f")))])
    }

    @Test func `an old version is replaced if it is what the plan saw`() throws {
        try temporary.write("f", "old")
        let seen = try mirror.fileIdentity("f")
        let outcomes = try publish(try mirror.publication("new", at: "f", expecting: .file(seen)))
        #expect(outcomes == [.published(try mirror.fileIdentity("f"), keptAs: nil)])
        #expect(try temporary.userTree() == ["f": "new"])
    }

    @Test func `a file that was edited meanwhile is left alone`() throws {
        try temporary.write("f", "old")
        let seen = try mirror.fileIdentity("f")
        try temporary.write("f", "edited")
        let publication = try mirror.publication("new", at: "f", expecting: .file(seen))
        #expect(try publish(publication) == [.failed(.targetChanged(try relative("f")))])
        #expect(try temporary.userTree() == ["f": "edited"])
        #expect(try mirror.partials.names() == [publication.partialName])
    }

    @Test func `an edit that kept size and modification time is noticed`() throws {
        try temporary.write("f", "old")
        try temporary.setModified("f", seconds: 1)
        let seen = try mirror.fileIdentity("f")
        // Clocks of file systems are coarse; the edit has to fall into another of their moments.
        repeat {
            try temporary.write("f", "OLD")
            try temporary.setModified("f", seconds: 1)
        } while try mirror.fileIdentity("f").changed == seen.changed
        #expect(try mirror.fileIdentity("f").modified == seen.modified)
        let outcomes = try publish(try mirror.publication("new", at: "f", expecting: .file(seen)))
        #expect(outcomes == [.failed(.targetChanged(try relative("f")))])
        #expect(temporary.read("f") == "OLD")
    }

    @Test func `a file that appeared where none was expected is left alone`() throws {
        try temporary.write("f", "somebody's work")
        let outcomes = try publish(try mirror.publication("new", at: "f", expecting: .absent))
        #expect(outcomes == [.failed(.targetChanged(try relative("f")))])
        #expect(temporary.read("f") == "somebody's work")
    }

    @Test func `a file that vanished where one was expected is not made again`() throws {
        try temporary.write("f", "old")
        let seen = try mirror.fileIdentity("f")
        try temporary.remove("f")
        let outcomes = try publish(try mirror.publication("new", at: "f", expecting: .file(seen)))
        #expect(outcomes == [.failed(.targetChanged(try relative("f")))])
        #expect(try temporary.userTree().isEmpty)
    }

    @Test func `one bad item does not keep the others from their places`() throws {
        try temporary.write("file", "a file")
        try temporary.makeDirectory("directory")
        try temporary.makeLink("link", to: "/etc")
        try temporary.makeFIFO("fifo")
        var gone = try mirror.publication("gone", at: "gone", expecting: .absent)
        try mirror.partials.remove(gone.partialName)
        let outcomes = try publish(
            gone,
            try mirror.publication("1", at: "good/one", expecting: .absent),
            try mirror.publication("x", at: "file/beneath/deep", expecting: .absent),
            try mirror.publication("x", at: "directory", expecting: .anything),
            try mirror.publication("x", at: "directory", expecting: .absent),
            try mirror.publication("x", at: "link/x", expecting: .absent),
            try mirror.publication("x", at: "link", expecting: .absent),
            try mirror.publication("x", at: "fifo", expecting: .anything),
            try mirror.publication("x", at: "marker/", expecting: .absent),
            try mirror.publication("2", at: "good/two", expecting: .absent),
        )
        #expect(
            outcomes == [
                .failed(.unusablePartial(name: gone.partialName)),
                .published(try mirror.fileIdentity("good/one"), keptAs: nil),
                .failed(.parentIsFile(try relative("file/"))),
                .failed(.targetIsDirectory(try relative("directory"))),
                .failed(.targetIsDirectory(try relative("directory"))),
                .failed(.symlinkInPath(try relative("link/"))),
                .failed(.targetIsSpecial(try relative("link"), .symbolicLink)),
                .failed(.targetIsSpecial(try relative("fifo"), .fifo)),
                .failed(.targetIsDirectory(try relative("marker/"))),
                .published(try mirror.fileIdentity("good/two"), keptAs: nil),
            ]
        )
        #expect(
            try temporary.userTree() == [
                "file": "a file", "directory": "directory", "link": "link", "fifo": "special",
                "good": "directory", "good/one": "1", "good/two": "2",
            ]
        )
        gone.partialName = "../../file"
        #expect(try publish(gone) == [.failed(.unusablePartial(name: "../../file"))])
    }

    @Test func `a link is replaced as a name and never written through`() throws {
        try temporary.write("elsewhere", "precious")
        try temporary.makeLink("link", to: "elsewhere")
        let outcomes = try publish(
            try mirror.publication(
                "new",
                at: "link",
                expecting: .anything,
                backup: .moveToTrash(run: "7")
            )
        )
        #expect(outcomes == [.published(try mirror.fileIdentity("link"), keptAs: nil)])
        #expect(try temporary.userTree() == ["elsewhere": "precious", "link": "new"])
        #expect(try temporary.tree(".osssync/trash/7")[".osssync/trash/7/link"] == "link")
    }

    @Test func `a second name of the old version keeps its content`() throws {
        try temporary.write("f", "old")
        try temporary.makeHardLink("g", to: "f")
        _ = try publish(try mirror.publication("new", at: "f", expecting: .anything))
        #expect(try temporary.userTree() == ["f": "new", "g": "old"])
    }

    @Test(arguments: [-5_000_000_000, -1, 0, 7_258_118_400, 1 << 40, Int64.max, Int64.min])
    func `a time that the disk cannot hold is stored as well as it can be`(seconds: Int64) throws {
        var publication = try mirror.publication("x", at: "f", expecting: .absent)
        publication.modified = Timestamp(seconds: seconds, nanoseconds: 1)
        let outcomes = try publish(publication)
        #expect(outcomes == [.published(try mirror.fileIdentity("f"), keptAs: nil)])
    }

    @Test func `two items for one path are not both published`() throws {
        let outcomes = try publish(
            try mirror.publication("1", at: "f", expecting: .absent),
            try mirror.publication("2", at: "f", expecting: .absent),
        )
        #expect(outcomes.last == .failed(.targetChanged(try relative("f"))))
        #expect(try temporary.userTree() == ["f": "1"])
    }

    @Test func `where no rename leads a copy is published`() throws {
        let faults = SystemCallFaults(.fail(errno: EXDEV), at: 1, of: ["renameat2"])
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        let group = [
            try mirror.publication("1", at: "mounted/f", expecting: .absent),
            try mirror.publication("2", at: "z", expecting: .absent),
        ]
        let outcomes = try mirror.publish(group, durability: .synchronized)
        #expect(
            outcomes == [
                .published(try mirror.fileIdentity("mounted/f"), keptAs: nil),
                .published(try mirror.fileIdentity("z"), keptAs: nil),
            ]
        )
        #expect(
            try temporary.userTree()
                == ["mounted": "directory", "mounted/f": "1", "z": "2"]
        )
        #expect(mirror.disk.takeRefusals() == [.renames])
        #expect(try mirror.partials.names().isEmpty)
    }

    @Test func `a version to which no second name leads has a copy in the trash`() throws {
        try temporary.write("f", "old")
        let faults = SystemCallFaults(.fail(errno: EXDEV), at: 1, of: ["linkat"])
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        let publication = try mirror.publication(
            "new",
            at: "f",
            expecting: .file(mirror.fileIdentity("f")),
            backup: .moveToTrash(run: "1")
        )
        let outcomes = try mirror.publish([publication], durability: .synchronized)
        #expect(outcomes == [.published(try mirror.fileIdentity("f"), keptAs: nil)])
        #expect(temporary.read("f") == "new")
        #expect(temporary.read(".osssync/trash/1/f") == "old")
    }

    @Test func `a file system without an exclusive rename gets a look and a plain one`() throws {
        for (index, errno) in [EINVAL, ENOSYS, ENOTSUP].enumerated() {
            let faults = SystemCallFaults(.failFromHereOn(errno: errno), at: 1, of: ["renameat2"])
            let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
            try temporary.write("taken\(index)", "old")
            let group = [
                try mirror.publication("new", at: "free\(index)", expecting: .absent),
                try mirror.publication("new", at: "taken\(index)", expecting: .absent),
            ]
            _ = try mirror.publish(group, durability: .synchronized)
            #expect(temporary.read("free\(index)") == "new")
            #expect(temporary.read("taken\(index)") == "old")
        }
    }

    @Test func `an empty group costs nothing`() throws {
        let faults = SystemCallFaults(.failFromHereOn(errno: EIO), at: 0, of: [])
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        let before = faults.count
        #expect(try mirror.publish([], durability: .synchronized) == [])
        #expect(faults.count == before)
    }

    @Test func `a group is synchronized twice, whatever its size`() throws {
        let faults = SystemCallFaults(.fail(errno: EIO), at: 0, of: ["syncfs", "fsync"])
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        let group = try (0..<50).map {
            try mirror.publication("\($0)", at: "d\($0 % 3)/\($0)", expecting: .absent)
        }
        _ = try mirror.publish(group, durability: .synchronized)
        #expect(faults.count == 2)
    }

    @Test func `each directory of a group is opened twice`() throws {
        let faults = SystemCallFaults(.fail(errno: EIO), at: 0, of: ["openat2"])
        let mirror = try temporary.mirror(calls: SystemCalls(usesOpenat2: true, faults: faults))
        for name in ["a", "a/b", "c"] { try temporary.makeDirectory(name) }
        let parents = ["a", "a/b", "c", "a", "a/b", "c", "a", "a/b"]
        let group = try parents.enumerated().map { index, parent in
            try mirror.publication("x", at: "\(parent)/\(index)", expecting: .absent)
        }
        _ = try mirror.publish(group, durability: .synchronized)
        // For what it gives to new files, and for their names once the disk has their contents; the
        // one that another lies in once more, for the name of that.
        #expect(faults.count == 7)
    }
}
