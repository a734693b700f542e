internal import CLibrary

/// Holds what a new thread runs.
private final class ThreadBody {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Runs `body` on a detached thread that no signal is delivered to.
///
/// Blocked there, SIGPIPE and SIGXFSZ become errors of the calls that raise them.
func startThread(_ body: @escaping @Sendable () -> Void) throws(TransportError) {
    let context = unsafe Unmanaged.passRetained(ThreadBody(body))
    #if canImport(Glibc)
    var thread = pthread_t()
    let code = unsafe pthread_create(&thread, nil, runThread, context.toOpaque())
    #else
    var thread: pthread_t?
    let code = unsafe pthread_create(&thread, nil, { unsafe runThread($0) }, context.toOpaque())
    #endif
    guard code == 0 else {
        unsafe context.release()
        throw .localIO(errno: code, call: "pthread_create")
    }
    #if canImport(Glibc)
    pthread_detach(thread)
    #else
    if let thread { pthread_detach(thread) }
    #endif
}

private func runThread(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    var signals = sigset_t()
    unsafe sigfillset(&signals)
    // A fault that can't be delivered would end the process without a report.
    for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP] {
        unsafe sigdelset(&signals, signal)
    }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    if let pointer = unsafe pointer {
        unsafe Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run()
    }
    return nil
}
