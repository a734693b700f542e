#if canImport(Glibc)
internal import Glibc
#endif

/// Whether the process may have the threads that a run needs.
///
/// On Linux, the runtime retries forever, once a second, to create a thread that the limit forbids:
/// a run would neither continue nor end. Elsewhere nothing is checked.
struct ThreadLimit {
    /// Those of connections, the manifest, the walk, opening, reading and publishing, and two of
    /// the clock that reports of progress wait for.
    private static let own = 8

    let needed: Int
    let available: Int

    /// Why no run can begin, nil if one can.
    var problem: String? {
        guard available < needed else { return nil }
        return "only \(available) threads can be started, and a run needs \(needed); "
            + "raise the limit (ulimit -u, or that of the container or service)"
    }

    /// Starts as many threads as a run needs, all at once, and ends them again.
    static func tried() -> ThreadLimit {
        #if canImport(Glibc)
        // The runtime takes up to one for each processor.
        tried(needed: own + max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        #else
        ThreadLimit(needed: own, available: own)
        #endif
    }
}

#if canImport(Glibc)
extension ThreadLimit {
    static func tried(needed: Int) -> ThreadLimit {
        var ends: [Int32] = [-1, -1]
        // A lack of descriptors is reported elsewhere.
        guard unsafe pipe(&ends) == 0 else {
            return ThreadLimit(needed: needed, available: needed)
        }
        let context = unsafe UnsafeMutableRawPointer(bitPattern: Int(ends[0]) + 1)
        var threads: [pthread_t] = []
        while threads.count < needed {
            var thread = pthread_t()
            guard unsafe pthread_create(&thread, nil, waitForEnd, context) == 0 else { break }
            threads.append(thread)
        }
        close(ends[1])
        for thread in threads { pthread_join(thread, nil) }
        close(ends[0])
        return ThreadLimit(needed: needed, available: threads.count)
    }
}

/// What a thread does that is there to be counted: it waits until the pipe's other end is closed.
private func waitForEnd(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let descriptor = Int32(Int(bitPattern: context) - 1)
    var byte: UInt8 = 0
    while unsafe read(descriptor, &byte, 1) < 0, errno == EINTR {}
    return nil
}
#endif
