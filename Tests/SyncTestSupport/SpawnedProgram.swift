package import Foundation
internal import Synchronization

/// A program that was started, in place of Foundation's `Process`.
///
/// On Linux, that one copies the names in `/proc/self/fd` from beyond the end of their buffer,
/// which ends the process of the tests now and then once it has some 1,400 descriptors.
package final class SpawnedProgram: Sendable {
    package struct SpawnFailure: Error {
        let program: String
        let code: Int32
    }

    /// They are given out from below.
    private static let mostDescriptors: Int32 = 4_096

    package let processID: pid_t
    private let status = Mutex<Int32?>(nil)

    /// Starts a program, which inherits these three descriptors and no other.
    package init(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        input: FileHandle = .nullDevice,
        output: FileHandle = .standardOutput,
        diagnostics: FileHandle = .standardError
    ) throws {
        #if canImport(Glibc)
        var actions = unsafe posix_spawn_file_actions_t()
        #else
        var actions: posix_spawn_file_actions_t?
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // Above all that the program gets, so that none is overwritten before it is used.
        let given = [input, output, diagnostics].map {
            fcntl($0.fileDescriptor, F_DUPFD_CLOEXEC, 3)
        }
        defer { for descriptor in given { close(descriptor) } }
        for (number, descriptor) in given.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        for descriptor in Int32(3)..<Self.mostDescriptors {
            let flags = fcntl(descriptor, F_GETFD)
            guard flags >= 0, flags & FD_CLOEXEC == 0 else { continue }
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var process: pid_t = 0
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) }
        var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") }
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        unsafe words.append(nil)
        unsafe variables.append(nil)
        let code = unsafe posix_spawn(&process, program, &actions, nil, words, variables)
        guard code == 0 else { throw SpawnFailure(program: program, code: code) }
        processID = process
    }

    package var isRunning: Bool { look() == nil }

    /// What `waitpid` says of its end; nil while it runs.
    private func look() -> Int32? {
        status.withLock { status in
            guard status == nil else { return status }
            var found: Int32 = 0
            let ended = unsafe waitpid(processID, &found, WNOHANG)
            if ended == processID { status = found }
            return status
        }
    }

    /// Waits for the end.
    ///
    /// - Returns: The exit status, or 128 and the number of the signal that ended it.
    @discardableResult
    package func waitUntilExit() -> Int32 {
        while true {
            if let found = look() {
                return found & 0x7f == 0 ? (found >> 8) & 0xff : 128 + found & 0x7f
            }
            // Takes nothing away: another thread may look meanwhile.
            var information = unsafe siginfo_t()
            _ = unsafe waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT)
        }
    }
}
