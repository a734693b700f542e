import OSSTransferFoundation

/// The transfers of an app, which outlive its processes.
struct TransferQueue: Sendable {
    let manager: TransferManager

    init(container: String, server: AppServer) async throws(TransferError) {
        manager = try await TransferManager(
            directory: container + "/transfers",
            base: container
        ) { name in
            try await server.job(for: name, in: container)
        }
    }

    /// Queues a download without a connection: neither the store nor the app's server is asked.
    func queue(_ name: String, to file: String) async throws(TransferError) {
        guard await manager[name] == nil else { return }
        try await manager.add(name, kind: .download, path: file, context: "queued offline")
        try await manager.start(name)
    }

    /// Until the task is cancelled; nothing moves without it.
    func run() async throws(TransferError) { try await manager.run() }

    /// Shows all transfers, now and as they change; in a task of the screen with the list.
    @MainActor
    func show(_ draw: ([String]) -> Void) async {
        for await transfers in manager.rows { draw(transfers.map(line)) }
    }

    /// When the app leaves the screen: within the seconds that the system grants.
    func enterBackground() async throws(TransferError) {
        try await manager.pauseAll(reason: "background")
    }

    /// When the app is on the screen again, also in another process.
    func enterForeground() async throws(TransferError) {
        try await manager.resumeAll(reason: "background")
    }

    /// When the system says that there is a network again.
    func networkReturned() async { await manager.networkChanged() }
}

/// What the app shows of one transfer.
func line(_ transfer: ManagedTransfer) -> String {
    switch transfer.waitingFor {
    case .turn: return "\(transfer.id): waiting for its turn"
    case .network: return "\(transfer.id): waiting for the network"
    case .allowedNetwork: return "\(transfer.id): waiting for Wi-Fi"
    default: break
    }
    if let message = transfer.errorMessage { return "\(transfer.id): \(message)" }
    return "\(transfer.id): \(Int((transfer.fraction ?? 0) * 100)) %"
}

/// What the app asks its server for, with what identifies the user.
struct AppServer: Sendable {
    let urls: @Sendable (_ name: String) async throws -> PresignedURLs

    func job(for name: String, in container: String) async throws -> TransferJob {
        var options = DownloadOptions()
        options.base = container
        options.reconnects = .standard
        let source = try DownloadSource.presigned(try await urls(name)) { try await urls(name) }
        return .download(source, to: container + "/" + name, options: options)
    }
}
