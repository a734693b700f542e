internal import SyncEngine

/// The version of osssync, as `osssync --version` and the `User-Agent` header show it.
public enum Version {
    /// By the rules of semantic versioning.
    public static let text = "0.1.0"

    /// The libraries that read what strangers write, with the versions that this machine has of
    /// them: `SQLite 3.40.1`, or what libcurl says of itself and of OpenSSL.
    public static var libraries: [String] { LinkedLibraries.versions }
}
