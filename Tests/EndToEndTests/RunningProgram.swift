import Foundation
import SyncTestSupport
import Synchronization

/// What a finished program left behind.
struct ProgramResult {
    let status: Int32
    let output: String
    let diagnostics: String

    /// The JSON lines of the output.
    var events: [[String: Any]] {
        output.split(separator: "\n").compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
        }
    }

    /// The fields of the `summary` event.
    var summary: [String: Any] {
        events.last { $0["event"] as? String == "summary" } ?? [:]
    }

    func count(_ name: String) -> Int {
        summary[name] as? Int ?? -1
    }

    func items(action: String, state: String) -> [String] {
        events.filter { event in
            event["event"] as? String == "item" && event["action"] as? String == action
                && event["state"] as? String == state
        }.compactMap { $0["key"] as? String }
    }
}

/// A program under way, whose output lines can be waited for.
final class RunningProgram: @unchecked Sendable {
    private struct State {
        var output = Data()
        var diagnostics = Data()
        var scanned = 0
    }

    private let process: SpawnedProgram
    private let state = Mutex(State())
    private let lineArrived = DispatchSemaphore(value: 0)
    private let readersDone = DispatchGroup()

    /// Starts a program; what it writes to an `output` or `diagnostics` that is given is not read.
    init(
        _ program: URL,
        _ arguments: [String],
        environment: [String: String],
        input: FileHandle? = nil,
        output: FileHandle? = nil,
        diagnostics: FileHandle? = nil
    ) throws {
        let (outputPipe, diagnosticsPipe) = (Pipe(), Pipe())
        process = try SpawnedProgram(
            program.path,
            arguments,
            environment: environment,
            input: input ?? .nullDevice,
            output: output ?? outputPipe.fileHandleForWriting,
            diagnostics: diagnostics ?? diagnosticsPipe.fileHandleForWriting
        )
        // The end of what the program writes is seen when nobody else can write there.
        try outputPipe.fileHandleForWriting.close()
        try diagnosticsPipe.fileHandleForWriting.close()
        if output == nil {
            read(outputPipe.fileHandleForReading) { state, data in state.output.append(data) }
        }
        if diagnostics == nil {
            read(diagnosticsPipe.fileHandleForReading) { state, data in
                state.diagnostics.append(data)
            }
        }
    }

    var processID: Int32 { process.processID }
    var isRunning: Bool { process.isRunning }

    private func read(
        _ handle: FileHandle,
        _ append: @escaping @Sendable (inout State, Data) -> Void
    ) {
        readersDone.enter()
        let thread = Thread {
            while true {
                let data = handle.availableData
                if data.isEmpty { break }
                self.state.withLock { append(&$0, data) }
                self.lineArrived.signal()
            }
            self.lineArrived.signal()
            self.readersDone.leave()
        }
        thread.start()
    }

    /// Waits for the first line of the output, not seen by an earlier call, that `matches` accepts.
    ///
    /// Returns nil if the program ends or the time is over before.
    func waitForLine(
        seconds: Double = 60,
        _ matches: (String) -> Bool
    ) -> String? {
        let deadline = DispatchTime.now() + seconds
        while true {
            while let line = nextLine() {
                if matches(line) { return line }
            }
            if !process.isRunning, nextLine() == nil { return nil }
            if lineArrived.wait(timeout: min(deadline, .now() + 1)) == .timedOut,
                DispatchTime.now() >= deadline
            {
                return nil
            }
        }
    }

    private func nextLine() -> String? {
        state.withLock { state in
            let rest = state.output[state.scanned...]
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let line = String(decoding: rest[..<end], as: UTF8.self)
            state.scanned = end + 1
            return line
        }
    }

    func send(_ signal: Int32) {
        kill(process.processID, signal)
    }

    /// Waits for the end.
    func finish() -> ProgramResult {
        let status = process.waitUntilExit()
        readersDone.wait()
        let (output, diagnostics) = state.withLock { ($0.output, $0.diagnostics) }
        return ProgramResult(
            status: status,
            output: String(decoding: output, as: UTF8.self),
            diagnostics: String(decoding: diagnostics, as: UTF8.self)
        )
    }
}
