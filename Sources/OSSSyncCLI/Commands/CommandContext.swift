internal import OSSSync
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// What every command has: its arguments, where configuration comes from, and where to write.
struct CommandContext: Sendable {
    let arguments: ParsedArguments
    let output: OutputOptions
    let sources: ConfigurationSources
    private let loss = Loss()

    init(
        _ arguments: ParsedArguments,
        environment: [String: String]
    ) throws(UsageError) {
        self.arguments = arguments
        output = try OutputOptions(arguments)
        var options = ConnectionOptions()
        options.profile = arguments.values[.profile]
        options.configurationFile = arguments.values[.config]
        options.region = arguments.values[.region]
        options.endpoint = arguments.values[.endpoint]
        options.addressing = arguments.values[.addressing]
        options.provider = arguments.values[.provider]
        options.signature = arguments.values[.signature]
        options.caFile = arguments.values[.caFile]
        options.allowsInsecureHTTP = arguments.has(.insecureHTTP)
        options.stateDirectory = arguments.values[.stateDirectory]
        try options.setPatience(arguments)
        // Whoever looks on has perhaps misspelt the address; a timer waits for the network.
        options.givesUpSoon = isatty(STDERR_FILENO) != 0 || arguments.command == .doctor
        sources = ConfigurationSources(
            options: options,
            environment: environment,
            homeDirectory: environment["HOME"].flatMap { $0.isEmpty ? nil : $0 },
            hostName: Self.hostName()
        )
    }

    func positional(_ index: Int) -> String? {
        index < arguments.positionals.count ? arguments.positionals[index] : nil
    }

    /// The directory, which the table of arguments made sure of.
    var directory: String { positional(0) ?? "." }

    func remote(at index: Int) throws(SyncError) -> Remote? {
        guard let text = positional(index) else { return nil }
        return try Remote(parsing: text)
    }

    /// One object, not a directory of them.
    func object(_ text: String) throws(SyncError) -> ObjectReference {
        let object = try ObjectReference(parsing: text)
        guard !object.isDirectory else {
            throw SyncError(
                code: .configuration,
                message: "'\(object.display)' is no object: write oss://BUCKET/KEY or "
                    + "s3://BUCKET/KEY"
            )
        }
        return object
    }

    func mirror() throws(SyncError) -> Mirror {
        try Mirror(
            directory: directory,
            remote: try remote(at: 1),
            allowsRebinding: arguments.has(.rebind),
            sources: sources
        )
    }

    /// True if something that should be on stdout is not there.
    var hasLostOutput: Bool { loss.hasHappened.load(ordering: .relaxed) }

    /// Writes a line to stdout; false if it could not be written.
    @discardableResult
    func say(_ text: String) -> Bool {
        write(text + "\n")
    }

    /// Writes one JSON line to stdout; false if it could not be written.
    @discardableResult
    func say(_ line: JSONLine) -> Bool {
        write(line.line)
    }

    private func write(_ text: String) -> Bool {
        let isWritten = OutputStream.standardOutput.write(text)
        if !isWritten { loss.hasHappened.store(true, ordering: .relaxed) }
        return isWritten
    }

    func complain(_ text: String) {
        _ = OutputStream.standardError.write("osssync: " + text + "\n")
    }

    private final class Loss: Sendable {
        let hasHappened = Atomic(false)
    }

    private static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        let bytes = buffer.prefix { $0 != 0 && $0 != CChar(bitPattern: UInt8(ascii: ".")) }
        return String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
