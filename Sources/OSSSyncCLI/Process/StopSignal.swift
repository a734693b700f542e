internal import CLibrary
internal import Dispatch
internal import Synchronization

/// A signal that asks the program to stop.
enum StopSignal: Int32, Sendable, CaseIterable {
    /// Ctrl-C.
    case interrupt = 2
    /// `kill`, a timer, the end of a container.
    case terminate = 15
    /// The terminal was closed.
    case hangUp = 1

    var exitCode: ExitCode { self == .interrupt ? .interrupted : .terminated }
}

/// Turns the first stop signal into a call, and lets the second end the process at once.
///
/// SIGTERM and SIGHUP may come twice for one end: a batch system sends them to all processes of a
/// step, and a script that gets one sends it on.
enum StopSignals {
    /// How long such a signal after the first one counts as the same.
    private static let sameStop: Int64 = 10

    /// The first signal, 0 before it.
    private static let first = Atomic<Int32>(0)
    /// When it came, in whole seconds of the monotonic clock; 0 before that is known.
    private static let firstTime = Atomic<Int64>(0)
    /// The end of the pipe that the handler writes to.
    private static let wakeUp = Atomic<Int32>(-1)

    /// The first stop signal, nil before it.
    static var received: StopSignal? { StopSignal(rawValue: first.load(ordering: .acquiring)) }

    /// From now on the first stop signal calls `onStop`, on a queue of its own.
    ///
    /// Those that were ignored before stay ignored.
    /// Writing to a closed pipe becomes an error of the write. Children get the usual actions of
    /// all these signals, because handlers, unlike ignored signals, do not outlive `exec`.
    static func install(onStop: @escaping @Sendable () -> Void) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends { setCloseOnExec(end) }
        wakeUp.store(ends[1], ordering: .releasing)
        let readEnd = ends[0]
        let source = DispatchSource.makeReadSource(
            fileDescriptor: readEnd,
            queue: DispatchQueue(label: "osssync.signals")
        )
        source.setEventHandler {
            source.cancel()
            onStop()
        }
        source.activate()
        for signal in StopSignal.allCases where !isIgnored(signal.rawValue) {
            handle(signal.rawValue, with: stopped)
        }
        handle(SIGPIPE, with: ignored)
        // A file size limit becomes an error of the write, too.
        handle(SIGXFSZ, with: ignored)
    }

    /// True if the parent process wants this one to ignore the signal, as `nohup` does, and shells
    /// do for background jobs.
    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        let handler = unsafe action.__sigaction_handler.sa_handler
        return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func handle(
        _ signal: Int32,
        with handler: @escaping @convention(c) (Int32) -> Void
    ) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        unsafe sigemptyset(&action.sa_mask)
        unsafe sigaction(signal, &action, nil)
    }

    /// True if a further signal, so many seconds after the first one, ends the process at once.
    static func endsAtOnce(_ signal: Int32, after seconds: Int64) -> Bool {
        signal == SIGINT || seconds >= sameStop
    }

    private static func seconds() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec)
    }

    /// Only calls that are allowed in a signal handler: atomics, `clock_gettime`, `write`, `_exit`.
    private static let stopped: @convention(c) (Int32) -> Void = { signal in
        let exchanged = first.compareExchange(
            expected: 0,
            desired: signal,
            ordering: .acquiringAndReleasing
        )
        guard exchanged.exchanged else {
            let began = firstTime.load(ordering: .acquiring)
            guard endsAtOnce(signal, after: began == 0 ? 0 : seconds() - began) else { return }
            _exit(signal == SIGINT ? 130 : 143)
        }
        firstTime.store(max(1, seconds()), ordering: .releasing)
        var byte: UInt8 = 0
        _ = unsafe write(wakeUp.load(ordering: .acquiring), &byte, 1)
    }

    private static let ignored: @convention(c) (Int32) -> Void = { _ in }

    private static func setCloseOnExec(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
}
