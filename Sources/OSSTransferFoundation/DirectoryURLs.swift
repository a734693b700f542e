public import Foundation
public import OSSTransfer

extension TransferManager {
    /// Reads what an earlier process left in the directory of a URL.
    ///
    /// As `TransferManager.init(directory:limit:base:providerLimit:reconnects:provider:)` with its
    /// path.
    ///
    /// - Parameters:
    ///   - directory: A file URL: where records are kept. It is made if it is missing; its parent
    ///     must exist.
    ///   - limit: Transfers that run at once, at least 1.
    ///   - base: A file URL: a directory above the files that may be moved together with them, such
    ///     as an app's container.
    ///   - providerLimit: How long the provider may take, at most a day.
    ///   - reconnects: How often the provider is asked again whose server can't be reached.
    ///   - provider: Says what a transfer moves.
    /// - Throws: `TransferError` as that, and of code `configuration` for what is not a file URL.
    public init(
        directory: URL,
        limit: Int = 3,
        base: URL? = nil,
        providerLimit: Duration = .seconds(60),
        reconnects: ConnectionSettings.ReconnectPolicy? = .standard,
        provider: @escaping Provider
    ) async throws(TransferError) {
        try await self.init(
            directory: try localPath(of: directory),
            limit: limit,
            base: try optionalPath(of: base),
            providerLimit: providerLimit,
            reconnects: reconnects,
            provider: provider
        )
    }

    /// Adds a transfer of which only the kind and the file are known yet; the same as
    /// `TransferManager.add` with its path.
    ///
    /// - Throws: `TransferError` as that, and of code `configuration` for what is not a file URL.
    public func add(
        _ id: String,
        kind: TransferJob.Kind,
        file: URL,
        context: String = "",
        priority: Int = 0,
        allowsExpensiveNetwork: Bool = true,
        allowsConstrainedNetwork: Bool = true
    ) async throws(TransferError) {
        try await add(
            id,
            kind: kind,
            path: try localPath(of: file),
            context: context,
            priority: priority,
            allowsExpensiveNetwork: allowsExpensiveNetwork,
            allowsConstrainedNetwork: allowsConstrainedNetwork
        )
    }
}

extension DownloadOptions {
    /// Makes the options of a download whose record is kept in the directory of a URL.
    ///
    /// - Parameters:
    ///   - recordDirectory: A file URL; see `DownloadOptions.recordDirectory`.
    ///   - base: A file URL; see `DownloadOptions.base`.
    /// - Throws: `TransferError` of code `configuration` for what is not a file URL.
    public init(recordDirectory: URL, base: URL? = nil) throws(TransferError) {
        self.init()
        self.recordDirectory = try localPath(of: recordDirectory)
        self.base = try optionalPath(of: base)
    }
}

extension UploadOptions {
    /// Makes the options of an upload whose record is kept in the directory of a URL.
    ///
    /// - Parameters:
    ///   - recordDirectory: A file URL; see `UploadOptions.recordDirectory`.
    ///   - base: A file URL; see `UploadOptions.base`.
    /// - Throws: `TransferError` of code `configuration` for what is not a file URL.
    public init(recordDirectory: URL, base: URL? = nil) throws(TransferError) {
        self.init()
        self.recordDirectory = try localPath(of: recordDirectory)
        self.base = try optionalPath(of: base)
    }
}

extension TransferRecords {
    /// Names the records in the directory of a URL; nothing is read.
    ///
    /// - Throws: `TransferError` of code `configuration` for what is not a file URL.
    public init(directory: URL, base: URL? = nil) throws(TransferError) {
        self.init(directory: try localPath(of: directory), base: try optionalPath(of: base))
    }
}

private func optionalPath(of directory: URL?) throws(TransferError) -> String? {
    guard let directory else { return nil }
    return try localPath(of: directory)
}
