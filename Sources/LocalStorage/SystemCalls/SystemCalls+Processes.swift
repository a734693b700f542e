internal import CLibrary
internal import CSystem
internal import SyncModel

// What tells one process from another, also to other machines.
extension SystemCalls {
    private static let longestLine = 4_096
    /// Of the fields of a process, behind its name in parentheses.
    private static let startField = 19

    /// Since the machine's start, with the time in which it slept.
    static var bootTime: Duration { .nanoseconds(osssync_boot_time()) }

    /// This process, for the text in a lock file.
    static var processDescription: String { "process \(getpid()) on \(hostName)" }

    private static var hostName: String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let code = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return Int32(-1) }
            return unsafe gethostname(base.assumingMemoryBound(to: CChar.self), 255)
        }
        return code == 0 ? displayText(buffer.prefix { $0 != 0 }) : "an unknown host"
    }

    /// This process.
    func ownProcess() -> LeaseProcess {
        let number = leaseHost.processes?.number ?? getpid()
        return LeaseProcess(
            host: leaseHost.processes?.hostName ?? Self.hostName,
            boot: bootID,
            namespace: processNamespace,
            number: number,
            start: startOfProcess(number)
        )
    }

    /// True if a process of this machine and boot exists no more; false if that cannot be known.
    func isGone(_ process: LeaseProcess) -> Bool {
        process.isGone(boot: bootID, namespace: processNamespace) { number in
            exists(number) ? startOfProcess(number) : nil
        }
    }

    /// True also if the system does not say.
    private func exists(_ number: Int32) -> Bool {
        if let processes = leaseHost.processes { return processes.start(number) != nil }
        return kill(number, 0) == 0 || errno != ESRCH
    }

    private var processNamespace: String {
        if let processes = leaseHost.processes { return processes.namespace }
        #if canImport(Glibc)
        let space = statusFollowingLinks(PathBytes("/proc/self/ns/pid"))
        return space.map { String($0.identity.inode) } ?? ""
        #else
        return "1"
        #endif
    }

    /// When it began, in the system's own count; empty if the system does not say.
    private func startOfProcess(_ number: Int32) -> String {
        if let processes = leaseHost.processes { return processes.start(number) ?? "" }
        #if canImport(Glibc)
        let descriptor = try? open(
            at: Self.workingDirectory,
            PathBytes("/proc/\(number)/stat".utf8),
            flags: Self.readingFlags,
            mode: 0
        )
        guard let descriptor,
            let bytes = try? OpenFile(adopting: descriptor, name: "stat", calls: self)
                .read(at: 0, length: Self.longestLine),
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return "" }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > Self.startField else { return "" }
        return String(decoding: fields[Self.startField], as: UTF8.self)
        #else
        return ""
        #endif
    }
}

extension LeaseProcess {
    /// True if it exists no more, as a process of this boot and PID namespace sees; false if that
    /// cannot be known.
    ///
    /// `start` returns when the process of a number began, empty if that is unknown, and nil if
    /// there is no such process.
    package func isGone(
        boot seenBoot: String,
        namespace seenNamespace: String,
        start seenStart: (Int32) -> String?
    ) -> Bool {
        guard !boot.isEmpty, !namespace.isEmpty, number > 0, boot == seenBoot,
            namespace == seenNamespace
        else { return false }
        guard let seen = seenStart(number) else { return true }
        return !seen.isEmpty && !start.isEmpty && seen != start
    }
}
