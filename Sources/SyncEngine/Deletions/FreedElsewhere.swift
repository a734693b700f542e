internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// What mirrors around the directory, and within it, have freed, and another user's mirror of it:
/// their objects may be the only copies, whichever of the mirrors deletes them.
///
/// A file is named in such a list before it goes. So a list that is read when an object is to be
/// deleted has every file that was freed before the walk missed it.
final class FreedElsewhere: Sendable {
    private struct Mirror {
        let path: String
        /// What comes off a key, or before it, for the list's names.
        let prefix: [UInt8]
        /// Nil for a list that is damaged, and may name anything.
        let freed: FreedPaths?

        init(at path: String, prefix: [UInt8]) {
            (self.path, self.prefix) = (path, prefix)
            let text = StateFolder.ofDirectory(at: path).flatMap { folder in
                try? folder.read(FreedPaths.fileName, limit: FreedPaths.maximumSize)
            }
            freed = text.map { FreedPaths(content: $0) } ?? FreedPaths()
        }

        func names(_ bytes: [UInt8]) -> Bool { freed?.contains(ObjectKey(bytes)) ?? true }
    }

    private struct Found {
        var around: [Mirror]?
        /// Of the directories above the last key, the outermost first.
        var within: [Mirror] = []
    }

    private let context: RunContext
    private let path: String
    private let found = Mutex(Found())

    init(_ context: RunContext) {
        (self.context, path) = (context, context.setup.settings.directory)
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
        found.withLock { found in
            let around = found.around ?? mirrorsAround
            found.around = around
            if let mirror = around.first(where: { $0.names($0.prefix + key.bytes) }) {
                return mirror.path
            }
            descend(to: key.bytes, &found.within)
            let within = found.within.first { mirror in
                mirror.names([UInt8](key.bytes.dropFirst(mirror.prefix.count)))
            }
            return within?.path
        }
    }

    /// With the one of the directory itself; the innermost first.
    private var mirrorsAround: [Mirror] {
        ([(path, [])] + GivenPath.around(path)).map { Mirror(at: $0, prefix: $1) }
    }

    /// Makes `mirrors` those of the directories above a key: of all others, nothing is kept.
    private func descend(to key: [UInt8], _ mirrors: inout [Mirror]) {
        while let last = mirrors.last, !key.starts(with: last.prefix) { mirrors.removeLast() }
        let known = mirrors.last?.prefix.count ?? 0
        for step in key.indices.dropFirst(known).dropLast() where key[step] == UInt8(ascii: "/") {
            let place = path + "/" + String(decoding: key[..<step], as: UTF8.self)
            mirrors.append(Mirror(at: place, prefix: [UInt8](key[...step])))
        }
    }
}
