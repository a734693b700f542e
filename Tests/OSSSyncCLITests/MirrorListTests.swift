import OSSSync
import Testing

@testable import OSSSyncCLI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The list of mirrors")
struct MirrorListTests {
    @Test func `each directory is in it once, whatever its name`() throws {
        let home = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: home) }
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        let list = try #require(MirrorList(homeDirectory: home.path()))
        #expect(list.entries().isEmpty)
        let odd = MirrorList.Entry(directory: "/srv/a\tb\nc %41 é", stateDirectory: "/var/x y")
        let plain = MirrorList.Entry(directory: "/srv/a", stateDirectory: nil)
        for entry in [odd, plain, odd, plain] { list.add(entry) }
        #expect(list.entries() == [odd, plain])
        list.remove(odd)
        #expect(list.entries() == [plain])
        list.remove(odd)
        let file = home.path() + "/.config/osssync/mirrors"
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "/srv/a\n")
        try Data("\n\t\nno path\n/b\tc\td\n/b\tc\n/srv/\u{FF}%4\n".utf8).write(
            to: URL(fileURLWithPath: file)
        )
        #expect(list.entries().map(\.directory) == ["/b", "/srv/\u{FF}%4"])
    }

    @Test func `without a home there is none`() {
        #expect(MirrorList(homeDirectory: nil)?.entries() == nil)
    }

    @Test(arguments: [
        (Int64(-5), "0 min ago"), (59, "0 min ago"), (3_599, "59 min ago"), (3_600, "1 h ago"),
        (172_799, "47 h ago"), (172_800, "2 days ago"),
    ])
    func `ages are in the unit that tells most`(seconds: Int64, text: String) {
        #expect(roughText(seconds) + " ago" == text)
    }
}
