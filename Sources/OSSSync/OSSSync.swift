@_exported public import OSSTransfer
@_exported public import SyncEngine

extension OSSSyncVersion {
    /// The libraries that read what strangers write, with the versions that this machine has of
    /// them: `SQLite 3.40.1`, or what libcurl says of itself and of OpenSSL.
    public static var libraries: [String] { LinkedLibraries.versions }
}
