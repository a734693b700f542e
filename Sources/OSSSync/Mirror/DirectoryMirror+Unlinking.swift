internal import SyncEngine
internal import SyncModel

extension DirectoryMirror {
    /// Ends the link of a directory: files, trash and manifest stay, and so do defaults of options
    /// in its configuration.
    ///
    /// - Returns: The remote that the directory was linked with.
    /// - Throws: `SyncError`: `configuration` if the directory is not linked, `locked` while a run
    ///   holds it.
    public static func unlink(
        directory: String,
        stateDirectory: String?
    ) throws(SyncError) -> BucketLocation {
        let content = try MirrorLink.read(directory: directory, stateDirectory: stateDirectory)
        let path = DirectoryConfiguration.path(
            directory: directory,
            stateDirectory: stateDirectory
        )
        guard let content, let link = try LinkFile(content, path: path) else {
            throw SyncError(
                code: .configuration,
                message: "'\(displayText(directory))' is not linked with a remote"
            )
        }
        try MirrorLink.replace(
            with: LinkFile.unlinked(content),
            directory: directory,
            stateDirectory: stateDirectory
        )
        return try BucketLocation(parsing: link.remote)
    }
}
