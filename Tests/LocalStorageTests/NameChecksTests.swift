import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Names that a disk refuses")
struct NameChecksTests {
    let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        // The disk fails where the directories of osssync are there already.
        let mirror = try temporary.mirror()
        let item = try mirror.publication("first", at: "first", expecting: .absent)
        _ = try mirror.publish([item], durability: .synchronized)
    }

    private func mirror(refusing errno: Int32) throws -> MirrorDirectory {
        try temporary.mirror(
            failing: .init(.failFromHereOn(errno: errno), at: 1, of: ["renameat2", "mkdirat"])
        )
    }

    /// Android's shared storage refuses ":" with EPERM, some servers of files with EACCES.
    @Test(arguments: [EPERM, EACCES])
    func `are found before anything is fetched, whatever the disk says`(errno: Int32) throws {
        let mirror = try mirror(refusing: errno)
        let error = #expect(throws: LocalError.self) {
            try mirror.names.require(try relative("d/q:r"), replaces: false)
        }
        guard case .nameRefused? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // A directory that is to be made has such a name, too.
        let other = #expect(throws: LocalError.self) {
            try mirror.makeDirectory(try relative("q:r"))
        }
        guard case .nameRefused? = other else {
            Issue.record("\(String(describing: other))")
            return
        }
        // Of an ordinary name, the disk is not asked.
        try mirror.names.require(try relative("d/r"), replaces: false)
    }

    @Test(arguments: [EPERM, EACCES])
    func `are none where a directory may not be written to`(errno: Int32) throws {
        let mirror = try temporary.mirror(
            failing: .init(.failFromHereOn(errno: errno), at: 1, of: ["mkdirat"])
        )
        let error = #expect(throws: LocalError.self) {
            try mirror.makeDirectory(try relative("q:r"))
        }
        #expect(error?.errno == errno)
    }

    @Test(arguments: [ENOSYS, EPERM, EINVAL])
    func `a disk that is not synchronized by itself is with all others`(errno: Int32) throws {
        let mirror = try temporary.mirror(
            failing: .init(.failFromHereOn(errno: errno), at: 1, of: ["syncfs"])
        )
        var items: [Publication] = []
        for name in ["a", "b", "c"] {
            items.append(try mirror.publication(name, at: name, expecting: .absent))
        }
        _ = try mirror.publish(items, durability: .synchronized)
        #expect(try temporary.userTree() == ["a": "a", "b": "b", "c": "c", "first": "first"])
        try mirror.root.calls.synchronizeFileSystem(mirror.root.descriptor)
    }
}
