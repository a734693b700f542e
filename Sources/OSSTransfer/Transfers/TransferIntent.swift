/// What a caller last asked of a transfer.
enum TransferCommand: Sendable, Hashable {
    case run
    case pause
    case cancel(keepsParts: Bool)
}

/// What is wanted of a transfer beside what it does, so that the last command counts whenever it
/// comes: before, while and after the work runs.
///
/// A value without a clock or a lock; ``Transfer`` carries out its steps.
struct TransferIntent: Sendable {
    /// What the transfer's task does next.
    enum Step: Sendable, Hashable {
        /// Transfer what is missing.
        case attempt
        /// Read what is needed to resume, and stop.
        case pause
        /// Stop, and keep what is there.
        case stop
        /// Delete what is unfinished.
        case discard
    }

    /// How a step ended.
    enum Ending: Sendable, Hashable {
        /// As it should.
        case done
        /// It was stopped by a later command.
        case stopped
        case failed
    }

    private(set) var state = TransferState.ready
    /// True while a task carries out commands.
    private(set) var isActive = false
    /// The last command that is not carried out yet.
    private var command: TransferCommand?
    /// What the task does now.
    private var step: Step?

    /// Notes a command.
    ///
    /// - Returns: True if a task must begin to carry it out.
    mutating func accept(_ command: TransferCommand) -> Bool {
        guard isActive else {
            guard needsWork(command) else { return false }
            self.command = command
            isActive = true
            state = .running
            return true
        }
        // An attempt that nothing stops needs no other after it.
        self.command = command == .run && step == .attempt && self.command == nil ? nil : command
        return false
    }

    private func needsWork(_ command: TransferCommand) -> Bool {
        switch (command, state) {
        case (_, .finished), (.pause, _): false
        case (.cancel(keepsParts: true), _): state != .cancelled
        case (.run, _), (.cancel(keepsParts: false), _): true
        }
    }

    /// True if the attempt under way is to end.
    var stopsAttempt: Bool { command != nil }

    /// The next step; nil if everything is carried out.
    mutating func next() -> Step? {
        defer { command = nil }
        step =
            switch command {
            case .run: .attempt
            case .pause: .pause
            case .cancel(let keepsParts): keepsParts ? .stop : .discard
            case nil: nil
            }
        return step
    }

    /// Notes how a step ended.
    ///
    /// - Returns: True if the transfer rests now; false if another step follows.
    mutating func ended(_ ending: Ending) -> Bool {
        defer { step = nil }
        switch (step, ending) {
        // It is too late for every command: the file or object is there.
        case (.attempt, .done): return rest(.finished)
        case (.attempt, .stopped) where command != nil: return false
        // What failed is told, unless it is to be deleted.
        case (.attempt, _):
            if case .cancel = command { return false }
            return rest(.failed)
        case (_, .failed) where command == nil: return rest(.failed)
        case _ where command != nil: return false
        case (.pause, _): return rest(.paused)
        default: return rest(.cancelled)
        }
    }

    private mutating func rest(_ state: TransferState) -> Bool {
        self.state = state
        command = nil
        isActive = false
        return true
    }
}
