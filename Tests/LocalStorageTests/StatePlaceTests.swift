import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Places of the state")
struct StatePlaceTests {
    let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    private func open(
        _ path: String,
        state: String?,
        creates: Bool = true
    ) throws(LocalError) -> MirrorDirectory {
        try MirrorDirectory(
            path: path,
            stateDirectory: state,
            homeDirectory: nil,
            createsIfMissing: creates
        )
    }

    private func keys(_ batch: WalkBatch) -> [String] {
        batch.entries.map { String(decoding: $0.path.bytes, as: UTF8.self) }
    }

    // MARK: - States that a walk meets

    @Test func `a state is not entered, whatever its name`() throws {
        let mirror = try temporary.mirror()
        for name in ["d", "d/inner", "e"] { try temporary.makeDirectory(name) }
        let inner = temporary.path + "/inner"
        try TemporaryDirectory.check("mkdir", unsafe mkdir(inner, 0o755))
        _ = try open(inner, state: temporary.mirrorPath + "/d/state")
        try temporary.write("d/state/manifest.db", "x")
        // Only the content makes it one.
        try temporary.write("e/identity", "osssync-status")
        try temporary.write("e/f", "x")
        let walk = try mirror.walkAll(limit: 10)
        #expect(keys(walk) == ["d/", "d/inner/", "e/", "e/f", "e/identity"])
        let issue = try #require(walk.issues.first)
        #expect(issue == WalkIssue(path: [UInt8]("d/state".utf8), reason: .state))
        #expect(issue.message == "'d/state' is the state directory of a mirror, and is skipped")
        #expect(!issue.makesScanIncomplete && !issue.isReserved && issue.replacesWhatWasThere)
    }

    @Test func `the state is known before anything else is in it`() throws {
        let state = temporary.path + "/state"
        _ = try open(temporary.mirrorPath, state: state)
        let text = try #require(TemporaryDirectory.content(of: state + "/identity"))
        #expect(text.hasPrefix("osssync-state 1\n{\"state\":\""))
        _ = try open(temporary.mirrorPath, state: state)
        #expect(TemporaryDirectory.content(of: state + "/identity") == text)
        let error = #expect(throws: LocalError.self) { try open(state, state: nil) }
        #expect(error?.message.contains("it is the state directory of a mirror") == true)
    }

    @Test func `a state beneath the mirror serves only a push`() throws {
        try temporary.makeDirectory("d")
        let mirror = try open(temporary.mirrorPath, state: temporary.mirrorPath + "/d/state")
        #expect(try keys(mirror.walkAll(limit: 10)) == ["d/"])
        #expect(throws: LocalError.self) { try mirror.requireOwn() }
        try temporary.mirror().requireOwn()
    }

    @Test func `no download makes a directory a state`() throws {
        let mirror = try temporary.mirror()
        for (content, isRefused) in [("osssync-state 1\nx", true), ("osssync", false)] {
            let group = try [
                mirror.publication(content, at: "d/identity", expecting: .absent)
            ]
            let outcome = try #require(mirror.publish(group, durability: .synchronized).first)
            if isRefused {
                #expect(outcome == .failed(.identityOfState(try relative("d/identity"))))
                #expect(!temporary.exists("d/identity"))
            } else {
                #expect(temporary.read("d/identity") == content)
            }
        }
    }

    // MARK: - Work beside another state's

    /// On another mount than the mirror; nil where there is none.
    private func otherMount() throws -> String? {
        let place = "/tmp/osssync-state-" + IdentityFile.newStateName()
        try TemporaryDirectory.check("mkdir", unsafe mkdir(place, 0o700))
        let mounts = [place, temporary.path].map {
            SystemCalls.standard.statusFollowingLinks(PathBytes($0.utf8))?.mount
        }
        return mounts[0] == mounts[1] ? nil : place
    }

    @Test func `states on other mounts have each their own partial files and trash`() throws {
        guard let place = try otherMount() else { return }
        defer { try? TemporaryDirectory.removeTree([UInt8](place.utf8)) }
        // What a state had before it had a place of its own.
        for name in [".osssync", ".osssync/partial", ".osssync/trash"] {
            try temporary.makeDirectory(name)
            try temporary.setMode(name, 0o700)
        }
        try temporary.write(".osssync/trash/old", "x")
        let states = try ["one", "two"].map {
            try open(temporary.mirrorPath, state: place + "/" + $0)
        }
        let names = try states.map { try $0.partial("x") }
        for (state, name) in zip(states, names) { #expect(try state.partials.names() == [name]) }
        try temporary.write("f", "x")
        try states[0].moveToTrash(
            try relative("f"),
            expected: try states[0].fileIdentity("f"),
            run: "r"
        )
        #expect(try states[0].trash.runs().map(\.display) == ["old", "r"])
        #expect(try states[1].trash.runs().isEmpty)
        #expect(!temporary.exists(".osssync/trash"))
        // A state of another name keeps what it has.
        states[0].nameWork("other")
        #expect(try states[0].partials.names() == [names[0]])
        #expect(temporary.exists(".osssync/work-other/trash/r/f"))
    }

    // MARK: - Directories that are only sent

    @Test(arguments: ["/", "/etc", "/usr/bin", "/home", "/var/log"])
    func `with a state elsewhere a directory of the system is only read`(path: String) throws {
        let mirror = try open(path, state: temporary.path + "/state")
        guard case .refusedDirectory = mirror.protection else {
            Issue.record("\(path) can be written")
            return
        }
        #expect(throws: LocalError.self) { try mirror.requireOwn() }
        #expect(throws: LocalError.self) { try mirror.partial("x") }
        // A push asks what the permissions in the bucket would be here.
        #expect(try mirror.permissions(ofMarker: 0o700) == 0o700)
        #expect(try mirror.permissions(ofObject: 0o600) == 0o600)
        #expect(try mirror.markerFile.writingRefusal(makes: true) == mirror.protection)
        #expect(unsafe access(path + "/.osssync", F_OK) != 0)
        let error = #expect(throws: LocalError.self) { try open(path, state: nil) }
        #expect(error?.message.contains("a state directory elsewhere") == true)
        let looked = try MirrorDirectory.inspect(
            at: path,
            stateDirectory: temporary.path + "/none",
            homeDirectory: nil,
            calls: .standard
        )
        looked.removeStandIn()
    }

    @Test func `what shows the kernel is no mirror, and no walk enters it`() throws {
        for path in ["/proc", "/sys"] {
            let error = #expect(throws: LocalError.self) {
                try open(path, state: temporary.path + "/state")
            }
            #expect(error?.message.contains("file system of the kernel") == true)
        }
        let root = try open("/", state: temporary.path + "/state")
        let ranges = KeyRanges([KeyRange(prefix: "proc/")])
        let walk = try root.walk(within: ranges, leavingOut: { _, _ in false }).next(limit: 10)
        #expect(
            walk.issues == [
                WalkIssue(path: [UInt8]("proc".utf8), reason: .pseudoFileSystem("proc"))
            ]
        )
        #expect(walk.entries.isEmpty && walk.isFinished)
    }
}
