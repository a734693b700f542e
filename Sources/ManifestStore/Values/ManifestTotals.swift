/// What the entries of all files come to.
package struct ManifestTotals: Sendable, Hashable {
    package let files: Int64
    package let bytes: Int64
    /// Files that were found damaged and are not repaired.
    package let damagedFiles: Int64
}
