/// The version of osssync, as `osssync --version` and the `User-Agent` header show it.
public enum OSSSyncVersion {
    /// By the rules of semantic versioning.
    public static let text = "0.1.0"
}
