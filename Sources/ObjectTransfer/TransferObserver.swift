/// Closures that are called when something happens in a transfer.
package struct TransferObserver: Sendable {
    /// It is known what an earlier attempt left; called again if everything starts over.
    package var began: @Sendable (TransferCounter, _ isResumed: Bool) -> Void
    /// What was there already is of no use.
    package var startedOver: @Sendable (StartOverReason) -> Void
    /// Something that the user should know, and that does not end the transfer.
    package var warned: @Sendable (String) -> Void

    package init(
        began: @escaping @Sendable (TransferCounter, _ isResumed: Bool) -> Void,
        startedOver: @escaping @Sendable (StartOverReason) -> Void,
        warned: @escaping @Sendable (String) -> Void
    ) {
        self.began = began
        self.startedOver = startedOver
        self.warned = warned
    }
}
