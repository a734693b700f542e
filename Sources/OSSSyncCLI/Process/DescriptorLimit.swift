internal import CLibrary

/// How many files and connections the process may have open, and what a run makes of it.
///
/// Without a descriptor, neither a connection nor a file can be opened, which looks like an
/// unreachable remote; with too few, the runtime itself waits forever.
struct DescriptorLimit {
    let count: Int

    /// What is open besides requests: the manifest, the lock, directories, the runtime's own.
    private static let idle = 24
    /// A request's connection, its partial file and a directory on the way to it.
    private static let perRequest = 3

    /// The limit of this process, after it was raised as far as that needs no privileges.
    static func raised() -> DescriptorLimit {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        let enough: rlim_t = 4_096
        guard unsafe getrlimit(resource, &limit) == 0 else { return DescriptorLimit(count: 1_024) }
        if limit.rlim_cur < min(limit.rlim_max, enough) {
            let former = limit.rlim_cur
            limit.rlim_cur = min(limit.rlim_max, enough)
            if unsafe setrlimit(resource, &limit) != 0 { limit.rlim_cur = former }
        }
        return DescriptorLimit(count: Int(clamping: limit.rlim_cur))
    }

    /// Why no run can begin, nil if one can.
    var problem: String? {
        guard count < Self.idle else { return nil }
        return "only \(count) files may be open at once, and a run needs \(Self.idle); "
            + "raise the limit (ulimit -n 256)"
    }

    /// How many requests may be under way, of as many as were asked for.
    func requests(of wanted: Int) -> Int {
        min(wanted, max(1, (count - Self.idle) / Self.perRequest))
    }
}
