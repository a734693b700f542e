internal import Synchronization

/// Makes the Nth system call fail, for tests; nothing else makes one.
///
/// Counting starts at 1 and covers the calls named by `calls`, or all of them.
package final class SystemCallFaults: Sendable {
    package enum Effect: Sendable, Hashable {
        /// The call is not made and reports this error, once.
        case fail(errno: Int32)
        /// From this call on nothing is done any more, as if the process had died.
        case failFromHereOn(errno: Int32)
        /// Every read or write from here on moves at most this many bytes.
        case shorten(bytes: Int)
    }

    private struct State {
        var count = 0
        var firedCall: String?
    }

    private let effect: Effect
    private let number: Int
    private let calls: Set<String>
    private let state = Mutex(State())

    /// - Parameters:
    ///   - effect: What happens.
    ///   - number: At which call, from 1; 0 only counts.
    ///   - calls: The calls that count; none means all.
    package init(_ effect: Effect, at number: Int, of calls: Set<String>) {
        self.effect = effect
        self.number = number
        self.calls = calls
    }

    /// The calls so far that count.
    package var count: Int { state.withLock { $0.count } }

    /// The first call that was made to fail; nil if none was.
    package var firedCall: String? { state.withLock { $0.firedCall } }

    /// The error that this call has to report; nil to go on.
    func errno(for call: StaticString) -> Int32? {
        let name = call.description
        guard calls.isEmpty || calls.contains(name) else { return nil }
        return state.withLock { state in
            state.count += 1
            let result: Int32? =
                switch effect {
                case .fail(let errno): state.count == number ? errno : nil
                case .failFromHereOn(let errno):
                    number > 0 && state.count >= number ? errno : nil
                case .shorten: nil
                }
            if result != nil, state.firedCall == nil { state.firedCall = name }
            return result
        }
    }

    /// The most bytes that a read or write of `count` may move.
    func length(_ count: Int) -> Int {
        guard case .shorten(let bytes) = effect else { return count }
        return state.withLock { $0.count >= number } ? min(count, bytes) : count
    }
}
