internal import LocalStorage
internal import SyncModel
internal import Synchronization

/// Breaks the circle between the publication queue and the executor that judges its failures.
final class FailureReporter: Sendable {
    private let target = Mutex<(@Sendable (ObjectKey, ItemAction, ItemFailure) -> Void)?>(nil)

    func attach(_ target: @escaping @Sendable (ObjectKey, ItemAction, ItemFailure) -> Void) {
        self.target.withLock { $0 = target }
    }

    func report(_ key: ObjectKey, _ action: ItemAction, _ failure: ItemFailure) {
        target.withLock { $0 }?(key, action, failure)
    }
}

/// Reports what the walk could not take, and knows what that hides from the plan.
final class ScanIssues: Sendable {
    private struct State {
        var isIncomplete = false
        /// Paths at and beneath which something may be that the walk gave no entry for.
        var hidden: Set<[UInt8]> = []
        var onIssue: (@Sendable (WalkIssue) -> Void)?
    }

    private let state = Mutex(State())

    func attach(_ onIssue: @escaping @Sendable (WalkIssue) -> Void) {
        state.withLock { $0.onIssue = onIssue }
    }

    /// True if the walk read every directory.
    var isScanProven: Bool { !state.withLock { $0.isIncomplete } }

    func report(_ issue: WalkIssue) {
        let onIssue = state.withLock { state in
            if issue.makesScanIncomplete { state.isIncomplete = true }
            state.hidden.insert(issue.path)
            return state.onIssue
        }
        onIssue?(issue)
    }

    /// True for a key at or beneath a path that the walk could not take.
    func hides(_ key: ObjectKey) -> Bool {
        state.withLock { state in
            guard !state.hidden.isEmpty else { return false }
            if state.hidden.contains(key.bytes) { return true }
            for index in key.bytes.indices where key.bytes[index] == UInt8(ascii: "/") {
                if state.hidden.contains([UInt8](key.bytes[..<index])) { return true }
            }
            return false
        }
    }
}
