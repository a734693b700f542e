/// What a run makes of files that were freed.
package enum FreedPolicy: Sendable, Hashable {
    /// They are only in the bucket, and remain so.
    case stay
    /// They are fetched, and what the bucket has lost of them is named.
    case comeBack
    /// They are fetched, and what the bucket has lost of them is given up.
    case comeBackOrEnd

    var bringsBack: Bool { self != .stay }
}
