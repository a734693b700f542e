internal import LocalStorage
internal import SyncModel
internal import Synchronization

/// Reports what the walk could not take, and knows what that hides from the plan.
final class ScanIssues: Sendable {
    private struct State {
        var isIncomplete = false
        /// Paths at and beneath which something may be that the walk gave no entry for.
        var hidden: Set<[UInt8]> = []
        /// Where other file systems begin; nil until the walk has ended, or if there are too many.
        var mountPoints: [[UInt8]]?
    }

    private let state = Mutex(State())
    private let onIssue: @Sendable (WalkIssue) -> Void

    init(onIssue: @escaping @Sendable (WalkIssue) -> Void) {
        self.onIssue = onIssue
    }

    /// True if the walk read every directory.
    var isScanProven: Bool { !state.withLock { $0.isIncomplete } }

    func report(_ issue: WalkIssue) {
        state.withLock { state in
            if issue.makesScanIncomplete { state.isIncomplete = true }
            state.hidden.insert(issue.path)
        }
        onIssue(issue)
    }

    /// Where the whole walk found other file systems; nil if it does not know.
    var mountPoints: [[UInt8]]? {
        get { state.withLock { $0.mountPoints } }
        set { state.withLock { $0.mountPoints = newValue } }
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
