internal import CLibrary
internal import SyncModel

#if os(tvOS) || os(watchOS)
/// Their SDKs have no `posix_spawn`: a profile with a program is refused.
struct ChildProcess: ~Copyable {
    var quotesMessages = true

    init(words: [String], environment: [String]) throws(CredentialsError) {
        throw .processFailed(
            reason: "was not started: this system lets no app start programs; use keys, or a "
                + "provider of keys"
        )
    }

    mutating func output(
        timeLimit: Duration,
        limit: Int,
        isCancelled: () -> Bool
    ) throws(CredentialsError) -> [UInt8] { [] }
}
#else
/// A running program whose output is read; killed, with what it has started, when this goes away.
struct ChildProcess: ~Copyable {
    private let process: pid_t
    private let pipe: Int32
    /// Where its messages come from.
    private let messages: Int32
    /// The end of what came.
    private var lastMessages: [UInt8] = []
    private var isReaped = false
    /// False where a message may be a password.
    var quotesMessages = true

    /// So much of the messages is kept.
    private static let messageLimit = 4_096

    /// How often a waiting call looks at its deadline and for a cancellation, in milliseconds.
    private static let slice: Int32 = 20

    init(words: [String], environment: [String]) throws(CredentialsError) {
        var ends: [Int32] = [-1, -1]
        guard openPipe(&ends) == 0 else {
            throw .processFailed(reason: "was not started (pipe: error \(errno))")
        }
        defer { close(ends[1]) }
        var messageEnds: [Int32] = [-1, -1]
        guard openPipe(&messageEnds) == 0 else {
            close(ends[0])
            throw .processFailed(reason: "was not started (pipe: error \(errno))")
        }
        defer { close(messageEnds[1]) }
        let (code, started) = spawn(
            words: words,
            environment: environment,
            output: ends[1],
            messages: messageEnds[1]
        )
        guard code == 0 else {
            close(ends[0])
            close(messageEnds[0])
            throw .processFailed(
                reason: code == ENOENT
                    ? "was not started: there is no such program"
                    : "was not started (error \(code))"
            )
        }
        process = started
        pipe = ends[0]
        messages = messageEnds[0]
        _ = fcntl(messages, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(pipe)
        close(messages)
        if !isReaped {
            kill(-process, SIGKILL)
            while waitpid(process, nil, 0) < 0, errno == EINTR { continue }
        }
    }

    /// Everything the program prints, after it has ended with status 0.
    mutating func output(
        timeLimit: Duration,
        limit: Int,
        isCancelled: () -> Bool
    ) throws(CredentialsError) -> [UInt8] {
        let deadline = ContinuousClock.now + timeLimit
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            try check(deadline, timeLimit, isCancelled)
            readMessages()
            var descriptor = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&descriptor, 1, Self.slice) > 0 else { continue }
            let descriptorNumber = pipe
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe read(descriptorNumber, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .processFailed(reason: "could not be read") }
            if count == 0 { break }
            output += chunk[..<count]
            guard output.count <= limit else {
                throw .processFailed(reason: "printed more than \(limit) bytes")
            }
        }
        try waitForEnd(deadline, timeLimit, isCancelled)
        return output
    }

    private mutating func waitForEnd(
        _ deadline: ContinuousClock.Instant,
        _ timeLimit: Duration,
        _ isCancelled: () -> Bool
    ) throws(CredentialsError) {
        var status: Int32 = 0
        while true {
            let ended = unsafe waitpid(process, &status, WNOHANG)
            if ended == process { break }
            guard ended == 0 || errno == EINTR else {
                throw .processFailed(reason: "could not be waited for")
            }
            try check(deadline, timeLimit, isCancelled)
            readMessages()
            poll(nil, 0, 1)
        }
        isReaped = true
        readMessages()
        guard status & 0x7F == 0 else {
            throw .processFailed(reason: "was ended by signal \(status & 0x7F)")
        }
        let code = status >> 8 & 0xFF
        guard code == 0 else {
            throw .processFailed(
                reason: "ended with status \(code)" + (words ?? "; run it by hand to see why")
            )
        }
    }

    /// Takes what it says, so that it does not wait for a reader.
    private mutating func readMessages() {
        var chunk = [UInt8](repeating: 0, count: Self.messageLimit)
        while true {
            let descriptor = messages
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress, buffer.count)
            }
            guard count > 0 else { return }
            lastMessages = (lastMessages + chunk[..<count]).suffix(Self.messageLimit)
        }
    }

    /// The last line that it wrote, for a message; nil if there is none.
    ///
    /// What may be a key or a token is left out.
    private var words: String? {
        let lines = lastMessages.split { $0 == 0x0A || $0 == 0x0D }
        guard quotesMessages, let line = lines.last(where: { $0.contains { $0 > 0x20 } }) else {
            return nil
        }
        let words = line.prefix(512).split(separator: 0x20).map { word in
            Self.mayBeSecret(word) ? "…" : String(decoding: word, as: UTF8.self)
        }
        return ": " + words.joined(separator: " ")
    }

    /// True for a word with a long row of the characters of Base64 that is no ordinary word.
    private static func mayBeSecret(_ word: ArraySlice<UInt8>) -> Bool {
        let rows = word.split { !$0.isLetterOrDigit(or: "+/=_-") }
        return rows.contains { row in
            row.count >= 16 && row.contains { $0 < UInt8(ascii: "A") && $0 >= UInt8(ascii: "0") }
        }
    }

    private func check(
        _ deadline: ContinuousClock.Instant,
        _ timeLimit: Duration,
        _ isCancelled: () -> Bool
    ) throws(CredentialsError) {
        if isCancelled() { throw .cancelled }
        guard ContinuousClock.now < deadline else {
            throw .processFailed(reason: "did not answer within \(timeLimit.components.seconds) s")
        }
    }
}

/// Opens a pipe that no program inherits.
private func openPipe(_ ends: inout [Int32]) -> Int32 {
    let code = unsafe pipe(&ends)
    if code == 0 {
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }
    return code
}

#if canImport(Glibc)
private typealias FileActions = posix_spawn_file_actions_t
private typealias SpawnAttributes = posix_spawnattr_t
#else
private typealias FileActions = posix_spawn_file_actions_t?
private typealias SpawnAttributes = posix_spawnattr_t?
#endif

/// Starts a program in a process group of its own, with default signals; its error number, and the
/// process.
private func spawn(
    words: [String],
    environment: [String],
    output: Int32,
    messages: Int32
) -> (code: Int32, process: pid_t) {
    #if canImport(Glibc)
    var actions = unsafe FileActions()
    var attributes = SpawnAttributes()
    #else
    var actions: FileActions = nil
    var attributes: SpawnAttributes = nil
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, messages, 2)
    for descriptor in inheritableDescriptors() {
        unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
    }

    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    var process: pid_t = 0
    let code = unsafe withCStrings(words) { arguments in
        unsafe withCStrings(environment) { variables in
            guard let program = unsafe arguments[0], let arguments = arguments.baseAddress,
                let variables = variables.baseAddress
            else { return EINVAL }
            return unsafe posix_spawnp(
                &process,
                program,
                &actions,
                &attributes,
                arguments,
                variables
            )
        }
    }
    return (code, process)
}

/// Open descriptors that a program would inherit, such as those by which libcurl wakes its thread.
///
/// Few thousand are looked at: descriptors are given out from below, and no run has so many.
private func inheritableDescriptors() -> [Int32] {
    (3..<4_096).filter { descriptor in
        let flags = fcntl(descriptor, F_GETFD)
        return flags >= 0 && flags & FD_CLOEXEC == 0
    }
}

/// Gives `body` the texts as C wants them, with a null at the end.
private func withCStrings<Result>(
    _ texts: [String],
    _ body: (UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = unsafe texts.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0) }
}
#endif
