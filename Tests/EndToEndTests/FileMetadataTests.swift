import Foundation
import Testing

@Suite("Modes and times", .serialized)
struct FileMetadataTests {
    private static let modes = ["key": 0o600, "run.sh": 0o755, "read": 0o444, "open": 0o666]
    private static let time: Int64 = 1_000_000_000_123_456_789

    private func mode(_ tree: Tree, _ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: tree.path + "/" + name)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    /// A pushed directory with files of all these modes.
    private func pushed(_ options: String...) throws -> (Workplace, Tree) {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("source")
        for (name, mode) in Self.modes {
            try tree.write(name, ramp(name == "run.sh" ? 400_000 : 100), modified: Self.time)
            try FileManager.default.setAttributes(
                [.posixPermissions: mode],
                ofItemAtPath: tree.path + "/" + name
            )
        }
        let push = try workplace.start(["push", tree.path, workplace.remote] + options).finish()
        try #require(push.status == 0, "\(push.diagnostics)")
        return (workplace, tree)
    }

    @Test func `come back, but no file is opened to more than the umask allows`() throws {
        let (workplace, source) = try pushed()
        let target = try workplace.makeDirectory("target")
        let pull = try workplace.shell("umask 022; osssync pull target \(workplace.remote)")
        #expect(pull.status == 0, "\(pull.diagnostics)")
        for (name, mode) in Self.modes {
            #expect(try self.mode(target, name) == mode & 0o755, "\(name)")
        }
        #expect(try target.entries() == source.entries())
        let open = try workplace.makeDirectory("open")
        let exact = try workplace.shell("umask 0; osssync pull open \(workplace.remote)")
        #expect(exact.status == 0, "\(exact.diagnostics)")
        for (name, mode) in Self.modes { #expect(try self.mode(open, name) == mode, "\(name)") }
        // A mode alone is no change, and a file that is replaced keeps its own.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700],
            ofItemAtPath: target.path + "/key"
        )
        let again = try workplace.run("push", target.path, "--json")
        #expect(again.count("transferred") == 0)
        try source.write("key", ramp(200))
        #expect(try workplace.run("push", source.path).status == 0)
        #expect(try workplace.run("pull", target.path).status == 0)
        #expect(target.content("key") == ramp(200))
        #expect(try mode(target, "key") == 0o700)
        let file = target.path + "/one"
        #expect(try workplace.run("get", workplace.remote + "/key", file).status == 0)
        #expect(try mode(target, "one") == 0o600)
    }

    @Test func `are not kept without metadata, on either side`() throws {
        for side in ["push", "pull"] {
            let (workplace, source) =
                side == "push" ? try pushed("--no-metadata") : try pushed()
            let target = try workplace.makeDirectory("target")
            let option = side == "pull" ? "--no-metadata" : ""
            let pull = try workplace.shell(
                "umask 022; osssync pull target \(workplace.remote) \(option)"
            )
            #expect(pull.status == 0, "\(pull.diagnostics)")
            for name in Self.modes.keys {
                #expect(try mode(target, name) == 0o644, "\(name)")
                #expect(target.content(name) == source.content(name))
            }
            #expect(try target.entries().values.allSatisfy { $0.modified ?? 0 > Self.time })
        }
    }
}
