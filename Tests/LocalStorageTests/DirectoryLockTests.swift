import Glibc
import Testing

@testable import LocalStorage

@Suite("Lock")
struct DirectoryLockTests {
    let temporary: TemporaryDirectory
    let mirror: MirrorDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        mirror = try temporary.mirror()
    }

    private var ownText: String {
        SystemCalls.processDescription
    }

    @Test func `a second run is told who holds the directory`() throws {
        let lock = try mirror.lock()
        let error = #expect(throws: LocalError.self) { try temporary.mirror().lock() }
        #expect(error == .lockHeld(by: ownText))
        #expect(ownText.hasPrefix("process \(getpid()) on "))
        #expect(error?.message == "another run holds this directory (\(ownText))")
        withExtendedLifetime(lock) {}
    }

    @Test func `a released lock is free`() throws {
        do {
            let lock = try mirror.lock()
            withExtendedLifetime(lock) {}
        }
        _ = try temporary.mirror().lock()
    }

    @Test func `stale text blocks nobody and is replaced`() throws {
        try temporary.write(".osssync/lock", String(repeating: "stale ", count: 100))
        let lock = try mirror.lock()
        #expect(temporary.read(".osssync/lock") == ownText + "\n")
        withExtendedLifetime(lock) {}
    }

    @Test func `text of a stranger is shown escaped`() throws {
        let lock = try mirror.lock()
        try temporary.write(".osssync/lock", "\u{1B}[2Jx\nmore")
        #expect(throws: LocalError.lockHeld(by: "\\x1B[2Jx")) { try temporary.mirror().lock() }
        try temporary.write(".osssync/lock", "")
        #expect(throws: LocalError.lockHeld(by: "another process")) {
            try temporary.mirror().lock()
        }
        withExtendedLifetime(lock) {}
    }

    @Test func `runs with different state directories exclude each other`() throws {
        let other = try MirrorDirectory(
            path: temporary.mirrorPath,
            stateDirectory: temporary.path + "/state",
            homeDirectory: nil,
            createsIfMissing: true
        )
        do {
            let lock = try mirror.lock()
            let error = LocalError.lockHeld(by: "another process, with another state directory")
            #expect(throws: error) { try other.lock() }
            withExtendedLifetime(lock) {}
        }
        _ = try other.lock()
    }

    @Test func `a lock that is a link is not opened`() throws {
        try temporary.write("f", "precious")
        try temporary.makeLink(".osssync/lock", to: "../f")
        #expect(throws: LocalError.self) { try mirror.lock() }
        #expect(temporary.read("f") == "precious")
    }

    @Test(.enabled(if: unsafe access("/usr/bin/flock", X_OK) == 0, "needs util-linux"))
    func `a killed holder leaves no lock behind`() throws {
        let path = temporary.mirrorPath + "/.osssync/lock"
        let holder = try LockHolder(path: path)
        try temporary.write(".osssync/lock", "process 1 on elsewhere\n")
        #expect(throws: LocalError.lockHeld(by: "process 1 on elsewhere")) { try mirror.lock() }
        try holder.kill()
        let lock = try mirror.lock()
        withExtendedLifetime(lock) {}
    }
}

/// Another process that holds a lock until it is killed.
private struct LockHolder {
    private let process: pid_t

    /// Returns when the lock is held.
    init(path: String) throws {
        var ends: [Int32] = [0, 0]
        try TemporaryDirectory.check("pipe", unsafe pipe(&ends))
        defer { close(ends[0]) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        // The shell says that it was started, and then is the process that keeps the descriptor.
        let words = [
            "flock", "--no-fork", "--exclusive", path, "/bin/sh", "-c", "echo held; exec sleep 600",
        ]
        var arguments = unsafe words.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        var process: pid_t = 0
        let code = unsafe posix_spawn(
            &process,
            "/usr/bin/flock",
            &actions,
            nil,
            arguments,
            nil
        )
        close(ends[1])
        try #require(code == 0)
        self.process = process
        var line = [UInt8](repeating: 0, count: 16)
        let count = unsafe read(ends[0], &line, line.count)
        try #require(line.prefix(max(count, 0)).elementsEqual("held\n".utf8))
    }

    /// Returns when the process is gone.
    func kill() throws {
        try TemporaryDirectory.check("kill", Glibc.kill(process, SIGKILL))
        var status: Int32 = 0
        try TemporaryDirectory.check("waitpid", unsafe waitpid(process, &status, 0))
    }
}
