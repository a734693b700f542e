internal import CLibrary

/// A lock whose waiters sleep at once.
///
/// Those of the standard library spin first, for longer than a statement of SQL takes; that takes
/// the processors from the client, where both run on few. So what every request locks is one of
/// these.
///
/// Safe, because the value is used only by the thread that holds the lock.
@safe final class SleepingLock<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
