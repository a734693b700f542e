internal import CSystem

/// The memory that threads take beside what they allocate.
enum ThreadMemory {
    /// Lets threads share what the C library would give each of them, and makes their stacks small
    /// where `ulimit -v` limits the addresses.
    ///
    /// By default each keeps what it has freed, which adds up to more than a run uses, and reserves
    /// 72 MiB of addresses; the runtime ends the process where a thread cannot begin. To be called
    /// before there are threads.
    static func limit() { osssync_limit_thread_memory() }
}
