import Foundation
import Testing

@Suite("Transfers that are killed at random moments", .timeLimit(.minutes(30)))
struct KilledTransferTests {
    private static let size = 5_000_000
    private static let object = "oss://\(Workplace.bucket)/film.mov"

    /// `make soak` asks for 1,000.
    private static var kills: Int {
        ProcessInfo.processInfo.environment["OSSSYNC_KILLS"].flatMap(Int.init) ?? 40
    }

    @Test func `leave nothing behind once they have finished`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        try tree.write("film.mov", ramp(Self.size))
        let source = tree.path + "/film.mov"
        #expect(try workplace.start(["put", source, Self.object]).finish().status == 0)
        let shelf = try workplace.makeDirectory("shelf")
        let file = shelf.path + "/film.mov"
        let get = ["get", Self.object, file, "--part-size", "256K", "--force"]
        var (kills, finished) = (0, 0)
        while kills < Self.kills {
            let program = try workplace.start(get)
            // Until a moment between the start of the process and its end.
            _ = program.waitForLine(seconds: Double.random(in: 0.005..<0.12)) { _ in false }
            program.send(SIGKILL)
            if program.finish().status != 0 {
                kills += 1
                let names = try FileManager.default.contentsOfDirectory(atPath: shelf.path)
                // The other one is a file of one call, by which the umask is found.
                #expect(names.count { $0.hasPrefix(".osssync-") } <= 2, "\(names)")
                continue
            }
            finished += 1
            try check(workplace, shelf)
        }
        #expect(try workplace.start(get).finish().status == 0)
        try check(workplace, shelf)
        #expect(finished < 50 * Self.kills)
    }

    private func check(_ workplace: Workplace, _ shelf: Tree) throws {
        #expect(shelf.content("film.mov") == ramp(Self.size))
        let names = try FileManager.default.contentsOfDirectory(atPath: shelf.path)
        #expect(names == ["film.mov"])
        #expect(try workplace.records() == [])
    }
}
