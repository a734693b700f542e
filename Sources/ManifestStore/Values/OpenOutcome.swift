/// What was found where the manifest should be.
package enum OpenOutcome: Sendable, Hashable {
    case opened
    /// There was none.
    case created
    /// What was there could not be used: it was set aside under the name `movedAside`, in the same
    /// directory, and an empty one was made.
    ///
    /// The name is nil if an earlier run had set it aside already and got no further. `reason` is
    /// safe to print.
    case recreated(movedAside: String?, reason: String)
}
