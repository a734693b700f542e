/// The version of osssync, as `osssync --version` and the `User-Agent` header show it.
package enum OSSSyncVersion {
    /// By the rules of semantic versioning.
    package static let text = "0.1.0"
}
