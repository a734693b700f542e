/// What a run makes of files that were freed.
package enum FreedPolicy: Sendable, Hashable {
    /// They are only in the bucket, and remain so.
    case stay
    /// They are fetched, and what the bucket has lost of them is named.
    case comeBack
    /// They are fetched, and nobody expects any more what the bucket has lost of them.
    case comeBackOrEnd

    var comeBack: Bool { self != .stay }
}
