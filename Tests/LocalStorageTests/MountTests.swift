import SyncModel
import Testing

@testable import LocalStorage

@Suite("Mounts")
struct MountTests {
    private func status(
        _ kind: FileStatus.Kind,
        mount: UInt64,
        device: UInt64 = 1
    ) -> FileStatus {
        FileStatus(
            kind: kind,
            identity: FileIdentity(
                size: 1,
                modified: Timestamp(seconds: 0),
                changed: Timestamp(seconds: 0),
                inode: 7,
                device: device
            ),
            owner: 0,
            group: 0,
            isFixed: false,
            isEncrypted: false,
            linkCount: 1,
            permissions: 0o755,
            mount: mount
        )
    }

    @Test func `a mount is told by its number, of a file system that is mounted twice too`() {
        let around = status(.directory, mount: 5)
        for kind in [FileStatus.Kind.directory, .file] {
            #expect(!status(kind, mount: 5).isMountPoint(in: around))
            #expect(status(kind, mount: 6).isMountPoint(in: around))
        }
        #expect(!status(.directory, mount: 6).isSameMount(as: around))
        #expect(status(.directory, mount: 5).isSameMount(as: around))
    }

    @Test func `a subvolume is one, and a file of an overlay is none`() {
        let around = status(.directory, mount: 5)
        #expect(status(.directory, mount: 5, device: 2).isMountPoint(in: around))
        #expect(!status(.directory, mount: 5, device: 2).isSameMount(as: around))
        #expect(!status(.file, mount: 5, device: 2).isMountPoint(in: around))
    }

    @Test func `without numbers of mounts the device tells`() {
        let around = status(.directory, mount: 0)
        #expect(status(.directory, mount: 0, device: 2).isMountPoint(in: around))
        #expect(!status(.directory, mount: 0).isMountPoint(in: around))
        #expect(!status(.file, mount: 0, device: 2).isMountPoint(in: around))
    }

    @Test func `the kernel tells the mount of what is open and of what has a name`() throws {
        let temporary = try TemporaryDirectory()
        let mirror = try temporary.mirror()
        try temporary.write("f", "x")
        let root = try mirror.root.status()
        let file = try #require(try mirror.root.status(of: PathBytes("f")))
        #expect(root.mount != 0)
        #expect(file.mount == root.mount)
        let other = SystemCalls.standard.statusFollowingLinks(PathBytes("/proc"))
        #expect(other?.mount != root.mount)
    }
}
