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

    private let interference: Interference?

    package init(_ rules: [Rule]) {
        self.rules = rules
        interference = nil
        state = Mutex(State(counts: rules.map { _ in 0 }))
    }

    /// Runs `body` right before those calls, counted from 1, and gives it the call's number: what
    /// another process does at that moment.
    package init(
        before numbers: Set<Int>,
        of call: String,
        _ rules: [Rule] = [],
        _ body: @escaping @Sendable (Int) -> Void
    ) {
        self.rules = rules
        interference = Interference(call: call, numbers: numbers, body: body)
        state = Mutex(State(counts: rules.map { _ in 0 }))
    }

    package convenience init(_ effect: Effect, at number: Int, of calls: Set<String>) {
        self.init([Rule(effect, at: number, of: calls)])
    }

    private final class Interference: Sendable {
        let call: String
        let numbers: Set<Int>
        let body: @Sendable (Int) -> Void
        private let count = Atomic<Int>(0)

        init(call: String, numbers: Set<Int>, body: @escaping @Sendable (Int) -> Void) {
            self.call = call
            self.numbers = numbers
            self.body = body
        }

        func happens(before name: String) {
            guard name == call else { return }
            let number = count.add(1, ordering: .relaxed).newValue
            if numbers.contains(number) { body(number) }
        }
    }

    /// The calls so far that the first rule counts.
    package var count: Int { state.withLock { $0.counts.first ?? 0 } }

    /// The first call that was made to fail by the first rule; nil if none was.
    package var firedCall: String? { state.withLock { $0.firedCall } }

    /// The error that this call must report; nil to continue.
    func errno(for call: StaticString) -> Int32? {
        let name = call.description
        interference?.happens(before: name)
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
