internal import CLibrary
internal import StorageServer

@main
enum OSSSyncServer {
    static func main() {
        do {
            let arguments = try ServerArguments(Array(CommandLine.arguments.dropFirst()))
            if arguments.wantsHelp {
                print(ServerArguments.help, terminator: "")
                return
            }
            try run(arguments)
        } catch let failure as ServerArguments.Failure {
            fail(failure.message + " See --help.", status: 2)
        } catch let failure as ServerFailure {
            fail(failure.message, status: 1)
        } catch {
            fail("\(error)", status: 1)
        }
    }

    private static func run(_ arguments: ServerArguments) throws {
        guard let root = arguments.root else {
            throw ServerArguments.Failure(message: "--root is needed.")
        }
        let address = try arguments.address()
        var configuration = ServerConfiguration(
            root: root,
            listenAddress: address.host,
            port: address.port,
            buckets: arguments.buckets,
            versionedBuckets: arguments.versionedBuckets,
            generatedBuckets: arguments.generatedBuckets,
            credentials: [],
            region: arguments.region,
            clockOffsetInSeconds: arguments.clockOffset,
            restorePolls: arguments.restorePolls,
            logFile: arguments.log
        )
        var made: ServerCredentials?
        if let path = arguments.credentials {
            configuration.credentials = try CredentialsFile.load(path)
        } else {
            let credentials = makeCredentials()
            configuration.credentials = [credentials]
            made = credentials
        }
        if let path = arguments.faults {
            configuration.faults = try FaultScript(json: try readWholeFile(path))
        }
        // Before any thread exists, so that all of them leave these signals to `sigwait`.
        let signals = blockedSignals()
        let server = try StorageServer(configuration: configuration)
        try server.start()
        if !arguments.isQuiet { announce(server.url, made) }
        wait(for: signals)
        server.stop()
    }

    private static func announce(_ url: String, _ made: ServerCredentials?) {
        var line = "{\"event\":\"ready\",\"url\":\"\(url)\""
        if let made {
            line += ",\"access_key_id\":\"\(made.accessKeyID)\""
            line += ",\"access_key_secret\":\"\(made.secret)\""
        }
        print(line + "}")
        fflush(nil)
    }

    /// A key for one run of a server that was given none.
    private static func makeCredentials() -> ServerCredentials {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")
        func text(_ count: Int) -> String {
            String((0..<count).compactMap { _ in letters.randomElement() })
        }
        return ServerCredentials(accessKeyID: "LTAI" + text(20), secret: text(30))
    }

    private static func blockedSignals() -> sigset_t {
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        return signals
    }

    private static func wait(for signals: sigset_t) {
        var signals = signals
        var number: Int32 = 0
        while unsafe sigwait(&signals, &number) == EINTR {}
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        let line = [UInt8](("osssync-server: " + message + "\n").utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        exit(status)
    }
}
