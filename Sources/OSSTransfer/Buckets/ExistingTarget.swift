/// What happens if there is already something where a file or an object is to go.
@nonexhaustive
public enum ExistingTarget: Sendable, Hashable {
    /// It is replaced, at one instant, by the complete new one.
    case replace
    /// It is kept, and the operation fails with code `alreadyExists`.
    case fail
}
