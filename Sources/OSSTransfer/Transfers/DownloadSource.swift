package import ObjectStorage
internal import ObjectTransfer
package import SyncModel

/// Signed URLs of one object, created by the holder of the keys for a client without keys.
public struct PresignedURLs: Sendable, Hashable {
    /// Signed for GET; for an object that anyone may read, its plain URL.
    public let get: String
    /// Signed for HEAD, which a URL for GET does not allow, for objects that are empty or were
    /// replaced; nil, or refused by the server: the first byte is read instead.
    public let head: String?

    /// Takes the URLs as they are.
    public init(get: String, head: String? = nil) {
        self.get = get
        self.head = head
    }
}

extension PresignedURLs: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Leaves out the signed part, so that the text grants no permission.
    public var description: String { "PresignedURLs" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Shows nothing.
    public var customMirror: Swift.Mirror { Swift.Mirror(self, children: []) }
}

/// What is downloaded, and by which right.
public struct DownloadSource: Sendable {
    /// The object as messages name it.
    let key: ObjectKey
    /// The object as records know it again, without secrets.
    let subject: String
    var monitor: TransferMonitor?
    /// Takes an object that `osssync` or rclone encrypted as it is stored; otherwise it is an error
    /// of code `unsupportedServer`.
    public var takesEncrypted = false
    /// What opens an encrypted object; then an object that is not encrypted is an error.
    package var cipher: ContentCipher?
    let makeStore: @Sendable () throws(TransferError) -> any ObjectReader

    func store() throws(TransferError) -> any ObjectReader {
        let store = try makeStore()
        if let cipher { return SealedStore(store, cipher) }
        return takesEncrypted ? StoredForm(store) : store
    }

    /// An object of a bucket, read with the bucket's credentials.
    ///
    /// - Parameters:
    ///   - client: The bucket.
    ///   - key: The object's whole key.
    /// - Returns: A source; no request is made.
    public static func object(_ client: BucketClient, key: String) -> DownloadSource {
        DownloadSource(
            key: ObjectKey(key),
            subject: client.subject(of: key),
            monitor: client.monitor,
            makeStore: { client.limitedStore }
        )
    }

    /// The same as it was in a bucket's past; nil for the bucket as it is.
    package static func object(
        _ client: BucketClient,
        key: ObjectKey,
        in past: PastStore?
    ) -> DownloadSource {
        DownloadSource(
            key: key,
            subject: client.subject(of: key.text),
            monitor: client.monitor,
            makeStore: { past.map { $0 as any ObjectReader } ?? client.limitedStore }
        )
    }

    /// An object by signed URLs, which are sent as they are.
    ///
    /// Requests go to the URLs' host and nowhere else: a redirect, also of a URL without a
    /// signature, is an error of code `redirected` whose message names the host that it points to,
    /// and new URLs must be of the same host. What is signed never stands in a message or a record.
    ///
    /// URLSession, over which requests go without the trait `SystemLibraries`, decodes what is
    /// stored with a `Content-Encoding` such as `gzip`, so that such an object is an error of code
    /// `unsupportedServer` there. A URL that is signed with `response-content-encoding=identity`
    /// delivers it as it is stored.
    ///
    /// - Parameters:
    ///   - urls: Signed for this object.
    ///   - connection: How the host is reached.
    ///   - renewal: Asked for new URLs of the same object when the host refuses these, which have
    ///     most likely expired; once for all requests that wait. Nil: that is an error of code
    ///     `expired`, `forbidden` or `credentials`. If the app's server can't be reached (a
    ///     `TransferError` whose `isRetryable` is true or whose `status` is 5xx, a `URLError` of
    ///     connection, time or resolution), the download waits as for a lost connection and asks
    ///     again. Anything else that it throws ends the download with that error's code and text,
    ///     and code `credentials` for errors of other types.
    /// - Returns: A source; no request is made.
    /// - Throws: `TransferError` of code `configuration` for settings that no connection can have,
    ///   for what is not the URL of a host, for two hosts, for plain http to another machine unless
    ///   the settings allow it, and for certificate authorities that can't be read.
    public static func presigned(
        _ urls: PresignedURLs,
        connection: ConnectionSettings = ConnectionSettings(),
        renewal: (@Sendable () async throws -> PresignedURLs)? = nil
    ) throws(TransferError) -> DownloadSource {
        try connection.check()
        let first = try pair(urls, connection)
        try ResolvedConnection.checkAuthorities(connection.network.caFile)
        var renew: PresignedURLSource.Renewal?
        let name = "the app's source of signed addresses"
        if let renewal {
            renew = { () async throws(CredentialsError) in
                try await AppQuestion(source: name).ask {
                    try pair(try await renewal(), connection)
                }
            }
        }
        let source = PresignedURLSource(first, name: name, renewal: renew)
        let network = connection.network
        let makeStore: @Sendable () throws(TransferError) -> any ObjectReader = {
            () throws(TransferError) -> any ObjectReader in
            do throws(StorageError) {
                let store = try StorageClient(
                    urls: source,
                    first: first.get,
                    network: network,
                    environment: connection.environment
                )
                return connection.limiting(store)
            } catch {
                throw TransferError(error)
            }
        }
        return DownloadSource(
            key: first.get.key,
            subject: first.get.description,
            monitor: connection.monitor,
            makeStore: makeStore
        )
    }

    private static func pair(
        _ urls: PresignedURLs,
        _ connection: ConnectionSettings
    ) throws(TransferError) -> PresignedPair {
        func usage(_ message: String) -> TransferError {
            TransferError(code: .configuration, message: message)
        }
        let pair: PresignedPair
        do throws(EndpointError) {
            var head: PresignedURL?
            if let text = urls.head { head = try PresignedURL(parsing: text) }
            pair = PresignedPair(get: try PresignedURL(parsing: urls.get), head: head)
        } catch {
            throw usage("not a signed URL: \(error.message)")
        }
        let endpoint = pair.get.endpoint
        guard endpoint.host != Endpoint.memory.host else {
            throw usage(
                "a signed URL of a bucket in memory leads nowhere; download its object by the "
                    + "bucket's client"
            )
        }
        guard pair.head.map({ $0.endpoint == endpoint }) ?? true else {
            throw usage("the URLs for GET and HEAD have different hosts")
        }
        guard endpoint.isSafe(connection.allowsInsecureHTTP) else {
            throw usage(endpoint.plainHTTPWarning)
        }
        return pair
    }
}
