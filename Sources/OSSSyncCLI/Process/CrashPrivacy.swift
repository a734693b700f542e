internal import CLibrary

/// Keeps memory, which holds credentials, out of what a crash leaves behind.
///
/// A core file has all of it, and the Swift runtime's backtrace shows pieces of it next to the
/// registers. Setting `SWIFT_BACKTRACE` to any value enables both for debugging.
enum CrashPrivacy {
    static func begin(environment: [String: String]) {
        guard environment["SWIFT_BACKTRACE"] == nil else { return }
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        // core(5): to a program that collects cores, Linux gives none only if the limit is 1.
        let smallest: rlim_t = 1
        #else
        let resource = RLIMIT_CORE
        let smallest: rlim_t = 0
        #endif
        if unsafe getrlimit(resource, &limit) == 0 {
            limit.rlim_cur = min(limit.rlim_max, smallest)
            _ = unsafe setrlimit(resource, &limit)
        }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            _ = signal(number, SIG_DFL)
        }
    }
}
