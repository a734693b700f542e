import ManifestStore
import SyncModel
import Testing

private struct MessageCase: Sendable, CustomTestStringConvertible {
    let error: ManifestError
    let message: String
    var isDamage = false

    var testDescription: String { message }
}

private let messageCases = [
    MessageCase(
        error: .damaged(path: "/d/\u{1B}m.db", detail: "malformed"),
        message: "the manifest '/d/\\x1Bm.db' is damaged: malformed; "
            + "the next run sets it aside and creates a new one from both sides",
        isDamage: true
    ),
    MessageCase(
        error: .invalidRow(table: "entry", row: "a\\n", problem: "its size is -1"),
        message: "the manifest's table entry has a damaged row 'a\\n': its size is -1; "
            + "the next run sets the manifest aside and creates a new one",
        isDamage: true
    ),
    MessageCase(
        error: .newerSchema(path: "/d/m.db", found: 3, supported: 1),
        message: "the manifest '/d/m.db' was written by a newer osssync (format 3, this version "
            + "reads up to 1); it was not changed; use the newer version"
    ),
    MessageCase(
        error: .diskFull(path: "/d/m.db"),
        message: "no space is left for the manifest '/d/m.db'; "
            + "free some space and run again (recorded data is kept)"
    ),
    MessageCase(
        error: .quotaExceeded(path: "/d/m.db"),
        message: "the disk quota leaves no space for the manifest '/d/m.db'; "
            + "free some space and run again (recorded data is kept)"
    ),
    MessageCase(
        error: .inUse(path: "/d/m.db"),
        message: "the manifest '/d/m.db' is in use by another process"
    ),
    MessageCase(
        error: .unusable(path: "/d/m.db", reason: "unable to open database file"),
        message: "the manifest '/d/m.db' cannot be used: unable to open database file"
    ),
    MessageCase(
        error: .systemCall(call: "rename", path: "/d/m.db", errno: 13),
        message: "rename failed on '/d/m.db': Permission denied"
    ),
    MessageCase(
        error: .invalidValue("an ETag has 2000 bytes"),
        message: "the manifest cannot record this: an ETag has 2000 bytes"
    ),
    MessageCase(
        error: .rejected("there is no run 4"),
        message: "the manifest refused a change: there is no run 4"
    ),
    MessageCase(
        error: .checkpointGone("a\u{202E}"),
        message: "the checkpoint of 'a\\u{202E}' is gone or belongs to another transfer"
    ),
    MessageCase(error: .closed, message: "the manifest was closed"),
]

@Suite("Errors of the manifest")
struct ManifestErrorTests {
    @Test(arguments: messageCases)
    private func `an error says what failed and what to do, safe to print`(item: MessageCase) {
        #expect(item.error.message == item.message)
        #expect(item.error.isDamage == item.isDamage)
    }
}
