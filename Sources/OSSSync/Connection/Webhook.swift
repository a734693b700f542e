internal import ObjectStorage
internal import SyncEngine

/// An address that is told how a command ended by one POST of a JSON document.
///
/// Services that watch timers tell failures from successes by the address alone: `{exit}` in it is
/// replaced by the exit status, and `{state}` by `success` or `failure`.
///
/// What follows the host in the address may be a secret and is in no message.
package struct Webhook: Sendable {
    /// What may follow a brace.
    private static let exitMark = "exit}"
    private static let stateMark = "state}"

    private let address: WebAddress
    private let requests: PlainRequests

    /// Takes an address that a user chose; makes no request.
    ///
    /// - Parameters:
    ///   - text: An https URL, or an http one of this machine; `{exit}` and `{state}` may follow
    ///     its host.
    ///   - sources: Says whether plain http is allowed to other hosts, which authorities are
    ///     trusted, and has the proxy.
    /// - Throws: `TransferError` of code `configuration`.
    package init(_ text: String, sources: ConfigurationSources) throws(TransferError) {
        guard let address = WebAddress(text) else {
            throw Self.unusable("expected an https URL without a user and a password")
        }
        let rest = text.dropFirst(address.authorityEnd)
        guard !text.dropLast(rest.count).contains("{") else {
            throw Self.unusable("{exit} and {state} can only follow the host")
        }
        // A mark that is misspelled would be sent as it is, and each run would count as good.
        let marks = rest.split(separator: "{", omittingEmptySubsequences: false).dropFirst()
        guard marks.allSatisfy({ $0.hasPrefix(Self.exitMark) || $0.hasPrefix(Self.stateMark) })
        else {
            throw Self.unusable("only {exit} and {state} can be replaced in it")
        }
        let isSafe = address.isHTTPS || address.isLoopback || sources.options.allowsInsecureHTTP
        guard isSafe else {
            throw Self.unusable("it is plain http to another host; use https, or --insecure-http")
        }
        try ResolvedConnection.checkAuthorities(sources.options.caFile)
        let proxy =
            address.isLoopback
            ? nil
            : ResolvedConnection.proxy(
                forHost: address.host,
                isHTTPS: address.isHTTPS,
                sources.environment
            )
        self.address = address
        requests = PlainRequests(
            connectTimeout: .seconds(5),
            caFile: sources.options.caFile,
            proxy: proxy
        )
    }

    /// The `notify-url` of the user's own configuration, in the section of the profile in use.
    ///
    /// The configuration of a directory is not read: it may be somebody else's.
    ///
    /// - Parameters:
    ///   - sources: Where the user's configuration is.
    ///   - directory: The directory, whose link can name the profile.
    /// - Returns: The address; nil without one.
    /// - Throws: `TransferError` of code `configuration`.
    package static func configured(
        _ sources: ConfigurationSources,
        directory: String?
    ) throws(TransferError) -> Webhook? {
        var link: LinkFile?
        let state = sources.options.stateDirectory
        if let directory,
            let content = try? MirrorLink.read(directory: directory, stateDirectory: state)
        {
            // What is wrong with it, the run says.
            link = try? LinkFile(
                content,
                path: DirectoryConfiguration.path(directory: directory, stateDirectory: state)
            )
        }
        let files = ConfigurationFiles(sources, link: link, dialect: .oss)
        guard let text = try files.ownSetting("notify-url") else { return nil }
        return try Webhook(text, sources: sources)
    }

    /// The host, safe to print.
    package var host: String { displayText(address.host) }

    /// Posts a document; takes 10 seconds at most.
    ///
    /// - Parameters:
    ///   - json: The document.
    ///   - exit: The exit status of the command; any but 0 is a failure.
    /// - Returns: What went wrong, safe to print; nil if it was accepted.
    package func post(json: String, exit: Int32) async -> String? {
        do {
            let status = try await requests.post(json: json, to: url(exit: exit))
            return (200..<300).contains(status) ? nil : "it answered with status \(status)"
        } catch {
            return (error as? TransportError)?.message ?? "the request could not be sent"
        }
    }

    private func url(exit: Int32) -> String {
        let pieces = address.text.split(separator: "{", omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(into: String(pieces[0])) { url, piece in
            let isExit = piece.hasPrefix(Self.exitMark)
            url += isExit ? String(exit) : exit == 0 ? "success" : "failure"
            url += piece.dropFirst((isExit ? Self.exitMark : Self.stateMark).count)
        }
    }

    private static func unusable(_ reason: String) -> TransferError {
        TransferError(code: .configuration, message: "the notify URL cannot be used: \(reason)")
    }
}
