internal import Synchronization

/// Tells work on another thread that its result is no longer needed.
package final class Interruption: Sendable {
    private let flag = Atomic<Bool>(false)

    package init() {}

    package func raise() {
        flag.store(true, ordering: .releasing)
    }

    package var isRaised: Bool { flag.load(ordering: .acquiring) }
}
