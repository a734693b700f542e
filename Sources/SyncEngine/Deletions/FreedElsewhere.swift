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
        /// What comes off a key for the list's names.
        var above: [UInt8] = []
        /// What comes before it.
        var below: [UInt8] = []
        /// Nil for a list that is damaged or cannot be read, and may name anything.
        let freed: FreedPaths?

        init(at path: String, above: [UInt8] = [], below: [UInt8] = []) {
            (self.path, self.above, self.below) = (path, above, below)
            do throws(LocalError) {
                let text = try StateFolder.ofDirectory(at: path)?
                    .read(FreedPaths.fileName, limit: FreedPaths.maximumSize)
                freed = text.map { FreedPaths(content: $0) } ?? FreedPaths()
            } catch {
                freed = error.refusesReading ? FreedPaths() : nil
            }
        }

        /// One that may have been elsewhere when it freed anything, whose remote tells the objects.
        ///
        /// Nil if it has freed nothing, or nothing of this remote.
        init?(at path: String, within remote: RemoteIdentity) {
            let identity = (try? StateFolder.ofDirectory(at: path))?
                .flatMap { try? $0.read(StateIdentity.fileName) }
                .flatMap { StateIdentity(content: $0) }
            guard let other = identity?.remote, other.isOfSameBucket(as: remote) else { return nil }
            let (mine, its) = ([UInt8](remote.prefix.utf8), [UInt8](other.prefix.utf8))
            if its.starts(with: mine) {
                self.init(at: path, above: [UInt8](its.dropFirst(mine.count)))
            } else if mine.starts(with: its) {
                self.init(at: path, below: [UInt8](mine.dropFirst(its.count)))
            } else {
                return nil
            }
            if freed?.isEmpty == true { return nil }
        }

        /// Nil if nobody can tell.
        func names(_ key: ObjectKey) -> Bool? {
            guard key.bytes.starts(with: above) else { return false }
            return freed?.contains(inList(key))
        }

        private func inList(_ key: ObjectKey) -> ObjectKey {
            ObjectKey(below + key.bytes.dropFirst(above.count))
        }

        /// The named directory that holds a key, or what is of it in this mirror; nil for a file
        /// that is named itself.
        func directory(of key: ObjectKey) -> ObjectKey? {
            guard let freed, let index = freed.directory(of: inList(key)) else { return nil }
            return ObjectKey(above + freed.keys[index].bytes.dropFirst(below.count))
        }
    }

    private struct Found {
        /// Those around the directory, and those within it that have freed anything.
        var known: [Mirror]?
        /// Of the directories above the last key, the outermost first.
        var within: [Mirror] = []
    }

    private let path: String
    private let remote: RemoteIdentity
    private let nested: [[UInt8]]
    private let found = Mutex(Found())

    /// `nested` are the states of mirrors within the directory, as the walk found them.
    init(_ settings: MirrorSettings, nested: [[UInt8]] = []) {
        (path, remote, self.nested) = (settings.directory, settings.identity, nested)
    }

    /// Those of `batch` that no other mirror freed; the others are reported and stay, and their
    /// rows say so from then on: the mirror that freed them may go to another place.
    func without(
        _ batch: [PlannedDeletion],
        _ context: RunContext
    ) async throws(ManifestError) -> [PlannedDeletion] {
        let mirrors = await context.disk.run { batch.map { self.mirror(thatMayHaveFreed: $0.key) } }
        var rest: [PlannedDeletion] = []
        var freed: [ManifestChange] = []
        for (deletion, mirror) in zip(batch, mirrors) {
            guard let mirror else {
                rest.append(deletion)
                continue
            }
            let name = displayText(mirror.path.utf8)
            let message: String
            if mirror.isKnown {
                if let row = try await context.manifest.entry(deletion.key), !row.isFreed {
                    freed.append(.upsert(row.freed))
                }
                context.tracker.count { $0.onlyRemote += 1 }
                message =
                    "kept: the mirror '\(name)' freed it, so that the object may be the only copy"
            } else {
                context.tracker.count { $0.skipped += 1 }
                message =
                    "kept: what the mirror '\(name)' has freed cannot be read from its '.osssync', "
                    + "so that the object may be the only copy; check that disk"
            }
            context.item(.skip, .skipped, deletion.key, size: deletion.size, message: message)
        }
        if !freed.isEmpty { try await context.manifest.record(freed) }
        return rest
    }

    /// Another mirror or state that freed the file of a key; nil if none did as far as anybody
    /// knows.
    func mirror(thatFreed key: ObjectKey) -> Freeing? {
        mirror(thatMayHaveFreed: key).flatMap { $0.isKnown ? $0 : nil }
    }

    /// A mirror that freed a file, or may have.
    struct Freeing {
        let path: String
        let isKnown: Bool
        /// The key of the directory that was freed; nil for the file itself.
        var directory: ObjectKey?
    }

    private func mirror(thatMayHaveFreed key: ObjectKey) -> Freeing? {
        found.withLock { found in
            let known = found.known ?? mirrorsAround + mirrorsWithin
            found.known = known
            descend(to: key.bytes, &found.within)
            var doubtful: Mirror?
            for mirror in known + found.within {
                switch mirror.names(key) {
                case true?:
                    let directory = mirror.directory(of: key)
                    return Freeing(path: mirror.path, isKnown: true, directory: directory)
                case nil: doubtful = doubtful ?? mirror
                case false?: break
                }
            }
            return doubtful.map { Freeing(path: $0.path, isKnown: false) }
        }
    }

    /// With the one of the directory itself; the innermost first.
    private var mirrorsAround: [Mirror] {
        let places = [(path: path, prefix: [])] + GivenPath.around(path)
        return places.map { Mirror(at: $0.path, below: $0.prefix) }
            + places.compactMap { Mirror(at: $0.path, within: remote) }
    }

    private var mirrorsWithin: [Mirror] {
        nested.compactMap { state in
            let name = state.dropLast(RelativePath.stateDirectoryName.utf8.count + 1)
            return Mirror(
                at: path + "/" + String(decoding: name, as: UTF8.self),
                within: remote
            )
        }
    }

    /// Makes `mirrors` those of the directories above a key: of all others, nothing is kept.
    private func descend(to key: [UInt8], _ mirrors: inout [Mirror]) {
        while let last = mirrors.last, !key.starts(with: last.above) { mirrors.removeLast() }
        let known = mirrors.last?.above.count ?? 0
        for step in key.indices.dropFirst(known).dropLast() where key[step] == UInt8(ascii: "/") {
            let place = path + "/" + String(decoding: key[..<step], as: UTF8.self)
            mirrors.append(Mirror(at: place, above: [UInt8](key[...step])))
        }
    }
}
