/// Whether a bucket keeps the versions of its objects.
package enum VersioningStatus: String, Sendable, Hashable {
    case enabled = "Enabled"
    case suspended = "Suspended"
    /// Versions were never kept.
    case never = ""
}
