internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// What mirrors around the directory, and within it, have freed: their objects may be the only
/// copies, whichever of the mirrors deletes them.
///
/// A file is named in such a list before it goes. So a list that is read when an object is to be
/// deleted has every file that was freed before the walk missed it.
final class FreedElsewhere: Sendable {
    private let context: RunContext
    private let path: String
    /// By the directories of the mirrors; nil for a list that is damaged, and may name anything.
    private let lists = Mutex<[String: FreedPaths?]>([:])

    init(_ context: RunContext) {
        self.context = context
        let directory = context.setup.settings.directory
        path = (try? GivenPath.resolved(directory)) ?? directory
    }

    /// Those of `batch` that no other mirror freed; the others are reported and stay.
    func without(_ batch: [PlannedDeletion]) async -> [PlannedDeletion] {
        let mirrors = await context.disk.run { batch.map { self.mirror(thatFreed: $0.key) } }
        var rest: [PlannedDeletion] = []
        for (deletion, mirror) in zip(batch, mirrors) {
            guard let mirror else {
                rest.append(deletion)
                continue
            }
            context.tracker.count { $0.onlyRemote += 1 }
            let message =
                "kept: the mirror '\(displayText(mirror.utf8))' freed it, so that the object may "
                + "be the only copy"
            context.item(.skip, .skipped, deletion.key, size: deletion.size, message: message)
        }
        return rest
    }

    /// The directory of another mirror that freed the file of a key; nil if none did.
    private func mirror(thatFreed key: ObjectKey) -> String? {
        let steps = path.utf8.indices.filter { path.utf8[$0] == UInt8(ascii: "/") }
        for step in steps.dropFirst().reversed() {
            let rest = path.utf8[path.utf8.index(after: step)...]
            let place = String(path[..<step])
            if names(ObjectKey([UInt8](rest) + [UInt8(ascii: "/")] + key.bytes), place) {
                return place
            }
        }
        for step in key.bytes.indices.dropLast() where key.bytes[step] == UInt8(ascii: "/") {
            let place = path + "/" + String(decoding: key.bytes[..<step], as: UTF8.self)
            if names(ObjectKey(key.bytes[(step + 1)...]), place) { return place }
        }
        return nil
    }

    private func names(_ key: ObjectKey, _ place: String) -> Bool {
        let list = lists.withLock { lists in
            if let known = lists[place] { return known }
            let text = StateFolder.ofDirectory(at: place).flatMap { folder in
                try? folder.read(FreedPaths.fileName, limit: FreedPaths.maximumSize)
            }
            let read = text.map { FreedPaths(content: $0) } ?? FreedPaths()
            lists.updateValue(read, forKey: place)
            return read
        }
        return list?.contains(key) ?? true
    }
}
