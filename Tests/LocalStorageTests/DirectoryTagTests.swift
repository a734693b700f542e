import Glibc
import SyncModel
import Testing

@testable import LocalStorage

@Suite("Tags of directories")
struct DirectoryTagTests {
    let temporary: TemporaryDirectory
    private let tags: DirectoryTags

    init() throws {
        temporary = try TemporaryDirectory()
        var tags = DirectoryTags()
        tags.recognizesCaches = true
        self.tags = tags
        try temporary.makeDirectory("d")
        let signature = String(decoding: DirectoryTags.cacheSignature, as: UTF8.self)
        try temporary.write("d/CACHEDIR.TAG", signature + "\n")
        try temporary.write("d/f", "x")
    }

    private func walk(_ calls: SystemCalls, _ ranges: KeyRanges) throws -> WalkBatch {
        try temporary.mirror(calls: calls)
            .walk(within: ranges, tags: tags, leavingOut: { _, _ in false }).next(limit: 100)
    }

    /// Also by a walk that drops the name of the tag.
    @Test(arguments: [KeyRanges.all, KeyRanges([KeyRange("d/f")])])
    func `whatever cannot be read once, a cache is never walked`(ranges: KeyRanges) throws {
        let reason = WalkIssue.Reason.unreadableTag(errno: EIO)
        var wasUnreadable = false
        for number in 1... {
            let failing = SystemCallFaults(.fail(errno: EIO), at: number, of: [])
            guard
                let batch = try? walk(SystemCalls(usesOpenat2: true, faults: failing), ranges)
            else {
                // The mirror, or its root, could not be opened.
                continue
            }
            #expect(!batch.entries.contains { $0.path == "d/f" }, "call \(number)")
            let issue = batch.issues.first { $0.path == Array("d".utf8) }
            #expect(issue != nil, "call \(number)")
            if issue?.reason == reason { wasUnreadable = true }
            if failing.firedCall == nil { break }
        }
        #expect(wasUnreadable)
    }

    @Test func `a message says what is excluded, and why`() {
        let path = Array("d".utf8)
        let tagged = WalkIssue(path: path, reason: .tagged(by: ".nobackup"))
        let unreadable = WalkIssue(path: path, reason: .unreadableTag(errno: EIO))
        #expect(tagged.message == "'d' is excluded by '.nobackup' in it")
        #expect(unreadable.message.hasPrefix("'d' is excluded, because its 'CACHEDIR.TAG' cannot"))
        for issue in [tagged, unreadable] {
            #expect(issue.isTag && !issue.makesScanIncomplete && !issue.isLeftOutByDesign)
        }
    }
}
