import Foundation
import OSSBucket
import OSSTransfer
import StoreFixture
import Synchronization

/// Rounds of a race of a manager's calls, a tenth of those of one transfer's; `make soak` asks for
/// 1,000.
let raceRounds = ProcessInfo.processInfo.environment["OSSSYNC_RACES"].flatMap(Int.init) ?? 40

/// Notes the events of a manager from now on; those of one kind that follow each other are one.
final class Listener: Sendable {
    private let events: Mutex<[String: [String]]> = Mutex([:])

    init(_ manager: TransferManager) {
        let updates = manager.events
        Task { [weak self] in for await event in updates { self?.note(event) } }
    }

    private func note(_ event: TransferEvent) {
        let name: String
        switch event.kind {
        case .started, .notice: return
        case .progress: name = "progress"
        case .paused: name = "paused"
        case .cancelled: name = "cancelled"
        case .finished: name = "finished"
        case .failed(let error): name = error.code == .notFound ? "failed notFound" : "failed"
        @unknown default: return
        }
        events.withLock { events in
            if events[event.id]?.last != name { events[event.id, default: []].append(name) }
        }
    }

    /// What was told of each transfer.
    var told: [String: [String]] { events.withLock { $0 } }

    /// Returns when this was told last.
    func untilTold(_ id: String, _ name: String) async {
        while told[id]?.last != name { await Task.yield() }
    }
}

/// Notes for what a manager asked its provider.
final class Questions: Sendable {
    private let names = Mutex<[String]>([])

    func add(_ name: String) { names.withLock { $0.append(name) } }

    var all: [String] { names.withLock { $0 } }

    func count(of name: String) -> Int { names.withLock { $0.count { $0 == name } } }
}

extension StoreFixture {
    /// A manager whose transfers are downloads by signed URLs: each ID is the object's key
    /// and the file's name.
    func manager(
        limit: Int = 3,
        questions: Questions = Questions()
    ) async throws -> TransferManager {
        try await TransferManager(directory: path("transfers"), limit: limit) { name in
            questions.add(name)
            return try await self.download(name)
        }
    }

    /// The manager of the next process, once that of the last one is gone.
    func nextManager(
        limit: Int = 3,
        reconnects: ConnectionSettings.ReconnectPolicy? = nil,
        provider: @escaping TransferManager.Provider
    ) async throws -> TransferManager {
        while true {
            do throws(TransferError) {
                return try await TransferManager(
                    directory: path("transfers"),
                    limit: limit,
                    reconnects: reconnects,
                    provider: provider
                )
            } catch {
                // A task that has ended may hold the manager a little longer.
                guard error.code == .locked else { throw error }
                await Task.yield()
            }
        }
    }

    func download(_ name: String) async throws -> TransferJob {
        let client = try client()
        let urls = PresignedURLs(
            get: try await client.presignedURL(.get, key: name, lifetime: .seconds(600)),
            head: try await client.presignedURL(.head, key: name, lifetime: .seconds(600))
        )
        return try .download(.presigned(urls), to: path(name), options: .inPieces)
    }

    func upload(_ name: String, to key: String) throws -> TransferJob {
        .upload(of: path(name), to: try client(), key: key, options: .inParts())
    }

    /// Does `body` while the manager runs, lets go of what is held, and returns at the manager's
    /// end.
    func running(
        _ manager: TransferManager,
        _ body: () async throws -> Void
    ) async throws {
        async let end: Void = lettingGo { try await manager.runUntilIdle() }
        try await body()
        try setFaults("[]")
        try await end
    }

    /// Partial files beside those that they become.
    var partials: Int { names(in: ".").count { $0.hasPrefix(".osssync-") } }

    /// True if a file of a directory holds what gives a right.
    func hasSecrets(in directory: String) -> Bool {
        names(in: directory).contains { name in
            let text = String(decoding: content(directory + "/" + name) ?? [], as: UTF8.self)
            return ["ignature", "redential", "secret", "Expires"].contains { text.contains($0) }
        }
    }
}
