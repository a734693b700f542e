#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// What one finished program cost, by the system's own account.
struct Cost: Sendable {
    /// Seconds from start to end.
    var wall: Double
    /// Seconds of user and system time.
    var processor: Double
    /// The largest resident set, in bytes.
    var memory: Int64
    var status: Int32
}

/// Starts programs and accounts for them.
enum ChildProcess {
    /// Runs a program to its end, with its output thrown away.
    static func run(_ program: String, _ arguments: [String], _ environment: [String]) -> Cost {
        let start = ContinuousClock.now
        guard let process = spawn(program, arguments, environment, output: nil) else {
            fail("'\(program)' cannot be started")
        }
        var status: Int32 = 0
        var usage = rusage()
        while unsafe wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
        let wall = ContinuousClock.now - start
        let (seconds, attoseconds) = wall.components
        return Cost(
            wall: Double(seconds) + Double(attoseconds) / 1e18,
            processor: time(usage.ru_utime) + time(usage.ru_stime),
            memory: Int64(usage.ru_maxrss) << 10,
            status: status
        )
    }

    /// Starts a program in the background, with its output on `output`; returns its process ID.
    static func spawn(
        _ program: String,
        _ arguments: [String],
        _ environment: [String],
        output: Int32?
    ) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let output {
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        var process = pid_t()
        let code = unsafe withStrings([program] + arguments) { argv in
            unsafe withStrings(environment) { envp in
                unsafe posix_spawnp(&process, program, &actions, nil, argv, envp)
            }
        }
        return code == 0 ? process : nil
    }

    private static func time(_ value: timeval) -> Double {
        Double(value.tv_sec) + Double(value.tv_usec) / 1e6
    }

    private static func withStrings<Result>(
        _ strings: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe pointers.indices { unsafe free(pointers[index]) }
        }
        return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { fail("no memory for arguments") }
            return unsafe body(base)
        }
    }
}

/// Ends the program: a measurement that cannot be made has no figure.
func fail(_ message: String) -> Never {
    let text = Array("bench: \(message)\n".utf8)
    _ = unsafe write(2, text, text.count)
    exit(1)
}
