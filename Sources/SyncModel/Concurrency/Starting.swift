/// Begins work for which the caller does not wait, and returns what cancels it.
///
/// For a transfer that outlives the call that started it, and for a closure of the app that may
/// never return. The work runs to its end, whatever becomes of the caller.
@discardableResult
package func starting(
    _ work: @escaping @Sendable () async -> Void
) -> @Sendable () -> Void {
    let task = Task { await work() }
    return { task.cancel() }
}
