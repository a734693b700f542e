internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Whether a new file or directory can have its name, asked before its content is fetched.
struct FilePlaces: ItemWorker {
    let parts: ItemParts

    /// What is in the place of a file or link that the walk did not see; nil if nothing is.
    func obstacle(of entry: JoinedEntry, at path: RelativePath) async -> SkipReason? {
        guard entry.local == nil else { return nil }
        if await isDirectory(path) { return .shadowedByDirectory }
        if path.isLink, await isFile(path) { return .fileAtLink }
        return nil
    }

    /// Why a file could not get its name, found before it is fetched; nil if nothing is known.
    func placeRefusal(_ path: RelativePath, replaces: Bool) async -> LocalError? {
        let directory = context.directory
        if !replaces, directory.names.isKnown(path) { return nil }
        do {
            try await context.closed.writing([path]) { () throws(LocalError) in
                try directory.names.require(path, replaces: replaces)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Why a file that would be fetched is not, or a directory not made.
    enum Hindrance: Sendable {
        case refused(ItemFailure)
        case occupied(SkipReason)

        var message: String {
            switch self {
            case .refused(let failure): failure.message
            case .occupied(let reason): reason.message
            }
        }
    }

    /// The same for what changes nothing, by looks only.
    ///
    /// Not every disk tells in this way what names it refuses.
    func hindrance(_ entry: JoinedEntry) async -> Hindrance? {
        guard let path = try? context.path(of: entry) else { return nil }
        let replaces = entry.local != nil
        do throws(ItemFailure) {
            if let object = entry.remote, entry.key == IgnoreFile.key {
                try IgnoreFile.check(object)
            }
        } catch {
            return .refused(error)
        }
        do {
            try await context.onDisk { directory throws(LocalError) in
                try directory.names.requireSeen(path, replaces: replaces)
            }
        } catch {
            return .refused(ItemFailure(ofChange: error))
        }
        // The plan has seen what is in the place of any other key.
        guard !replaces, path.isLink || path.isEscaped else { return nil }
        return await obstacle(of: entry, at: path).map { .occupied($0) }
    }

    /// True where something that is excluded, or came since the walk, is in the way of a new file:
    /// seen before its content is fetched.
    private func isDirectory(_ path: RelativePath) async -> Bool {
        guard parts.absent.last.withLock({ $0 == nil || $0 != path.parent }) else { return false }
        do {
            let found = try await context.onDisk { directory throws(LocalError) in
                try directory.state(at: path)
            }
            if found == nil { parts.absent.last.withLock { $0 = path.parent } }
            return found == .directory
        } catch {
            return false
        }
    }

    /// True if a file has the name of a link.
    private func isFile(_ path: RelativePath) async -> Bool {
        guard let name = try? RelativePath(key: ObjectKey(path.bytes)) else { return false }
        let found = try? await context.state(of: name)
        if case .file? = found { return true }
        return false
    }

    /// Another name in the directory that a store may take for one on the way to this file.
    func otherSpelling(_ path: RelativePath) async -> String? {
        let directory = context.directory
        guard !path.isEscaped, !directory.names.hasNoOtherSpelling(path) else { return nil }
        return await context.disk.run { directory.names.otherSpelling(of: path) }
    }

    /// Why a new key's file cannot be made; nil if its name is free.
    func nameCollision(_ path: RelativePath) async -> LocalError? {
        let collision = try? await context.onDisk { directory throws(LocalError) in
            try directory.names.collision(path)
        }
        return collision ?? nil
    }
}
