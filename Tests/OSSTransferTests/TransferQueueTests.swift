import Foundation
import OSSBucket
import ObjectStorage
import StoreFixture
import Synchronization
import Testing

@testable import OSSTransfer

@Suite("A transfer manager of an app", .timeLimit(.minutes(5)))
struct TransferQueueTests {
    private static let content = StoreFixture.ramp(300_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `adds without asking, and keeps what the app says of a transfer`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let questions = Questions()
        func firstProcess() async throws {
            let manager = try await fixture.manager(questions: questions)
            try await manager.add("a", kind: .download, path: fixture.path("a"), context: "album 7")
            try await manager.add("b", kind: .download, path: fixture.path("b"))
        }
        try await firstProcess()
        #expect(questions.count(of: "a") == 0)
        let second = try await fixture.nextManager { name in
            questions.add(name)
            return name == "a"
                ? try await fixture.download(name) : try fixture.upload(name, to: name)
        }
        #expect(await second["a"]?.context == "album 7")
        try await second.startAll()
        try await second.runUntilIdle()
        #expect(fixture.content("a") == Self.content)
        #expect(questions.count(of: "a") == 1)
        // What the provider returns must be what was added.
        #expect(await second["b"]?.state == .failed)
        let long = String(repeating: "x", count: 70_000)
        await expectError(.configuration) {
            try await second.add("c", kind: .upload, path: "c", context: long)
        }
    }

    @Test func `resumes those that were paused for a reason, also in the next process`()
        async throws
    {
        for name in ["a", "b", "c"] { try await fixture.client().put(Self.content, to: name) }
        func firstProcess() async throws {
            let manager = try await fixture.manager()
            for name in ["a", "b", "c"] { try await manager.add(name) }
            try await manager.startAll()
            try await manager.pause("b")
            try await manager.pauseAll(reason: "background")
            #expect(await manager.transfers.map(\.state) == [.paused, .paused, .paused])
        }
        try await firstProcess()
        let second = try await fixture.nextManager { try await fixture.download($0) }
        #expect(await second.transfers.map(\.pauseReason) == ["background", nil, "background"])
        try await second.resumeAll(reason: "background")
        try await second.runUntilIdle()
        #expect(await second.transfers.map(\.state) == [.finished, .paused, .finished])
        try await second.resumeAll()
        try await second.runUntilIdle()
        #expect(await second.transfers.map(\.state) == [.finished, .finished, .finished])
        #expect(await second.transfers.allSatisfy { $0.pauseReason == nil })
    }

    @Test func `tries again at once when it is told of a network`() async throws {
        let urls = try await fixture.presigned(Self.content)
        var connection = ConnectionSettings()
        connection.retries = 0
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject"},
              "effect": {"close": {"when": "before", "how": "rst"}}}]
            """
        )
        var options = DownloadOptions.inPieces
        options.reconnects = ConnectionSettings.ReconnectPolicy(
            firstPause: .seconds(3_600),
            longestPause: .seconds(3_600),
            attempts: 3
        )
        let (chosen, settings) = (options, connection)
        let manager = try await TransferManager(directory: fixture.path("transfers")) { _ in
            .download(
                try .presigned(urls, connection: settings),
                to: fixture.path("file"),
                options: chosen
            )
        }
        try await manager.add("a", kind: .download, path: fixture.path("file"))
        try await manager.start("a")
        var events = manager.events.makeAsyncIterator()
        let run = Task { try await manager.runUntilIdle() }
        while let event = await events.next() {
            if case .notice(.waiting) = event.kind { break }
        }
        try fixture.setFaults("[]")
        await manager.networkChanged()
        try await run.value
        #expect(fixture.content("file") == Self.content)
    }

    @Test func `a provider that had no connection is asked again when there is a network`()
        async throws
    {
        let (client, path) = (try fixture.client(), fixture.path("file"))
        try await client.put(Self.content, to: "object")
        let isOnline = Atomic(false)
        let manager = try await fixture.nextManager { id in
            guard id != "gone" else { throw TransferError(code: .notFound, message: "no such job") }
            guard isOnline.load(ordering: .relaxed) else {
                let text = "the app's server was not reached"
                throw TransferError(code: .remoteUnreachable, message: text)
            }
            return .download(.object(client, key: "object"), to: path)
        }
        try await manager.add("a", kind: .download, path: path)
        try await manager.add("gone", kind: .download, path: fixture.path("other"))
        try await manager.startAll()
        try await manager.runUntilIdle()
        #expect(await manager["a"]?.state == .failed)
        isOnline.store(true, ordering: .relaxed)
        await manager.networkChanged()
        try await manager.runUntilIdle()
        #expect(await manager["a"]?.state == .finished)
        // Another try helps it no more than the first.
        #expect(await manager["gone"]?.state == .failed)
        #expect(fixture.content("file") == Self.content)
    }

    @Test func `so is that of one that failed in an earlier process`() async throws {
        for name in ["a", "b"] { try await fixture.client().put(Self.content, to: name) }
        func firstProcess() async throws {
            let manager = try await fixture.nextManager { id in
                throw TransferError(code: .remoteUnreachable, message: "no", isRetryable: id == "a")
            }
            for name in ["a", "b"] {
                try await manager.add(name, kind: .download, path: fixture.path(name))
            }
            try await manager.startAll()
            try await manager.runUntilIdle()
        }
        try await firstProcess()
        let second = try await fixture.nextManager { try await fixture.download($0) }
        #expect(await second.transfers.map(\.state) == [.failed, .failed])
        await second.networkChanged()
        try await second.runUntilIdle()
        #expect(await second.transfers.map(\.state) == [.finished, .failed])
    }

    /// A store has a thread and descriptors of its own.
    @Test func `a download that has stopped and is kept has no connections`() async throws {
        let before = (threads: Self.count("task"), descriptors: Self.count("fd"))
        let urls = try await fixture.presigned(Self.content)
        let source = try DownloadSource.presigned(urls)
        let stores = Stores()
        let kept = try (0..<100).map { number in
            try ResumableDownload(
                from: DownloadSource(
                    key: source.key,
                    subject: source.subject,
                    makeStore: { () throws(TransferError) in stores.noting(try source.makeStore()) }
                ),
                to: fixture.path("file\(number)")
            )
        }
        for download in kept { _ = try await download.run() }
        #expect(stores.made == 100)
        while stores.alive > 0 { await Task.yield() }
        #expect(kept.allSatisfy { $0.transfer.state == .finished })
        // A thread and three descriptors each would stay; other tests come and go meanwhile.
        while Self.count("task") >= before.threads + 100
            || Self.count("fd") >= before.descriptors + 300
        { await Task.yield() }
        withExtendedLifetime(kept) {}
    }

    /// What this process has of a kind, where the system lists it.
    private static func count(_ kind: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(kind)").count) ?? 0
    }

    /// Counts stores without keeping them.
    private final class Stores: Sendable {
        private struct Note: Sendable {
            weak let store: StorageClient?
        }

        private let notes = Mutex<[Note]>([])

        var made: Int { notes.withLock { $0.count } }
        var alive: Int { notes.withLock { $0.count { $0.store != nil } } }

        func noting(_ store: any ObjectReader) -> any ObjectReader {
            notes.withLock { $0.append(Note(store: store as? StorageClient)) }
            return store
        }
    }
}
