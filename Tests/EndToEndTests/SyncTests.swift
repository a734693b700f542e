import Foundation
import Glibc
import Testing

@Suite("osssync sync", .serialized)
struct SyncTests {
    /// Two directories that have the same files by a sync of each.
    private func twins(_ workplace: Workplace) throws -> (Tree, Tree) {
        let (first, second) = (
            try workplace.makeDirectory("first"), try workplace.makeDirectory("second")
        )
        for index in 0..<4 { try first.write("d/f\(index)", ramp(1_000, seed: index)) }
        try second.write("own", ramp(10))
        for tree in [first, second, first] {
            let sync = try workplace.run("sync", tree.path, workplace.remote)
            try #require(sync.status == 0, "\(sync.diagnostics)")
        }
        #expect(try first.entries() == second.entries())
        return (first, second)
    }

    @Test func `brings two directories in step, and rests at the cost of a listing`() throws {
        let workplace = try Workplace()
        let (first, second) = try twins(workplace)
        try first.write("d/f0", ramp(2_000))
        try first.rename("d/f1", to: "moved")
        try second.write("new", ramp(3_000))
        try second.remove("own")
        for tree in [first, second, first] {
            let sync = try workplace.run("sync", "--delete", tree.path, "--json")
            #expect(sync.status == 0, "\(sync.diagnostics)")
            #expect(sync.summary["direction"] as? String == "sync")
        }
        #expect(try first.entries() == second.entries())
        #expect(
            Set(try first.entries().keys.map { String(decoding: $0, as: UTF8.self) })
                == ["d/f0", "d/f2", "d/f3", "moved", "new"]
        )
        #expect(second.content("d/f0") == ramp(2_000))
        let status = try workplace.run("status", first.path)
        let text =
            "  sync would: do nothing\n  differences: none\n  trash: 1 file (10 B)\n"
            + "  last success: sync 2"
        #expect(status.output.contains(text), "\(status.output)")
        let requests = try workplace.requests {
            let again = try workplace.run("sync", "--delete", first.path)
            #expect(again.status == 0)
            #expect(again.output.hasSuffix(": 5 unchanged\n"), "\(again.output)")
        }
        #expect(requests.map(\.operation) == ["ListObjectsV2"])
    }

    @Test func `keeps both versions, and what was changed elsewhere than removed`() throws {
        let workplace = try Workplace()
        let (first, second) = try twins(workplace)
        try first.write("d/f0", ramp(1_111))
        try second.write("d/f0", ramp(2_222))
        try first.remove("d/f1")
        try second.write("d/f1", ramp(3_333))
        try first.write("d/f2", ramp(4_444))
        try second.remove("d/f2")
        #expect(try workplace.run("sync", "--delete", first.path).status == 0)
        let dry = try workplace.run("sync", "--delete", "--dry-run", second.path)
        #expect(dry.output.contains("would report the conflict of d/f0: both sides changed it"))
        let conflict = try workplace.run("sync", "--delete", second.path)
        #expect(conflict.status == 1)
        #expect(conflict.diagnostics.contains("conflict: d/f0: both sides changed it"))
        for tree in [second, first, second] {
            #expect(try workplace.run("sync", "--delete", tree.path).status == 0)
        }
        #expect(try first.entries() == second.entries())
        #expect(first.content("d/f0") == ramp(1_111))
        #expect(first.content("d/f1") == ramp(3_333))
        #expect(first.content("d/f2") == ramp(4_444))
        let copies = try first.entries().filter { $0.value.content == ramp(2_222) }
        #expect(copies.count == 1)
    }

    @Test func `goes on where it was killed`() throws {
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "UploadPart", "from": 4},
                  "effect": {"stallUpload": {"at": 1000}}}]
                """
        )
        let tree = try workplace.makeDirectory("tree")
        try tree.write("big", ramp(12 << 20))
        let sync = ["sync", tree.path, workplace.remote, "--part-size", "1M"]
        let killed = try ResumeTests.interrupt(workplace, sync, after: 3 << 20, signal: SIGKILL)
        #expect(killed.status == 128 + SIGKILL)
        try workplace.clearFaults()
        let again = try workplace.start(sync + ["--json"]).finish()
        #expect(again.status == 0, "\(again.diagnostics)")
        #expect(again.items(action: "upload", state: "done") == ["big"])
        let other = try workplace.makeDirectory("other")
        #expect(try workplace.run("sync", other.path, workplace.remote).status == 0)
        #expect(other.content("big") == ramp(12 << 20))
    }

    @Test func `refuses an empty directory where there was something`() throws {
        let workplace = try Workplace()
        let (first, _) = try twins(workplace)
        for path in ["d", "own"] { try first.remove(path) }
        let refused = try workplace.run("sync", "--delete", first.path)
        #expect(refused.status == 3, "\(refused.diagnostics)")
        #expect(try workplace.run("ls", workplace.remote, "--json").events.count == 5)
    }
}
