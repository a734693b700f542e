import Glibc
import SyncModel
import Synchronization
import Testing

@testable import LocalStorage

@Suite("Changes in a directory", .timeLimit(.minutes(1)))
struct DirectoryChangesTests {
    private let temporary: TemporaryDirectory
    private let log = Log()

    init() throws {
        temporary = try TemporaryDirectory()
        for name in ["a", "a/b", "out"] { try temporary.makeDirectory(name) }
    }

    /// What was reported, in order.
    private final class Log: Sendable {
        let changes = Mutex<[DirectoryChanges.Change]>([])
        let condition = Condition()

        func add(_ change: DirectoryChanges.Change) {
            changes.withLock { $0.append(change) }
            condition.raise()
        }

        /// Waits for a report, and returns it and all before it; they are forgotten.
        func until(
            _ wanted: DirectoryChanges.Change
        ) async throws -> [DirectoryChanges.Change] {
            while true {
                try Task.checkCancellation()
                let version = condition.version
                let found: [DirectoryChanges.Change]? = changes.withLock { changes in
                    guard let index = changes.firstIndex(of: wanted) else { return nil }
                    defer { changes.removeFirst(index + 1) }
                    return [DirectoryChanges.Change](changes[...index])
                }
                if let found { return found }
                await condition.wait(after: version)
            }
        }

        func until(_ path: String) async throws -> [DirectoryChanges.Change] {
            try await until(.changed([UInt8](path.utf8)))
        }
    }

    private func begin(
        calls: SystemCalls = .standard,
        tags: DirectoryTags = DirectoryTags(),
        leavingOut isExcluded: @escaping DirectoryWalk.Exclusion = { _, _ in false }
    ) throws -> DirectoryChanges {
        DirectoryChanges(
            in: try temporary.mirror(calls: calls),
            rules: .init(shared: ".osssyncignore", own: "ignore", tags: tags),
            leavingOut: isExcluded,
            onChange: log.add
        )
    }

    private static func changed(_ path: String) -> DirectoryChanges.Change {
        .changed([UInt8](path.utf8))
    }

    @Test func `are reported wherever they are, and nothing else is`() async throws {
        let changes = try begin { path, _ in path == Array("a/cache".utf8) }
        #expect(changes.count == 4 && changes.obstacle == nil)
        try temporary.makeDirectory("a/cache")
        try temporary.write("a/cache/x", "x")
        try temporary.write(".osssync/manifest", "x")
        try temporary.makeDirectory("a/.osssync")
        try temporary.write([UInt8]("a/".utf8) + [0xFF], [1])
        try temporary.write("a/b/f", "x")
        #expect(try Set(await log.until("a/b/f")) == [Self.changed("a/b/f")])
        try temporary.remove("a/b/f")
        try temporary.write("end", "x")
        #expect(try Set(await log.until("end")) == [Self.changed("a/b/f"), Self.changed("end")])
        #expect(changes.count == 4)
    }

    @Test func `are of permissions, and not of links, reading or times of directories`()
        async throws
    {
        try temporary.write("a/f", "x")
        try temporary.write("a/g", "x")
        let changes = try begin()
        let path = temporary.mirrorPath
        #expect(unsafe chmod(path + "/a/f", 0o600) == 0)
        #expect(try await log.until("a/f") == [Self.changed("a/f")])
        #expect(unsafe link(path + "/a/g", temporary.path + "/second") == 0)
        #expect(unsafe unlink(temporary.path + "/second") == 0)
        #expect(unsafe utimensat(AT_FDCWD, path + "/a", nil, 0) == 0)
        #expect(TemporaryDirectory.content(of: path + "/a/g") == "x")
        try temporary.write("end", "x")
        #expect(try Set(await log.until("end")) == [Self.changed("end")])
        #expect(unsafe chmod(path + "/a/b", 0o700) == 0)
        #expect(try Set(await log.until("a/b")) == [Self.changed("a/b"), Self.changed("end")])
        // It is still watched.
        try temporary.write("a/b/h", "x")
        _ = try await log.until("a/b/h")
        #expect(changes.count == 4)
    }

    /// Also those that were made before their directory could be watched.
    @Test func `of new directories are all beneath them`() async throws {
        for name in ["n", "n/m", "n/m/o"] { try temporary.makeDirectory(name) }
        let (inside, outside) = (temporary.mirrorPath + "/n", temporary.path + "/n")
        #expect(unsafe Glibc.rename(inside, outside) == 0)
        let changes = try begin()
        #expect(unsafe Glibc.rename(outside, inside) == 0)
        _ = try await log.until("n")
        try temporary.write("a/one", "x")
        _ = try await log.until("a/one")
        #expect(changes.count == 7)
        try temporary.write("n/m/o/f", "y")
        _ = try await log.until("n/m/o/f")
    }

    @Test func `follow a directory that is renamed, and end for one that leaves`() async throws {
        let changes = try begin()
        try temporary.rename("a", to: "c")
        #expect(try await log.until("c").contains(.removedDirectory(Array("a".utf8))))
        try temporary.write("c/b/f", "x")
        _ = try await log.until("c/b/f")
        #expect(changes.count == 4)
        let outside = temporary.path + "/c"
        #expect(unsafe Glibc.rename(temporary.mirrorPath + "/c", outside) == 0)
        _ = try await log.until(.removedDirectory(Array("c".utf8)))
        let file = unsafe open(outside + "/b/f", O_WRONLY)
        #expect(unsafe Glibc.write(file, "yz", 2) == 2)
        close(file)
        try temporary.write("end", "x")
        #expect(try !(await log.until("end")).contains(Self.changed("c/b/f")))
        #expect(changes.count == 2)
    }

    @Test func `of tags are other rules, wherever they are`() async throws {
        var tags = DirectoryTags()
        (tags.names, tags.recognizesCaches) = ([".nobackup"], true)
        let changes = try begin(tags: tags)
        for name in ["a/.nobackup", "a/b/CACHEDIR.TAG"] {
            try temporary.write(name, "")
            _ = try await log.until(.loss(.rules))
            try temporary.remove(name)
            _ = try await log.until(.loss(.rules))
        }
        withExtendedLifetime(changes) {}
    }

    @Test func `of rules, and of the place of the directory, are losses`() async throws {
        let changes = try begin()
        try temporary.write(".osssyncignore", "*.x")
        _ = try await log.until(.loss(.rules))
        try temporary.write("end", "x")
        _ = try await log.until("end")
        try temporary.write(".osssync/ignore", "*.y")
        _ = try await log.until(.loss(.rules))
        #expect(
            unsafe Glibc.rename(temporary.mirrorPath, temporary.path + "/moved") == 0
        )
        _ = try await log.until(.loss(.moved))
        #expect(changes.count == 4)
    }

    @Test func `are not reported after the end`() async throws {
        let changes = try begin()
        changes.stop()
        #expect(changes.count == 0)
        try temporary.write("a/x", "x")
        let other = try begin()
        try temporary.write("a/y", "y")
        #expect(try Set(await log.until("a/y")) == [Self.changed("a/y")])
        #expect(other.count == 4)
    }

    /// The first two watches are those of the state and of the directory itself.
    @Test(arguments: 2...5)
    func `that the limit of watches hides are not waited for`(number: Int) throws {
        let failing = SystemCallFaults(.fail(errno: ENOSPC), at: number, of: ["inotify_add_watch"])
        let changes = try begin(calls: SystemCalls(usesOpenat2: true, faults: failing))
        #expect(changes.obstacle == .limit("fs.inotify.max_user_watches"))
        // Other programs need them.
        #expect(changes.count == 0)
    }

    @Test func `that are more than the system keeps are a loss`() async throws {
        let limit = try #require(
            TemporaryDirectory.content(of: "/proc/sys/fs/inotify/max_queued_events")
                .flatMap { Int($0.prefix { $0.isNumber }) }
        )
        let changes = try begin()
        try temporary.write("x", "x")
        // The reader waits at its first report until there is room for no more.
        try log.changes.withLock { _ in
            for _ in 0...(limit / 4 + SystemCalls.reportBufferSize / 64) {
                try temporary.rename("x", to: "y")
                try temporary.rename("y", to: "x")
            }
            try temporary.rename("x", to: "z")
        }
        _ = try await log.until(.loss(.overflow))
        #expect(changes.count == 4)
    }

    @Test func `of a new directory that cannot be watched are a loss`() async throws {
        let failing = SystemCallFaults(.fail(errno: ENOSPC), at: 6, of: ["inotify_add_watch"])
        let changes = try begin(calls: SystemCalls(usesOpenat2: true, faults: failing))
        #expect(changes.count == 4 && changes.obstacle == nil)
        try temporary.makeDirectory("new")
        _ = try await log.until(.loss(.obstacle))
    }

    @Test func `are not watched without a queue`() throws {
        let failing = SystemCallFaults(.fail(errno: EMFILE), at: 1, of: ["inotify_init1"])
        let changes = try begin(calls: SystemCalls(usesOpenat2: true, faults: failing))
        #expect(changes.obstacle == .limit("fs.inotify.max_user_instances"))
    }
}
