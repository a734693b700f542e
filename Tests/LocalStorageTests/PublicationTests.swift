import LocalStorage
import SyncModel
import Testing

@Suite("Publication")
struct PublicationTests {
    let temporary: TemporaryDirectory
    let mirror: MirrorDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        mirror = try temporary.mirror()
    }

    private func publish(_ group: Publication...) throws -> [PublicationOutcome] {
        try mirror.publish(group, durability: .synchronized)
    }

    @Test func `a new file appears with its content, time and permissions`() throws {
        let outcomes = try publish(
            try mirror.publication("hello", at: "a/b/c.txt", expecting: .absent)
        )
        let identity = try mirror.fileIdentity("a/b/c.txt")
        #expect(outcomes == [.published(identity, keptAs: nil)])
        #expect(identity.modified == Timestamp(seconds: 1_000_000_000, nanoseconds: 123_456_789))
        #expect(temporary.read("a/b/c.txt") == "hello")
        #expect(try temporary.permissions("a/b/c.txt") == 0o666 & ~0o022)
        #expect(try mirror.partialNames().isEmpty)
    }

    @Test func `an old version is replaced if it is what the plan saw`() throws {
        try temporary.write("f", "old")
        let seen = try mirror.fileIdentity("f")
        let outcomes = try publish(try mirror.publication("new", at: "f", expecting: .file(seen)))
        #expect(outcomes == [.published(try mirror.fileIdentity("f"), keptAs: nil)])
        #expect(try temporary.userTree() == ["f": "new"])
    }

    @Test func `a file that was edited meanwhile is left alone`() throws {
        try temporary.write("f", "old")
        let seen = try mirror.fileIdentity("f")
        try temporary.write("f", "edited")
        let publication = try mirror.publication("new", at: "f", expecting: .file(seen))
        #expect(try publish(publication) == [.failed(.targetChanged(try relative("f")))])
        #expect(try temporary.userTree() == ["f": "edited"])
        #expect(try mirror.partialNames() == [publication.partialName])
    }
}
