internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// `.osssyncignore` at the top of a mirrored directory: what runs leave alone there.
///
/// It is mirrored like any other file, so that all mirrors of a prefix share it.
enum IgnoreFile {
    static let name = ".osssyncignore"
    /// Enough for a person; every pattern is held against every path, and whoever may write to the
    /// bucket may write this file.
    private static let maximumSize: Int64 = 64 << 10
    /// The setting in the manifest that tells whether the patterns are those of the last run.
    private static let fingerprintSetting = "filter.fingerprint"

    /// The rules of the file; none if there is no such file.
    ///
    /// - Throws: If it is there and cannot be read or understood: a run without it could upload
    ///   what was never meant to leave the machine.
    static func rules(in directory: MirrorDirectory) throws -> FileFilter {
        let path = try RelativePath(key: ObjectKey(name))
        let file: OpenFile
        do throws(LocalError) {
            file = try directory.openForReading(path)
        } catch {
            if case .absent = error { return FileFilter() }
            throw error
        }
        let size = try file.identity().size
        guard size <= maximumSize else {
            throw unusable("it is larger than 64 KiB")
        }
        let bytes = try file.read(at: 0, length: Int(size))
        do throws(FileFilter.InvalidPattern) {
            return try FileFilter(ignoreFile: bytes)
        } catch {
            throw unusable(error.message)
        }
    }

    private static func unusable(_ reason: String) -> SyncError {
        SyncError(
            code: .configuration,
            message: "'\(name)' cannot be used: \(reason). Nothing was transferred."
        )
    }

    /// Records the patterns of this run; true if they are others than those of the last one.
    static func records(
        _ filter: FileFilter,
        in manifest: ManifestStore
    ) async throws(ManifestError) -> Bool {
        let found = String(CRC64(of: filter.text).value, radix: 16)
        let none = String(CRC64(of: []).value, radix: 16)
        let recorded = try await manifest.setting(fingerprintSetting)
        guard found != recorded ?? none else { return false }
        try await manifest.setSetting(fingerprintSetting, found)
        return true
    }
}
