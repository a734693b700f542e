#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

private final class TestThreadBody {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Runs `body`, which may block, on a thread of its own.
package func startTestThread(_ body: @escaping @Sendable () -> Void) {
    let context = unsafe Unmanaged.passRetained(TestThreadBody(body))
    #if canImport(Glibc)
    var thread = pthread_t()
    let code = unsafe pthread_create(&thread, nil, runTestThread, context.toOpaque())
    precondition(code == 0, "a thread can be had")
    pthread_detach(thread)
    #else
    var thread: pthread_t?
    let code = unsafe pthread_create(&thread, nil, { runTestThread($0) }, context.toOpaque())
    precondition(code == 0, "a thread can be had")
    if let thread { pthread_detach(thread) }
    #endif
}

private func runTestThread(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let pointer = unsafe pointer {
        unsafe Unmanaged<TestThreadBody>.fromOpaque(pointer).takeRetainedValue().run()
    }
    return nil
}
