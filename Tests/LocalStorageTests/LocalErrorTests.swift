import Glibc
import LocalStorage
import SyncModel
import Testing

@Suite("Messages of local errors")
struct LocalErrorTests {
    struct Example: CustomTestStringConvertible, Sendable {
        let error: LocalError
        let message: String
        var testDescription: String { message }
    }

    private static let path: RelativePath = {
        do {
            return try RelativePath(key: "a/\u{1B}b")
        } catch {
            preconditionFailure("a safe key")
        }
    }()

    static let examples: [Example] = [
        Example(
            error: .systemCall(SystemCallError(call: "openat", errno: EACCES, path: "f")),
            message: "'f': permission denied"
        ),
        Example(
            error: .systemCall(SystemCallError(call: "renameat2", errno: EPERM, path: "f")),
            message: "'f': operation not permitted (it is immutable, or another user's in a"
                + " directory with the sticky bit)"
        ),
        Example(
            error: .systemCall(SystemCallError(call: "syncfs", errno: EIO, path: nil)),
            message: "input/output error (syncfs)"
        ),
        Example(
            error: .missingDirectory(path: "/mnt/disk"),
            message: "'/mnt/disk' does not exist; check that its disk is mounted, or create it"
        ),
        Example(error: .missingFile, message: "it does not exist; check its name"),
        Example(error: .notADirectory(path: "/f"), message: "'/f' is not a directory"),
        Example(
            error: .refusedDirectory(path: "/", reason: "it is the root of the file system"),
            message: "'/' is not mirrored: it is the root of the file system. A push with"
                + " a state directory elsewhere can send it; anything else needs a separate"
                + " directory"
        ),
        Example(
            error: .unsafeDirectory(path: "/s", reason: "it belongs to another user"),
            message: "'/s' is not safe to use: it belongs to another user"
        ),
        Example(
            error: .symlinkInPath(path),
            message: "'a/\\x1Bb' is a symbolic link, and links are never followed"
        ),
        Example(
            error: .parentIsFile(path),
            message: "'a/\\x1Bb' is not a directory, so nothing can be stored beneath it"
        ),
        Example(error: .absent(path), message: "'a/\\x1Bb' no longer exists"),
        Example(
            error: .targetIsDirectory(path),
            message: "'a/\\x1Bb' is a directory, so a file cannot replace it"
        ),
        Example(
            error: .targetIsSpecial(path, .socket),
            message: "'a/\\x1Bb' is a socket and is skipped"
        ),
        Example(
            error: .nameTaken(path, by: "B"),
            message: "'a/\\x1Bb' and 'B' are the same name on this disk; the existing one is"
                + " kept; rename one of them, or mirror to a disk that distinguishes them"
        ),
        Example(
            error: .targetChanged(path),
            message: "'a/\\x1Bb' changed during the run and is skipped; run again"
        ),
        Example(
            error: .otherFileSystem(path),
            message: "'a/\\x1Bb' is on a different disk or mount than the mirror's temporary"
                + " files; mirror that one separately"
        ),
        Example(
            error: .unusablePartial(name: "0f"),
            message: "the temporary file '0f' is gone or was replaced; a new attempt begins again"
        ),
        Example(
            error: .sizeChanged(path: "f", expected: 5),
            message: "'f' no longer has the 5 bytes it had; another program is writing it"
        ),
        Example(
            error: .noFreeName(path),
            message: "no free name was found to keep the old version of 'a/\\x1Bb'"
        ),
        Example(
            error: .diskFull(shortage(.space, needed: 10, free: 3)),
            message: "'f': the disk is full (10 B are needed and 3 B are free)"
        ),
        Example(
            error: .diskFull(shortage(.inodes, needed: nil, free: 3)),
            message: "'f': the file system has no free inodes"
        ),
        Example(
            error: .diskFull(shortage(.quota, needed: nil, free: nil)),
            message: "'f': the disk quota is used up"
        ),
        Example(
            error: .lockHeld(by: "process 1 on h"),
            message: "another run holds this directory (process 1 on h)"
        ),
    ]

    private static func shortage(
        _ resource: DiskShortage.Resource,
        needed: Int64?,
        free: Int64?
    ) -> DiskShortage {
        DiskShortage(
            resource: resource,
            errno: ENOSPC,
            path: "f",
            neededBytes: needed,
            freeBytes: free
        )
    }

    @Test(arguments: examples)
    func `an error says what it is about and what to do`(example: Example) {
        #expect(example.error.message == example.message)
    }
}
