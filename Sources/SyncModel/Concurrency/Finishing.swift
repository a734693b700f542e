/// Runs `work` to its end although the calling task is cancelled, and waits for it.
///
/// For what must be cleared up after a cancellation. It runs where the caller does: a task without
/// a parent has no preferred executor by itself.
package func finishing<Value: Sendable>(
    _ work: @escaping @Sendable () async -> Value
) async -> Value {
    let executor = unsafe withUnsafeCurrentTask { task in
        unsafe task?.unownedTaskExecutor?.asTaskExecutor()
    }
    return await Task(executorPreference: executor) { await work() }.value
}
