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
}
