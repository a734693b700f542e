import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Synchronization
import Testing

/// True if the tests run over libcurl: URLSession takes neither a bandwidth nor authorities.
#if SystemLibraries
let usesLibcurl = true
#else
let usesLibcurl = false
#endif

/// Collects what a transfer says.
final class Notices: Sendable {
    private let notices = Mutex<[TransferNotice]>([])

    @Sendable func add(_ notice: TransferNotice) { notices.withLock { $0.append(notice) } }

    var all: [TransferNotice] { notices.withLock { $0 } }

    var warnings: [String] {
        all.compactMap { notice in
            if case .warning(let message) = notice { message } else { nil }
        }
    }
}

extension ResumableUpload.Outcome {
    var object: UploadedObject? {
        if case .finished(let object) = self { object } else { nil }
    }
}

extension ResumableDownload.Outcome {
    var file: DownloadedFile? {
        if case .finished(let file) = self { file } else { nil }
    }
}

extension ResumableDownload {
    /// Deletes what is unfinished.
    func discard() async throws {
        transfer.cancel()
        _ = try await transfer.value
    }
}

extension ResumableUpload {
    /// Deletes what is unfinished.
    func discard() async throws {
        transfer.cancel()
        _ = try await transfer.value
    }
}

/// Expects that `body` throws an error of this code, and returns it.
@discardableResult
func expectError<Value>(
    _ code: TransferError.Code,
    at place: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async -> TransferError? {
    let error = await #expect(throws: TransferError.self, sourceLocation: place) {
        _ = try await body()
    }
    #expect(error?.code == code, sourceLocation: place)
    return error
}

extension StoreFixture {
    /// Holds the requests of an operation at the server from its `number`-th on.
    func hold(_ operation: String, from number: Int = 1) throws {
        try setFaults(
            """
            [{"match": {"operation": "\(operation)", "from": \(number)}, "effect": {"hold": true}}]
            """
        )
    }

    /// A download to the file `name`.
    func resumable(
        _ source: DownloadSource,
        to name: String = "file",
        checkpoint: Checkpoint? = nil,
        _ options: DownloadOptions = .inPieces,
        notices: Notices = Notices()
    ) throws(TransferError) -> ResumableDownload {
        try ResumableDownload(
            from: source,
            to: path(name),
            checkpoint: checkpoint,
            options: options,
            onNotice: notices.add
        )
    }

    /// URLs of an object that has this content.
    func presigned(_ content: [UInt8], _ key: String = "key") async throws -> PresignedURLs {
        let client = try client()
        try await client.put(content, to: key)
        return PresignedURLs(
            get: try await client.presignedURL(.get, key: key, lifetime: .seconds(600)),
            head: try await client.presignedURL(.head, key: key, lifetime: .seconds(600))
        )
    }

    /// Lets go of what is held when `body` has ended, so that nobody waits for what can't come.
    func lettingGo<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        defer { server.setFaults(FaultScript(rules: [])) }
        return try await body()
    }

    /// Runs a download until its request `number` for content, counted from 1, is held at the
    /// server, does `body`, lets it go on and returns how it ended.
    func holding(
        _ download: ResumableDownload,
        at number: Int = 20,
        _ body: () async throws -> Void
    ) async throws -> ResumableDownload.Outcome {
        try hold("GetObject", from: number)
        async let outcome = lettingGo { try await download.run() }
        await server.untilHeld(1)
        try await body()
        try setFaults("[]")
        return try await outcome
    }

    /// Runs until some of the content is there, pauses, and returns the checkpoint; nil if it
    /// finished before.
    func pause(_ download: ResumableDownload) async throws -> Checkpoint? {
        let outcome = try await holding(download) { download.transfer.pause() }
        guard case .paused(let checkpoint) = outcome else { return nil }
        return checkpoint
    }

    /// Bytes of content that were asked for and sent.
    var bytesSent: Int64 {
        server.requestLog.filter { $0.operation == "GetObject" }.reduce(0) { $0 + $1.bytesSent }
    }

    /// A download that was paused and whose partial file was changed by `change` since.
    func damaged(
        _ content: [UInt8],
        _ change: (URL) throws -> Void
    ) async throws -> (Notices, ResumableDownload) {
        let urls = try await presigned(content)
        let notices = Notices()
        let download = try resumable(.presigned(urls), notices: notices)
        _ = try await pause(download)
        for name in names(in: ".") where name.hasPrefix(".osssync-") {
            try change(folder.appendingPathComponent(name))
        }
        return (notices, download)
    }
}

// MARK: - Uploads

extension StoreFixture {
    /// An upload of the file `file` to the object `k`.
    func resumable(
        _ options: UploadOptions,
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws -> ResumableUpload {
        try ResumableUpload(
            of: path("file"),
            to: client(),
            key: "k",
            options: options,
            onNotice: onNotice
        )
    }

    /// Runs an upload of four streams until five of its parts are stored, stops it with `stop`
    /// while four more are at the server, which never stores these, and returns how it ended.
    func interrupt(
        _ upload: ResumableUpload,
        with stop: (ResumableUpload) async throws -> Void
    ) async throws -> ResumableUpload.Outcome {
        try setFaults(
            """
            [{"match": {"operation": "UploadPart", "from": 6},
              "effect": {"hold": true, "close": {"when": "before", "how": "rst"}}}]
            """
        )
        async let outcome = lettingGo { try await upload.run() }
        await server.untilHeld(4)
        try await stop(upload)
        _ = try await upload.transfer.value
        try setFaults("[]")
        return try await outcome
    }

    /// The numbers of the parts that were stored, in order; one that was stored twice is there
    /// twice.
    var storedParts: [Int] {
        server.requestLog.filter { $0.operation == "UploadPart" && $0.status == 200 }
            .compactMap(\.partNumber).sorted()
    }
}

extension UploadOptions {
    /// Small parts, and a record in this folder, if one is given.
    static func inParts(_ records: String? = nil) -> UploadOptions {
        var options = UploadOptions()
        options.partSize = 200_000
        options.recordDirectory = records
        return options
    }
}

extension DownloadOptions {
    /// Many requests also of a small object, so that there is something in its midst.
    static var inPieces: DownloadOptions {
        var options = DownloadOptions()
        options.partSize = 16 << 10
        options.streams = 4
        return options
    }
}
