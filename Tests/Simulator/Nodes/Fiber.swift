internal import Foundation

/// A thread that runs only while its maker waits for it, and stops in the middle of its work where
/// it says so.
///
/// Unchecked, because of a fiber and its maker only one runs at a time.
final class Fiber: @unchecked Sendable {
    private let resumption = DispatchSemaphore(value: 0)
    private let pause = DispatchSemaphore(value: 0)
    private(set) var isFinished = false

    private static let stackSize = 4 << 20

    init(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            resumption.wait()
            body()
            isFinished = true
            pause.signal()
        }
        thread.stackSize = Self.stackSize
        thread.start()
    }

    /// Lets it go on until it stops or ends.
    func resume() {
        resumption.signal()
        pause.wait()
    }

    /// Called within: lets the maker go on.
    func stop() {
        pause.signal()
        resumption.wait()
    }
}
