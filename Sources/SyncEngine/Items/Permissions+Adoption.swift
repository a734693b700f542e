internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Permissions where both sides have the same content, and no run made one of the other.
///
/// The row says what the object stands for, as any other row does: what differs from that here was
/// changed here, and is sent by a push.
extension Permissions {
    /// What the object stands for here.
    ///
    /// A file as every new one is here needs no request: no copy of it is more private than it is.
    /// An object of another tool, without permissions, stands for such a file; but a pull has
    /// nothing to restore then, and takes the file as it is.
    func adoptedMode(_ entry: JoinedEntry, _ known: ObjectMetadata?) async -> UInt32? {
        let found = entry.local?.permissions
        let ordinary = MirrorDirectory.ordinaryPermissions & 0o666
        guard context.options.keepsFileMetadata, context.policy.judgesInodes,
            let object = entry.remote,
            entry.local?.isLink == false, !object.isThroughLink, known != nil || found != ordinary
        else { return found }
        do {
            let metadata: ObjectMetadata
            if let known {
                metadata = known
            } else {
                metadata = try await head(entry.key)
            }
            guard metadata.etag == object.etag else { return found }
            guard let mode = FileMode.of(metadata) else {
                return context.tracker.direction == .pull ? found : ordinary
            }
            let meant = mode & MirrorDirectory.ordinaryPermissions | 0o400
            // A push does not give others access that the object, unknown here, does not give.
            let isOpener = found.map { $0 & ~meant != 0 } ?? false
            return isOpener && context.tracker.direction == .push ? found : meant
        } catch {
            // The contents are equal all the same, and what the object stands for is unknown.
            return nil
        }
    }

    /// Which side gets the permissions of the other one, if the object stands for `mode`.
    func adoptedTarget(_ entry: JoinedEntry, _ mode: UInt32?) -> ModeTarget? {
        guard let mode, let found = entry.local?.permissions, mode != found,
            entry.remote?.needsRestore == false
        else { return nil }
        // Another writer's version of what is unchanged here.
        let isOwn = entry.base?.mode != found
        switch context.tracker.direction {
        case .push: return .object
        case .sync: return isOwn && found & ~mode == 0 ? .object : .file
        case .pull: return isOwn && !context.options.replacesLocalChanges ? .neither : .file
        }
    }

    /// Carries the permissions after the contents were found equal.
    func carryAdopted(_ entry: JoinedEntry, _ row: ManifestEntry) async {
        guard let target = adoptedTarget(entry, row.mode) else { return }
        let mode = target == .file ? entry.local?.permissions : row.mode
        let adopted = JoinedEntry(
            key: entry.key,
            base: row.replacing(mode: mode),
            local: entry.local,
            remote: entry.remote
        )
        await carryMode(adopted, to: target, readSince: nil)
    }
}

// MARK: - Markers that are sent for permissions

extension Permissions {
    /// The permissions that a new marker of the directory records; nil for those that every
    /// directory has.
    func recordedMode(_ entry: JoinedEntry) -> UInt32? {
        guard context.options.keepsFileMetadata, let found = entry.local?.permissions,
            !isOrdinaryDirectory(found, here: context.policy.ordinaryDirectory)
        else { return nil }
        return found
    }

    /// True if other machines would let more users into the directory without what is to be sent
    /// of its permissions.
    func closesMore(_ entry: JoinedEntry) -> Bool {
        guard entry.local?.kind == .directory(isEmpty: false),
            entry.remote != nil || recordedMode(entry) != nil
        else { return false }
        return Self.opensMore(entry.base?.mode, than: entry.local?.permissions)
    }

    /// True if the one lets more users into a directory than the other; nil is what a marker
    /// without permissions stands for.
    static func opensMore(_ mode: UInt32?, than other: UInt32?) -> Bool {
        (mode ?? 0o755) & ~(other ?? 0o755) & 0o055 != 0
    }

    /// True for a store that keeps markers under names without a slash.
    func shortensMarkers() async -> Bool {
        (try? await ShortenedMarkers.areKnown(to: context.manifest)) == true
    }

    /// The permissions of an ordinary directory, which its row has so that a run with another umask
    /// does not take them for chosen ones; nil for any other.
    func ordinaryMode(_ entry: JoinedEntry) -> UInt32? {
        guard let ordinary = context.policy.ordinaryDirectory, let local = entry.local else {
            return context.policy.ordinaryDirectory
        }
        return local.permissions.flatMap {
            isOrdinaryDirectory($0, here: ordinary) ? $0 : nil
        }
    }
}
