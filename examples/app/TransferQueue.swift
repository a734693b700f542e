import OSSTransfer

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
        try await manager.add(
            name,
            kind: .download,
            path: file,
            context: "queued offline",
            listener: Row()
        )
        try await manager.start(name)
    }

    /// Until the task is cancelled; nothing moves without it.
    func run() async throws(TransferError) { try await manager.run() }

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
struct Row: TransferListener {
    func transfer(_ id: String, didReceive notice: TransferNotice) {
        if case .waiting = notice { print("\(id): waiting for the network") }
    }

    func transfer(_ id: String, didFailWith error: TransferError) {
        print("\(id): \(error.message)")
    }
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
