internal import Synchronization

/// Lets fewer bodies go at a time where connections are lost before they are through.
///
/// What was sent of a body is lost with its connection. A line that carries less between two
/// losses than all the bodies under way have takes none of them, but perhaps one that has all of
/// it. A loss halves their number, and bodies that arrive without a loss in between raise it again
/// one by one; until the first loss there is no limit but that of a line that is limited itself.
final class SendingGate: Sendable {
    /// How an attempt to send a body ended.
    enum End: Sendable {
        case arrived
        case lost
        /// What says nothing of the line.
        case other
    }

    /// Leave to send one body, to be given back.
    struct Pass: Sendable {
        /// Which losses were known when it was given.
        fileprivate let losses: Int
    }

    private struct State {
        var limit = Int.max
        var active = 0
        /// Losses that lowered the limit.
        var losses = 0
        var arrivals = 0
        var nextTicket: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Pass, Never>] = [:]
    }

    private static let arrivalsPerStep = 8

    private let state = Mutex(State())
    /// How many bodies a limited line has room for now; nil for any number.
    private let room: @Sendable () -> Int?

    init(room: @escaping @Sendable () -> Int? = { nil }) { self.room = room }

    /// How many bodies may go at a time; nil for any number.
    var limit: Int? {
        let limit = state.withLock(\.limit)
        return limit == Int.max ? nil : limit
    }

    /// Waits for leave; a task that is cancelled has it at once, and ends by itself.
    func enter() async -> Pass {
        let (pass, ticket): (Pass?, UInt64) = state.withLock { state in
            state.nextTicket += 1
            return (isFree(state) ? Self.admit(&state) : nil, state.nextTicket)
        }
        if let pass { return pass }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let pass: Pass? = state.withLock { state in
                    // There may be room by now, or the task may have ended.
                    guard !isFree(state), !Task.isCancelled else {
                        return Self.admit(&state)
                    }
                    state.waiting[ticket] = continuation
                    return nil
                }
                if let pass { continuation.resume(returning: pass) }
            }
        } onCancel: {
            let found = state.withLock { state in
                state.waiting.removeValue(forKey: ticket).map { ($0, Self.admit(&state)) }
            }
            found?.0.resume(returning: found?.1 ?? Pass(losses: 0))
        }
    }

    /// Gives leave back.
    func leave(_ pass: Pass, _ end: End) {
        let admitted = state.withLock { state in
            switch end {
            case .other: break
            case .arrived: Self.raise(&state)
            case .lost:
                state.arrivals = 0
                // All that one cut ends are one loss.
                if pass.losses == state.losses {
                    state.losses += 1
                    state.limit = max(1, min(state.limit, state.active) / 2)
                }
            }
            state.active -= 1
            return admitWaiting(&state)
        }
        for (continuation, pass) in admitted { continuation.resume(returning: pass) }
    }

    private func isFree(_ state: borrowing State) -> Bool {
        state.active < min(state.limit, room() ?? .max)
    }

    private static func admit(_ state: inout State) -> Pass {
        state.active += 1
        return Pass(losses: state.losses)
    }

    private static func raise(_ state: inout State) {
        guard state.limit < Int.max else { return }
        state.arrivals += 1
        guard state.arrivals >= arrivalsPerStep else { return }
        state.arrivals = 0
        state.limit += 1
    }

    /// Those that have room now, in the order in which they came.
    private func admitWaiting(
        _ state: inout State
    ) -> [(CheckedContinuation<Pass, Never>, Pass)] {
        var admitted: [(CheckedContinuation<Pass, Never>, Pass)] = []
        while isFree(state), let first = state.waiting.keys.min(),
            let continuation = state.waiting.removeValue(forKey: first)
        {
            admitted.append((continuation, Self.admit(&state)))
        }
        return admitted
    }
}
