import Foundation
import OSSSync
import StorageServer
import StoreFixture
import Synchronization
import Testing

@Suite("A mirror of what an app spells")
struct ConfiguredMirrorTests {
    private func mirror(
        _ fixture: StoreFixture,
        _ directory: String,
        state: String? = nil
    ) throws -> DirectoryMirror {
        try DirectoryMirror(
            directory: fixture.path(directory),
            remote: BucketLocation(dialect: .oss, bucket: StoreFixture.bucket, prefix: "photos"),
            configuration: fixture.configuration,
            deviceName: "kitchen",
            stateDirectory: state.map { fixture.path($0) }
        )
    }

    @Test func `pushes, pulls, syncs and tells, without a link`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        try fixture.write("a/one.jpg", StoreFixture.ramp(1_000))
        try fixture.write("a/two.jpg", StoreFixture.ramp(300_000, 1))
        let first = try mirror(fixture, "a")
        let planned = try await first.status(options: .standard)
        #expect(planned.push.transfers == 2)
        #expect(planned.sync.bytes == 301_000)
        let items = Mutex<[ItemEvent]>([])
        let push = try await first.push(.standard) { event in
            if case .item(let item) = event { items.withLock { $0.append(item) } }
        }
        #expect(push.isInStep)
        let done = items.withLock { $0 }.filter { $0.state == .done }
        #expect(Set(done.map(\.key)) == ["one.jpg", "two.jpg"])
        #expect(!first.isLinked)
        #expect(!fixture.exists("a/.osssync/config"))

        let second = try mirror(fixture, "b", state: "state")
        #expect(try await second.pull(.standard).transferred == 2)
        #expect(fixture.content("b/two.jpg") == StoreFixture.ramp(300_000, 1))
        try fixture.write("a/one.jpg", StoreFixture.ramp(1_001, 2))
        try fixture.write("b/one.jpg", StoreFixture.ramp(1_002, 3))
        #expect(try await first.sync(.standard).transferred == 1)
        #expect(try await second.sync(.standard).conflicts == 1)
        #expect(fixture.content("b/one.jpg") == StoreFixture.ramp(1_001, 2))
        let kept = fixture.names(in: "b").filter { $0.contains(".conflict-") }
        #expect(kept.count == 1)
        #expect(kept.first?.hasSuffix("-kitchen.jpg") == true)
        #expect(try await second.cancelTransfers(path: nil).downloadsDropped == 0)
    }

    @Test func `has no link to write`() throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let error = #expect(throws: TransferError.self) { try mirror(fixture, "a").writeLink() }
        #expect(error?.code == .configuration)
    }

    @Test func `ends when its task is cancelled, and goes on later`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        try fixture.write("a/film", StoreFixture.ramp(24 << 20))
        let mirror = try mirror(fixture, "a")
        try fixture.setFaults(
            """
            [{"match": {"operation": "UploadPart", "from": 2},
              "effect": {"stallUpload": {"at": 1000}}}]
            """
        )
        let (moved, continuation) = AsyncStream<Void>.makeStream()
        let code = await withTaskGroup(of: TransferError.Code?.self) { group in
            group.addTask {
                do throws(TransferError) {
                    _ = try await mirror.push(.standard) { event in
                        guard case .progress = event else { return }
                        // What is sent counts, what the store has is what is spared.
                        let isStored = fixture.server.requestLog.contains { request in
                            request.operation == "UploadPart" && request.status == 200
                        }
                        if isStored { continuation.finish() }
                    }
                    return nil
                } catch {
                    return error.code
                }
            }
            for await _ in moved {}
            group.cancelAll()
            return await group.next() ?? nil
        }
        #expect(code == .cancelled)
        try fixture.setFaults("[]")
        #expect(try await mirror.status(options: .standard).interrupted.count == 1)
        let rest = try await mirror.push(.standard)
        #expect(rest.bytesResumed >= 8 << 20)
        #expect(rest.bytes + rest.bytesResumed == 24 << 20)
    }
}
