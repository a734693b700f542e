internal import Foundation

#if canImport(Glibc)
internal import Glibc
#endif

/// A worker process and what it has said.
final class RunningWorker {
    let seeds: Range<UInt64>
    /// The seed that is being played.
    var current: UInt64?
    /// How many seeds it has come to the end of.
    private var ended: UInt64 = 0
    private let process = Process()
    private let output = Pipe()
    private var pending: [UInt8] = []
    private(set) var isAtEnd = false

    init(_ seeds: Range<UInt64>, _ arguments: Arguments) {
        self.seeds = seeds
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
        process.arguments = [
            "--worker", "--seeds", "\(seeds.lowerBound)..<\(seeds.upperBound)", "--keep",
            arguments.keep, "--worlds", arguments.worlds.text,
        ]
        if arguments.hasNodes { process.arguments?.append("--nodes") }
        if arguments.isEncrypted { process.arguments?.append("--encrypted") }
        if !arguments.shrinks { process.arguments?.append("--no-shrink") }
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            print("a worker cannot be started: \(error)")
            isAtEnd = true
        }
    }

    func endSeed() {
        ended += 1
        current = nil
    }

    /// The first seed that it has not begun.
    var unplayed: UInt64? {
        let next = seeds.lowerBound + ended
        return next < seeds.upperBound ? next : nil
    }

    /// Of the ended process: 0, or the signal or status that it ended with.
    var status: Int32 { process.isRunning ? 0 : process.terminationStatus }

    /// Waits until one of them has something to say.
    static func waitForAny(_ workers: [RunningWorker]) {
        var descriptors = workers.map { worker in
            pollfd(
                fd: worker.output.fileHandleForReading.fileDescriptor,
                events: Int16(POLLIN),
                revents: 0
            )
        }
        _ = unsafe poll(&descriptors, nfds_t(descriptors.count), 1_000)
    }

    /// Takes what is there, without waiting for more.
    func readLines(_ body: (Substring) -> Void) {
        let descriptor = output.fileHandleForReading.fileDescriptor
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while unsafe poll(&request, 1, 0) > 0 {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else {
                isAtEnd = true
                process.waitUntilExit()
                break
            }
            pending += buffer.prefix(count)
        }
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
            body(Substring(decoding: pending[..<end], as: UTF8.self))
            pending.removeSubrange(...end)
        }
    }
}
