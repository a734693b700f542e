import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Testing

/// A process that ends when the file or the object is there and before that is written down.
@Suite("A transfer that had finished before its process ended")
struct FoundTransferTests {
    private static let content = StoreFixture.ramp(1_000_000)
    private static let other = StoreFixture.ramp(1_000_000, 7)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// Runs the one transfer `a` of a manager that cannot write down how it ended.
    private func firstProcess(
        _ fixture: StoreFixture,
        _ job: TransferJob,
        holding operation: String,
        _ count: Int
    ) async throws {
        let manager = try await fixture.manager()
        try await manager.add("a", job: job)
        try await manager.start("a")
        try fixture.setFaults(
            #"[{"match": {"operation": "\#(operation)"}, "effect": {"hold": true}}]"#
        )
        let names = fixture.names(in: "transfers").filter { $0.hasSuffix(".transfer") }
        let record = fixture.path("transfers/" + (try #require(names.first)))
        try await fixture.running(manager) {
            await fixture.server.untilHeld(count)
            try FileManager.default.removeItem(atPath: record)
            try FileManager.default.createDirectory(
                atPath: record + "/full",
                withIntermediateDirectories: true
            )
        }
        #expect(await manager["a"]?.state == .finished)
        try FileManager.default.removeItem(atPath: record)
    }

    /// Runs it again in the next process and returns how it ended.
    private func nextProcess(
        _ fixture: StoreFixture,
        _ job: TransferJob
    ) async throws -> TransferState? {
        let manager = try await fixture.nextManager { _ in job }
        try await manager.add("a", job: job)
        try await manager.start("a")
        fixture.server.clearRequestLog()
        try await manager.runUntilIdle()
        return await manager["a"]?.state
    }

    private func job(_ fixture: StoreFixture, replaces: Bool) throws -> TransferJob {
        var options = DownloadOptions()
        options.ifExists = replaces ? .replace : .fail
        return .download(
            .object(try fixture.client(), key: "a"),
            to: fixture.path("a"),
            options: options
        )
    }

    @Test(arguments: [true, false]) func `is not fetched again`(replaces: Bool) async throws {
        try await fixture.client().put(Self.content, to: "a")
        let job = try job(fixture, replaces: replaces)
        try await firstProcess(fixture, job, holding: "GetObject", 1)
        #expect(fixture.content("a") == Self.content)
        #expect(try await nextProcess(fixture, job) == .finished)
        #expect(fixture.server.requestLog.map(\.operation) == ["HeadObject"])
        #expect(fixture.content("a") == Self.content)
        let records = fixture.names(in: "transfers").filter { $0.hasSuffix(".download") }
        #expect(records == [])
    }

    @Test(arguments: [true, false]) func `is fetched if the file is another one by now`(
        replaces: Bool
    ) async throws {
        try await fixture.client().put(Self.content, to: "a")
        let job = try job(fixture, replaces: replaces)
        try await firstProcess(fixture, job, holding: "GetObject", 1)
        try fixture.write("a", Self.other)
        #expect(try await nextProcess(fixture, job) == (replaces ? .finished : .failed))
        #expect(fixture.content("a") == (replaces ? Self.content : Self.other))
        #expect(fixture.bytesSent == (replaces ? 1_000_000 : 0))
    }

    @Test func `is fetched if the object is another one by now`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let job = try job(fixture, replaces: true)
        try await firstProcess(fixture, job, holding: "GetObject", 1)
        try await fixture.client().put(Self.other, to: "a")
        #expect(try await nextProcess(fixture, job) == .finished)
        #expect(fixture.content("a") == Self.other)
        #expect(fixture.partials == 0)
    }

    @Test func `is not sent again`() async throws {
        try fixture.write("file", Self.content)
        let job = try fixture.upload("file", to: "k")
        try await firstProcess(fixture, job, holding: "UploadPart", 4)
        #expect(try await nextProcess(fixture, job) == .finished)
        #expect(fixture.server.requestLog.map(\.operation) == ["ListParts", "HeadObject"])
        #expect(try await fixture.client().get("k", maxBytes: 1 << 21).value?.bytes == Self.content)
        let records = fixture.names(in: "transfers").filter { $0.hasSuffix(".upload") }
        #expect(records == [])
    }
}
