import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import SyncModel
import Synchronization
import Testing

@Suite("A transfer manager in trouble")
struct TransferManagerFaultTests {
    private static let content = StoreFixture.ramp(1_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `cancelled transfers leave nothing, also of an earlier process`() async throws {
        let client = try fixture.client()
        try await client.put(Self.content, to: "a")
        try fixture.write("file", Self.content)
        try await firstProcess(fixture)
        #expect(try await client.incompleteUploads(prefix: "").count == 1)
        #expect(fixture.partials == 1)
        let refusing = Atomic(true)
        let second = try await fixture.nextManager { name in
            if refusing.load(ordering: .relaxed) { throw Refusal() }
            return name == "up"
                ? try fixture.upload("file", to: "k") : try await fixture.download(name)
        }
        await expectError(.credentials) { try await second.cancel("up") }
        #expect(await second["up"]?.state == .paused)
        refusing.store(false, ordering: .relaxed)
        for name in ["a", "up"] { try await second.cancel(name) }
        #expect(await second.transfers == [])
        #expect(try await client.incompleteUploads(prefix: "") == [])
        #expect(fixture.partials == 0)
        #expect(fixture.names(in: "transfers") == ["manager.lock"])
    }

    private struct Refusal: Error {}

    /// Pauses a download and an upload in their midst.
    private func firstProcess(_ fixture: StoreFixture) async throws {
        let manager = try await fixture.manager()
        try await manager.add("a")
        try await manager.add("up", job: fixture.upload("file", to: "k"))
        for name in ["a", "up"] { try await manager.start(name) }
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "from": 8}, "effect": {"hold": true}},
             {"match": {"operation": "UploadPart", "from": 3},
              "effect": {"hold": true, "close": {"when": "before", "how": "rst"}}}]
            """
        )
        try await fixture.running(manager) {
            // One of the download, three of the upload's five parts.
            await fixture.server.untilHeld(4)
            try await manager.pauseAll()
        }
    }

    @Test func `what an app's own closure gives up has failed, and is asked for again`()
        async throws
    {
        try await fixture.client().put(Self.content, to: "a")
        func firstProcess() async throws { try await fixture.manager().add("a") }
        try await firstProcess()
        let isGivingUp = Atomic(true)
        let manager = try await fixture.nextManager { name in
            if isGivingUp.load(ordering: .relaxed) {
                throw TransferError(code: .cancelled, message: "the login was left")
            }
            return try await fixture.download(name)
        }
        try await manager.start("a")
        try await manager.runUntilIdle()
        #expect(await manager["a"]?.state == .failed)
        isGivingUp.store(false, ordering: .relaxed)
        try await manager.start("a")
        try await manager.runUntilIdle()
        #expect(await manager["a"]?.state == .finished)
    }

    @Test func `a transfer is cancelled while it runs`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let manager = try await fixture.manager()
        try await manager.add("a")
        try await manager.start("a")
        try fixture.hold("GetObject", from: 8)
        try await fixture.running(manager) {
            await fixture.server.untilHeld(1)
            try await manager.cancel("a")
        }
        #expect(await manager.transfers == [])
        #expect(fixture.partials == 0)
        #expect(fixture.names(in: "transfers") == ["manager.lock"])
    }

    @Test func `a transfer that nobody knows by now is paused before it begins`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        try await start(fixture)
        let (asking, asks) = AsyncStream.makeStream(of: Void.self)
        let (answering, answers) = AsyncStream.makeStream(of: Void.self)
        let second = try await fixture.nextManager { name in
            asks.yield()
            // Hangs, whatever is cancelled.
            await withCheckedContinuation { continuation in
                starting {
                    for await _ in answering { break }
                    continuation.resume()
                }
            }
            return try await fixture.download(name)
        }
        fixture.server.clearRequestLog()
        try await fixture.running(second) {
            for await _ in asking { break }
            // Nobody answers before the pause has ended.
            try await second.pauseAll()
        }
        answers.finish()
        #expect(await second["a"]?.state == .paused)
        #expect(fixture.server.requestLog.isEmpty)
    }

    @Test func `a provider that never answers fails the attempt at its limit`() async throws {
        let (answering, answers) = AsyncStream.makeStream(of: Void.self)
        let job = try fixture.upload("file", to: "k")
        let manager = try await TransferManager(
            directory: fixture.path("transfers"),
            providerLimit: .milliseconds(20)
        ) { _ in
            for await _ in answering { break }
            return job
        }
        let error = await #expect(throws: TransferError.self) { try await manager.add("a") }
        #expect(error?.code == .remoteUnreachable && error?.isRetryable == true)
        #expect(error?.message.contains("within 0.02 seconds") == true)
        answers.finish()
    }

    @Test func `a transfer whose provider was too slow starts again with the network`()
        async throws
    {
        try await fixture.client().put(Self.content, to: "a")
        let asked = Mutex(0)
        let (answering, answers) = AsyncStream.makeStream(of: Void.self)
        let manager = try await TransferManager(
            directory: fixture.path("transfers"),
            providerLimit: .milliseconds(20),
            reconnects: nil
        ) { name in
            let isFirst = asked.withLock { count in
                count += 1
                return count == 1
            }
            // Ends when the call is cancelled.
            if isFirst { for await _ in answering { break } }
            return try await fixture.download(name)
        }
        try await manager.add("a", kind: .download, path: fixture.path("a"))
        try await manager.start("a")
        try await manager.runUntilIdle()
        #expect(await manager["a"]?.state == .failed)
        // Where the machine is busy, an answer may take longer than the limit, too.
        for _ in 0..<100 where await manager["a"]?.state != .finished {
            await manager.networkChanged()
            try await manager.runUntilIdle()
        }
        #expect(await manager["a"]?.state == .finished)
        #expect(fixture.content("a") == Self.content)
        answers.finish()
    }

    /// As of a task of the app's own that was cancelled when the user signed out.
    @Test func `a provider that says that it was cancelled is asked once`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let asked = Mutex(0)
        let manager = try await TransferManager(directory: fixture.path("transfers")) { _ in
            asked.withLock { $0 += 1 }
            throw CancellationError()
        }
        try await manager.add("a", kind: .download, path: fixture.path("a"))
        try await manager.start("a")
        try await manager.runUntilIdle()
        #expect(await manager["a"]?.state == .failed)
        #expect(asked.withLock(\.self) == 1)
    }

    @Test func `one that has no provider any more can be forgotten`() async throws {
        let client = try fixture.client()
        try await client.put(Self.content, to: "a")
        try fixture.write("file", Self.content)
        try await firstProcess(fixture)
        let second = try await fixture.nextManager { _ in throw Refusal() }
        #expect(fixture.partials == 1)
        // What is only here needs no provider to be deleted.
        try await second.cancel("a")
        #expect(fixture.partials == 0)
        try await second.forget("up")
        #expect(await second.transfers == [])
        #expect(fixture.names(in: "transfers") == ["manager.lock"])
        // Its parts are for the bucket's own rules.
        #expect(try await client.incompleteUploads(prefix: "").count == 1)
    }

    @Test func `a running one can be forgotten`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let manager = try await fixture.manager()
        try await manager.add("a")
        try await manager.start("a")
        try fixture.hold("GetObject", from: 8)
        try await fixture.running(manager) {
            await fixture.server.untilHeld(1)
            try await manager.forget("a")
        }
        #expect(await manager.transfers == [])
        #expect(fixture.partials == 0)
        #expect(fixture.names(in: "transfers") == ["manager.lock"])
    }

    @Test func `what an earlier process was asked to cancel is cancelled by the next`()
        async throws
    {
        let client = try fixture.client()
        try fixture.write("file", Self.content)
        try await client.put(Self.content, to: "a")
        try await firstProcess(fixture)
        // As a process leaves it that is killed while it cancels.
        for name in fixture.names(in: "transfers") where name.hasSuffix(".transfer") {
            let text = String(
                decoding: try #require(fixture.content("transfers/" + name)),
                as: UTF8.self
            )
            #expect(text.contains(#""state":"paused""#))
            var lines = text.split(separator: "\n").map(String.init)
            lines[1] = lines[1].replacing(#""state":"paused""#, with: #""state":"cancelled""#)
            let changed = lines[0] + "\n" + lines[1] + "\n"
            let check = "check \(CRC64(of: Array(changed.utf8)).value)\n"
            try fixture.write("transfers/" + name, Array((changed + check).utf8))
        }
        let second = try await fixture.nextManager { name in
            try fixture.upload("file", to: name == "up" ? "k" : "other")
        }
        try await second.runUntilIdle()
        #expect(await second.transfers == [])
        #expect(fixture.partials == 0)
        #expect(fixture.names(in: "transfers") == ["manager.lock"])
        #expect(try await client.incompleteUploads(prefix: "") == [])
    }

    @Test func `a start that cannot be written down has not started`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let manager = try await fixture.manager()
        try await manager.add("a")
        let folder = fixture.path("transfers")
        try FileManager.default.removeItem(atPath: folder)
        await expectError(.localState) { try await manager.start("a") }
        try await manager.runUntilIdle()
        #expect(await manager["a"]?.state == .ready)
        #expect(!fixture.exists("a"))
    }

    private func start(_ fixture: StoreFixture) async throws {
        let manager = try await fixture.manager()
        try await manager.add("a")
        try await manager.start("a")
    }

    @Test func `a run that is cancelled lets its transfers wait for the next`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let manager = try await fixture.manager()
        try await manager.add("a")
        try await manager.start("a")
        try fixture.hold("GetObject", from: 8)
        let run = Task { try await manager.run() }
        await fixture.server.untilHeld(1)
        await expectError(.locked) { try await manager.runUntilIdle() }
        run.cancel()
        _ = await run.result
        try fixture.setFaults("[]")
        #expect(await manager["a"]?.state == .waiting)
        try await manager.runUntilIdle()
        #expect(fixture.content("a") == Self.content)
    }

    @Test func `one manager has a directory, and damaged records are left out`() async throws {
        let questions = Questions()
        var manager: TransferManager? = try await fixture.manager(questions: questions)
        await expectError(.locked) { try await fixture.manager() }
        for name in ["a", "b"] { try await manager?.add(name) }
        await expectError(.alreadyExists) { try await manager?.add("a") }
        // The app's server was not asked once more.
        #expect(questions.all == ["a", "b"])
        await expectError(.notFound) { try await manager?.start("c") }
        await expectError(.notFound) { try await manager?.forget("c") }
        await expectError(.configuration) { try await manager?.add("") }
        manager = nil
        var next: TransferManager? = try await fixture.nextManager {
            try await fixture.download($0)
        }
        #expect(await next?.transfers.count == 2)
        next = nil
        let records = fixture.names(in: "transfers").filter { $0.hasSuffix(".transfer") }
        #expect(records.count == 2)
        try fixture.write("transfers/" + records[0], [UInt8]("{\"number\":1".utf8))
        let second = try await fixture.nextManager { try await fixture.download($0) }
        #expect(await second.transfers.count == 1)
    }
}
