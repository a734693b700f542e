internal import Synchronization

/// Makes the Nth system call fail, for tests; nothing else makes one.
package final class SystemCallFaults: Sendable {
    package enum Effect: Sendable, Hashable {
        /// The call is not made and reports this error, once.
        case fail(errno: Int32)
        /// From this call on nothing is done any more, as if the process had died.
        case failFromHereOn(errno: Int32)
        /// Every read or write from here on moves at most this many bytes.
        case shorten(bytes: Int)
    }

    package struct Rule: Sendable, Hashable {
        let effect: Effect
        let number: Int
        let calls: Set<String>

        /// - Parameters:
        ///   - effect: What happens.
        ///   - number: At which call, from 1; 0 only counts.
        ///   - calls: The calls that count; none means all.
        package init(_ effect: Effect, at number: Int, of calls: Set<String>) {
            self.effect = effect
            self.number = number
            self.calls = calls
        }
    }

    private struct State {
        /// By rule.
        var counts: [Int]
        var firedCall: String?
    }

    private let rules: [Rule]
    private let state: Mutex<State>

    package init(_ rules: [Rule]) {
        self.rules = rules
        state = Mutex(State(counts: rules.map { _ in 0 }))
    }

    package convenience init(_ effect: Effect, at number: Int, of calls: Set<String>) {
        self.init([Rule(effect, at: number, of: calls)])
    }

    /// The calls so far that the first rule counts.
    package var count: Int { state.withLock { $0.counts.first ?? 0 } }

    /// The first call that was made to fail by the first rule; nil if none was.
    package var firedCall: String? { state.withLock { $0.firedCall } }

    /// The error that this call has to report; nil to go on.
    func errno(for call: StaticString) -> Int32? {
        let name = call.description
        return state.withLock { state in
            var result: Int32?
            for (index, rule) in rules.enumerated() {
                guard rule.calls.isEmpty || rule.calls.contains(name) else { continue }
                state.counts[index] += 1
                let count = state.counts[index]
                let fault: Int32? =
                    switch rule.effect {
                    case .fail(let errno): count == rule.number ? errno : nil
                    case .failFromHereOn(let errno):
                        rule.number > 0 && count >= rule.number ? errno : nil
                    case .shorten: nil
                    }
                if fault != nil, index == 0, state.firedCall == nil { state.firedCall = name }
                result = result ?? fault
            }
            return result
        }
    }

    /// The most bytes that a read or write of `count` may move.
    func length(_ count: Int) -> Int {
        state.withLock { state in
            var length = count
            for (index, rule) in rules.enumerated() {
                guard case .shorten(let bytes) = rule.effect,
                    state.counts[index] >= rule.number
                else { continue }
                length = min(length, bytes)
            }
            return length
        }
    }
}
