/// Runs `work` to its end although the calling task is cancelled, and waits for it.
///
/// For what must be cleared up after a cancellation; beside the entry point the only place that
/// starts a task without a parent.
package func finishing<Value: Sendable>(
    _ work: @escaping @Sendable () async -> Value
) async -> Value {
    await Task { await work() }.value
}
