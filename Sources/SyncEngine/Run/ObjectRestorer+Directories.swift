internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// Markers that did not come back, of directories that fewer users may enter than others.
final class FailedMarkers: Sendable {
    private let keys = Mutex<Set<ObjectKey>>([])

    func add(_ key: ObjectKey) { keys.withLock { _ = $0.insert(key) } }

    func above(_ key: ObjectKey) -> ObjectKey? {
        keys.withLock { keys in
            keys.isEmpty ? nil : key.directoriesAbove.first { keys.contains($0) }
        }
    }
}

/// Markers in the trash, which come back before the files in their directories: also those that
/// later runs removed than the one that is meant, because a directory is emptied first.
struct LaterMarkers {
    fileprivate(set) var copies: [ObjectKey: TrashedObjects.Copy] = [:]

    /// Those of directories above files that come back, each once.
    mutating func taken(
        above files: [TrashedObjects.Copy],
        isAbsent: (RelativePath) async throws -> Bool
    ) async throws -> [TrashedObjects.Copy] {
        guard !copies.isEmpty else { return [] }
        let own = Set(files.map(\.key))
        for key in own { copies[key] = nil }
        var taken: [TrashedObjects.Copy] = []
        for key in Set(files.flatMap(\.key.directoriesAbove)) where !own.contains(key) {
            guard let copy = copies.removeValue(forKey: key),
                let path = try? RelativePath(key: key), try await isAbsent(path)
            else { continue }
            taken.append(copy)
        }
        return taken
    }
}

/// Markers of directories, which have their permissions.
extension ObjectRestorer {
    /// Copies back the markers of directories above `path` that are missing here and in the bucket:
    /// the pull that downloads the file makes them by their markers.
    func restoreMarkers(
        above path: RelativePath?,
        _ outcome: inout Outcome,
        find: (ObjectKey) async throws -> TrashedObjects.Copy?
    ) async throws {
        guard bringsFiles, request.outside == nil, request.target == nil else { return }
        var missing: [RelativePath] = []
        var next = path?.parent
        while let parent = next, try await isAbsent(parent) {
            missing.append(parent)
            next = parent.parent
        }
        for parent in missing.reversed() {
            let whole = ObjectKey(trash.prefix.bytes + parent.key.bytes)
            guard try await !isThere(whole), let copy = try await find(parent.key) else { continue }
            try await restore([copy], beneath: nil, to: nil, &outcome)
        }
    }

    /// Those of these runs, the nearest of each.
    func markers(
        in runs: [TrashOfRun],
        beneath path: RelativePath?
    ) async throws -> LaterMarkers {
        var markers = LaterMarkers()
        for run in runs {
            let beginning = run.name + [UInt8(ascii: "/")] + (path?.key.bytes ?? [])
            try await trash.forEachPage(beginning) { copies in
                for copy in copies where copy.key.isDirectoryMarker {
                    if markers.copies[copy.key] == nil { markers.copies[copy.key] = copy }
                }
                return true
            }
        }
        return markers
    }

    /// True for the marker of a directory that would be open to more users without it.
    func closesMore(_ marker: TrashedObjects.Copy) async -> Bool {
        guard let mode = try? await permissions(ofMarker: marker) else { return true }
        return Permissions.opensMore(nil, than: mode)
    }

    /// The marker of a directory as the bucket had it, or has it.
    func marker(_ key: ObjectKey, in store: any ObjectReader) async throws -> TrashedObjects.Copy? {
        let whole = ObjectKey(trash.prefix.bytes + key.bytes)
        let page = try await store.list(
            ListRequest(prefix: whole, delimiter: nil, maximumKeys: 1)
        )
        return page.objects.first { $0.key == whole }
            .map { TrashedObjects.Copy(object: $0, run: .init(name: []), key: key) }
    }

    /// The permissions for the directory of a marker, as those of a pull; always those that its
    /// owner needs to put files there.
    func permissions(ofMarker copy: TrashedObjects.Copy) async throws -> UInt32 {
        let version = try await past?.version(of: copy.object.key)
        let marker = try await trash.store.head(copy.object.key, versionID: version)
        guard let mode = FileMode.of(marker, .directory) else { return 0o777 }
        return mode | 0o700
    }

    func isAbsent(_ path: RelativePath) async throws(LocalError) -> Bool {
        let directory = directory
        return try await disk.run { () throws(LocalError) in
            try directory.identity(of: path) == .absent
        }
    }

    private func isThere(_ whole: ObjectKey) async throws(StorageError) -> Bool {
        do throws(StorageError) {
            _ = try await trash.store.head(whole, knownSize: 0)
            return true
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }
}
