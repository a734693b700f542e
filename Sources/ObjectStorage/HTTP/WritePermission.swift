/// Whether a sink may write its file, which another machine may have come to own meanwhile.
package struct WritePermission: Sendable {
    /// True if a write may begin at this instant; called on the transport's thread.
    let isGiven: @Sendable () -> Bool
    /// Finds out whether it is given again, and calls back once, on another thread.
    let ask: @Sendable (_ answer: @escaping @Sendable (_ isGiven: Bool) -> Void) -> Void

    /// Both closures return at once.
    package init(
        isGiven: @escaping @Sendable () -> Bool,
        ask: @escaping @Sendable (_ answer: @escaping @Sendable (_ isGiven: Bool) -> Void) -> Void
    ) {
        (self.isGiven, self.ask) = (isGiven, ask)
    }
}
