internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

extension ObjectKey {
    /// The keys that sort before this one as a file and whose directory would sort behind it, or
    /// hold it: a cut at this key parts such a file from the directory of its name.
    var possibleFiles: [ObjectKey] {
        bytes.indices.dropFirst().filter { index in
            bytes[index] <= UInt8(ascii: "/") && bytes[index - 1] != UInt8(ascii: "/")
        }.map { ObjectKey(bytes[..<$0]) }
    }
}

/// Looks on both sides whether a key is a file's.
struct SplitCheck: Sendable {
    private let settings: MirrorSettings
    private let directory: MirrorDirectory

    init(_ settings: MirrorSettings, _ directory: MirrorDirectory) {
        (self.settings, self.directory) = (settings, directory)
    }

    func isFile(_ key: ObjectKey) async throws -> Bool {
        do throws(StorageError) {
            let whole = ObjectKey(settings.prefix.bytes + key.bytes)
            _ = try await settings.store.head(whole, versionID: nil)
            return true
        } catch {
            guard error.isNotFound else { throw error }
        }
        // What can have no file here has none.
        guard let path = try? RelativePath(key: key) else { return false }
        switch try? directory.identity(of: path) {
        case .file, .other: return true
        case .directory, .absent, nil: return false
        }
    }
}
