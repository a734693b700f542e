internal import CLibrary
internal import OSSSync
internal import Synchronization

/// What every command has: its arguments, where configuration comes from, and where to write.
final class CommandContext: Sendable {
    /// As they were typed, with the directory's own defaults.
    let arguments: ParsedArguments
    /// Without them.
    let typed: ParsedArguments
    /// What the directory's own configuration says; nil without one.
    let defaults: DirectoryDefaults?
    /// The mirror that the command is about; nil without one.
    let place: MirrorPlace?
    /// What `apply` carries out; nil for every other command.
    let plan: SavedPlan?
    let output: OutputOptions
    let sources: ConfigurationSources
    /// Reports progress and retries for every command.
    let reporter: Reporter
    private let loss = Loss()

    /// With `skipsErrors`, what cannot be used of the directory's configuration is left out: to
    /// report a failure as it says.
    init(
        _ typed: ParsedArguments,
        environment: [String: String],
        plan: SavedPlan? = nil,
        failures: FailureMemory? = nil,
        skipsErrors: Bool = false
    ) throws {
        self.typed = typed
        self.plan = plan
        let row = CommandTable.row(typed.command)
        place = try row.flatMap { $0.isOfMirror ? try MirrorPlace.find(typed, $0) : nil }
        defaults = try place.flatMap { try Self.defaults(of: $0, typed, skipsErrors) }
        let arguments = Self.filling(typed, defaults, plan)
        self.arguments = arguments
        output = try OutputOptions(arguments)
        var options = try ConnectionOptions(arguments)
        // Later runs read it from wherever they are started.
        options.encryptionPasswordFile = options.encryptionPasswordFile.map(absolutePath)
        // A user at a terminal may have misspelled the address; a timer should wait for the
        // network.
        options.givesUpSoon = isatty(STDERR_FILENO) != 0 || arguments.command == .doctor
        let isRun = [CommandName].runs.contains(arguments.command)
        let reporter = Reporter(
            options: output,
            isDryRun: arguments.has(.dryRun),
            singleTitle: isRun ? nil : arguments.command.rawValue,
            bandwidth: options.bandwidth,
            screen: .standard(environment).naming(place?.directory)
        )
        self.reporter = reporter
        var sources = ConfigurationSources(
            options: options,
            environment: environment,
            homeDirectory: environment["HOME"].flatMap { $0.isEmpty ? nil : $0 },
            hostName: Self.hostName()
        )
        sources.onRetry = { reporter.handle(.retry($0)) }
        if let failures { sources.failures = failures }
        self.sources = sources
        for warning in sources.warnings { reporter.handle(.warning(message: warning)) }
    }

    private static func defaults(
        of place: MirrorPlace,
        _ typed: ParsedArguments,
        _ skipsErrors: Bool
    ) throws -> DirectoryDefaults? {
        let configuration: DirectoryConfiguration?
        do throws(TransferError) {
            configuration = try DirectoryConfiguration(
                directory: place.directory,
                stateDirectory: typed.values[.stateDirectory]
            )
        } catch {
            // It examines the same, and says more.
            if typed.command == .doctor || skipsErrors { return nil }
            throw error
        }
        return try configuration.map { configuration in
            try DirectoryDefaults(configuration, of: place.directory, skipsErrors: skipsErrors)
        }
    }

    /// The options that a run of this direction would have.
    func options(of direction: CommandName) throws(UsageError) -> RunOptions {
        try RunOptions(Self.filling(typed, defaults, plan, as: direction))
    }

    /// What a run of this direction may transfer; nil for no limit.
    func bandwidth(of direction: CommandName) -> BandwidthTimetable? {
        let arguments = Self.filling(typed, defaults, plan, as: direction)
        return (try? ConnectionOptions(arguments))?.bandwidth
    }

    private static func filling(
        _ typed: ParsedArguments,
        _ defaults: DirectoryDefaults?,
        _ plan: SavedPlan?,
        as command: CommandName? = nil
    ) -> ParsedArguments {
        // A plan has all that decides what is done, with the defaults of its time.
        defaults?.filling(typed, as: command) { plan != nil && $0.isKept } ?? typed
    }

    func positional(_ index: Int) -> String? {
        index < arguments.positionals.count ? arguments.positionals[index] : nil
    }

    /// The directory of a command that needs one.
    func directory() throws(UsageError) -> String {
        guard let place else { throw .noMirror(command: arguments.command) }
        return place.directory
    }

    func remote(at index: Int) throws(TransferError) -> BucketLocation? {
        guard let text = positional(index) else { return nil }
        return try BucketLocation(parsing: text)
    }

    /// One object, not a directory of them.
    func object(_ text: String) throws(TransferError) -> ObjectReference {
        let object = try ObjectReference(parsing: text)
        guard !object.isDirectory else {
            throw TransferError(
                code: .configuration,
                message: "'\(object.display)' is not an object: use oss://BUCKET/KEY or "
                    + "s3://BUCKET/KEY"
            )
        }
        return object
    }

    func mirror() throws -> DirectoryMirror {
        let directory = try directory()
        let remote = try arguments.mirror.remote.map(BucketLocation.init(parsing:))
        do throws(TransferError) {
            return try DirectoryMirror(
                directory: directory,
                remote: remote,
                allowsRebinding: arguments.has(.rebind),
                sources: sources
            )
        } catch {
            guard remote == nil, error.code == .configuration, let lost = lostLink(directory) else {
                throw error
            }
            throw error.with(message: lost)
        }
    }

    /// What is said of a directory that was a mirror of this account and has no link any more: most
    /// likely its disk is not mounted.
    ///
    /// Nil for any other.
    func lostLink(_ directory: String) -> String? {
        let state = sources.options.stateDirectory
        guard isDirectory(directory), Self.linkedRemote(directory, state) == nil else { return nil }
        let path = MirrorPlace.realPath(directory)
        let isListed = mirrorList?.entries().contains { entry in
            entry.directory == path && entry.stateDirectory == state.map(absolutePath)
        }
        guard isListed == true else { return nil }
        let shown = String(terminalSafe: directory)
        return "'\(shown)' was linked with a remote, and has no link now; if its disk is not "
            + "mounted, mount it, and do not link '\(shown)' again. If the link was removed on "
            + "purpose, specify the remote"
    }

    /// True if something that should be on stdout is not there.
    var hasLostOutput: Bool {
        reporter.hasLostOutput || loss.hasHappened.load(ordering: .relaxed)
    }

    /// Writes a line to stdout; false if it could not be written.
    @discardableResult
    func say(_ text: String) -> Bool {
        write(text + "\n")
    }

    /// Writes one JSON line to stdout; false if it could not be written.
    @discardableResult
    func say(_ line: JSONLine) -> Bool {
        write(line.line(at: WallClock.text()))
    }

    /// Writes a text to stdout; false if it could not be written.
    func write(_ text: String) -> Bool {
        let isWritten = OutputStream.standardOutput.write(text)
        if !isWritten { loss.hasHappened.store(true, ordering: .relaxed) }
        return isWritten
    }

    /// Says that a file which was asked for is incomplete or missing: the status is not 0.
    func reportLoss(_ text: String) {
        loss.hasHappened.store(true, ordering: .relaxed)
        complain(text)
    }

    /// A message with the directory in the commands that it names.
    func named(_ message: String) -> String {
        namingDirectory(place?.directory, in: message)
    }

    func complain(_ text: String) {
        _ = OutputStream.standardError.write("osssync: " + named(text) + "\n")
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
