@_exported public import OSSTransfer
@_exported public import SyncEngine

@_exported public import enum SyncModel.ConflictPolicy
@_exported public import enum SyncModel.DeletionLimit
@_exported public import enum SyncModel.LinkPolicy
@_exported public import enum SyncModel.NamePolicy
@_exported public import enum SyncModel.SyncDirection

extension OSSSyncVersion {
    /// The libraries that read what strangers write, with the versions that this machine has of
    /// them: `SQLite 3.40.1`, or what libcurl says of itself and of OpenSSL.
    package static var libraries: [String] { LinkedLibraries.versions }
}
