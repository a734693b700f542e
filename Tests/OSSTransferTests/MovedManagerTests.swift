import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Testing

/// The directory of an app is moved between two of its processes, with all that is in it.
@Suite("A manager whose base is moved")
struct MovedManagerTests {
    private static let content = StoreFixture.ramp(1_000_000)

    /// A manager of the app in `folder`, whose file is a download by credentials.
    private func manager(_ fixture: StoreFixture, _ folder: String) async throws -> TransferManager
    {
        let client = try fixture.client()
        let path = fixture.path(folder + "/film")
        while true {
            do throws(TransferError) {
                return try await TransferManager(
                    directory: fixture.path(folder + "/transfers"),
                    base: fixture.path(folder)
                ) { _ in .download(.object(client, key: "a"), to: path, options: .inPieces) }
            } catch {
                // A task that has ended may hold the manager a little longer.
                guard error.code == .locked else { throw error }
                await Task.yield()
            }
        }
    }

    /// Pauses in the midst of the download, and moves the directory.
    private func firstProcess(_ fixture: StoreFixture) async throws {
        try await fixture.client().put(Self.content, to: "a")
        try fixture.write("app-1/x", [])
        let manager = try await manager(fixture, "app-1")
        try await manager.add("a", kind: .download, path: fixture.path("app-1/film"))
        try await manager.start("a")
        try fixture.hold("GetObject", from: 8)
        try await fixture.running(manager) {
            await fixture.server.untilHeld(1)
            try await manager.pauseAll()
        }
        #expect(fixture.names(in: "app-1").count { $0.hasPrefix(".osssync-") } == 1)
    }

    private func move(_ fixture: StoreFixture) throws {
        try FileManager.default.moveItem(
            atPath: fixture.path("app-1"),
            toPath: fixture.path("app-2")
        )
    }

    @Test func `knows where its files are, and goes on`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        try await firstProcess(fixture)
        try move(fixture)
        let second = try await manager(fixture, "app-2")
        #expect(await second["a"]?.path == fixture.path("app-2/film"))
        await expectError(.alreadyExists) {
            try await second.add("b", kind: .download, path: fixture.path("app-2/film"))
        }
        fixture.server.clearRequestLog()
        try await second.start("a")
        try await second.runUntilIdle()
        #expect(await second["a"]?.state == .finished)
        #expect(fixture.content("app-2/film") == Self.content)
        #expect(fixture.bytesSent < 1_000_000)
    }

    @Test(arguments: [false, true])
    func `deletes what is unfinished where it is by then`(forgets: Bool) async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        try await firstProcess(fixture)
        try move(fixture)
        let second = try await manager(fixture, "app-2")
        if forgets { try await second.forget("a") } else { try await second.cancel("a") }
        #expect(fixture.names(in: "app-2") == ["transfers", "x"])
        #expect(fixture.names(in: "app-2/transfers") == ["manager.lock"])
    }
}
