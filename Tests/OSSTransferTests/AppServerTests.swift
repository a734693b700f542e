import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Synchronization
import Testing

/// What the app's own server does to transfers when it is away: each closure by which the library
/// asks it follows one rule.
@Suite("The app's own server")
struct AppServerTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    /// Of a closure, how it fails while its server is away.
    enum Absence: String, CaseIterable, Sendable {
        case retryable, unavailable, offline, timedOut, unanswered

        var error: any Error {
            switch self {
            case .retryable: TransferError(code: .remoteUnreachable, message: "my server is away")
            case .unavailable: TransferError(code: .refused, message: "it is busy", status: 503)
            case .offline: URLError(.notConnectedToInternet)
            case .timedOut: URLError(.timedOut)
            // What Linux says where a server closes a connection without an answer.
            case .unanswered: URLError(.badServerResponse)
            }
        }
    }

    /// Fails twice, and then not any more.
    private final class Flaky: Sendable {
        let error: @Sendable () -> any Error
        private let asked = Mutex(0)

        init(_ error: @escaping @Sendable () -> any Error) { self.error = error }

        var count: Int { asked.withLock { $0 } }

        func answer<Value>(_ value: Value) throws -> Value {
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            if number <= 2 { throw error() }
            return value
        }
    }

    /// An error of the app's own that says something else than a lost connection.
    private static let refusal = TransferError(code: .forbidden, message: "the account is closed")

    private static let content = StoreFixture.ramp(3_000_000)

    private func expiring() throws {
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 3},
              "effect": {"fail": {"status": 403, "code": "AccessDenied",
                                  "message": "Request has expired."}}}]
            """
        )
    }

    @Test(arguments: Absence.allCases)
    func `that renews URLs is asked again when it was away`(_ absence: Absence) async throws {
        let urls = try await fixture.presigned(Self.content)
        try expiring()
        let flaky = Flaky { absence.error }
        let notices = Notices()
        let download = try fixture.resumable(
            .presigned(urls) { try flaky.answer(urls) },
            notices: notices
        )
        _ = try await download.run()
        #expect(flaky.count == 3)
        #expect(fixture.content("file") == Self.content)
        #expect(
            notices.all.contains { notice in
                guard case .waiting(_, let message) = notice else { return false }
                return message.contains("the app's source of signed addresses")
            }
        )
    }

    @Test func `that refuses URLs ends the download with its own code and words`() async throws {
        let urls = try await fixture.presigned(Self.content)
        try expiring()
        let download = try fixture.resumable(.presigned(urls) { throw Self.refusal })
        let error = await expectError(.forbidden) { try await download.run() }
        #expect(error?.message.hasSuffix("the account is closed") == true)
        #expect(error?.isRetryable == false)
        #expect(error?.checkpoint != nil)
    }

    @Test(arguments: Absence.allCases)
    func `that hands out keys is asked again when it was away`(_ absence: Absence) async throws {
        let key = AccessKey(id: "id", secret: "secret")
        let flaky = Flaky { absence.error }
        let client = try fixture.client {
            $0.credentials = .provider { try flaky.answer(key) }
        }
        try await client.put([1, 2], to: "key")
        #expect(flaky.count == 3)
    }

    @Test func `that refuses keys ends the request with its own code and words`() async throws {
        let client = try fixture.client { $0.credentials = .provider { throw Self.refusal } }
        let error = await expectError(.forbidden) { try await client.put([1], to: "key") }
        #expect(error?.message.hasSuffix("the account is closed") == true)
        let other = try fixture.client {
            $0.credentials = .provider { throw URLError(.userAuthenticationRequired) }
        }
        await expectError(.credentials) { try await other.put([1], to: "key") }
        #expect(fixture.server.requestLog.isEmpty)
    }

    @Test(arguments: Absence.allCases)
    func `that signs requests is asked again when it was away`(_ absence: Absence) async throws {
        try fixture.write("file", Self.content)
        let signer = try SigningServer(fixture)
        let flaky = Flaky { absence.error }
        signer.setAnswer { _, signed in try flaky.answer(signed) }
        let upload = try fixture.signedUpload(signer, UploadOptions())
        #expect(try await upload.run().object?.size == 3_000_000)
        #expect(flaky.count >= 3)
    }

    @Test(arguments: Absence.allCases)
    func `that knows what is transferred is asked again when it was away`(
        _ absence: Absence
    ) async throws {
        try await fixture.client().put(Self.content, to: "a")
        let flaky = Flaky { absence.error }
        let policy = ConnectionSettings.ReconnectPolicy(
            firstPause: .milliseconds(1),
            longestPause: .milliseconds(1),
            attempts: 2
        )
        let manager = try await fixture.nextManager(reconnects: policy) { [fixture] name in
            try flaky.answer(try await fixture.download(name))
        }
        try await manager.add("a", kind: .download, path: fixture.path("a"))
        try await manager.start("a")
        try await manager.runUntilIdle()
        #expect(await manager["a"]?.state == .finished)
        #expect(flaky.count == 3)
    }

    @Test func `waits for a network, which is told`() async throws {
        try await fixture.client().put(Self.content, to: "a")
        let isOnline = Mutex(false)
        let hour = ConnectionSettings.ReconnectPolicy(
            firstPause: .seconds(3_600),
            longestPause: .seconds(3_600),
            attempts: 1
        )
        let manager = try await fixture.nextManager(reconnects: hour) { [fixture] name in
            guard isOnline.withLock(\.self) else { throw URLError(.notConnectedToInternet) }
            return try await fixture.download(name)
        }
        try await manager.add("a", kind: .download, path: fixture.path("a"))
        let events = manager.events
        try await manager.start("a")
        try await fixture.running(manager) {
            for await event in events {
                guard case .notice(.waiting(let pause, let message)) = event.kind else { continue }
                #expect(pause == .seconds(3_600))
                #expect(message.contains("NSURLErrorDomain -1009"))
                break
            }
            #expect(await manager["a"]?.state == .running)
            isOnline.withLock { $0 = true }
            await manager.networkChanged()
        }
        #expect(await manager["a"]?.state == .finished)
    }

    @Test func `may take for ever, and a pause waits for it no longer`() async throws {
        let urls = try await fixture.presigned(Self.content)
        try expiring()
        let (asking, asks) = AsyncStream.makeStream(of: Void.self)
        let (answering, answers) = AsyncStream.makeStream(of: Void.self)
        let download = try fixture.resumable(
            .presigned(urls) {
                asks.yield()
                // Hangs, whatever is cancelled.
                await withCheckedContinuation { continuation in
                    Task {
                        for await _ in answering { break }
                        continuation.resume()
                    }
                }
                return urls
            }
        )
        download.start()
        for await _ in asking { break }
        download.transfer.pause()
        guard case .paused(let checkpoint) = try await download.transfer.value else {
            Issue.record("it is not paused")
            return
        }
        #expect(checkpoint != nil)
        answers.finish()
    }

    @Test func `starts all transfers in the order of their priorities`() async throws {
        let names = (0..<6).map { "f\($0)" }
        for name in names { try await fixture.client().put([7], to: name) }
        let questions = Questions()
        let manager = try await fixture.manager(limit: 1, questions: questions)
        for (priority, name) in names.enumerated() {
            try await manager.add(
                name,
                kind: .download,
                path: fixture.path(name),
                priority: priority
            )
        }
        try await fixture.client().put([7], to: "first")
        try await manager.add("first", kind: .download, path: fixture.path("first"))
        let events = manager.events
        let run = Task { try await manager.run() }
        defer { run.cancel() }
        try await manager.start("first")
        // The manager is seen to run: its place is free for the first that is written down.
        for await event in events {
            if case .finished = event.kind { break }
        }
        try await manager.startAll()
        var started: [String] = []
        for await event in events {
            if case .started = event.kind { started.append(event.id) }
            if started.count == names.count { break }
        }
        #expect(started == names.reversed())
    }
}
