internal import CLibrary
internal import SyncModel

/// Where osssync's temporary files and trash of a mirror are, on the mount of the root, where
/// renames reach.
///
/// That is the state, or if it is on another mount, a directory within the mirror: no other
/// state's, because each removes what it does not know. It is in `.osssync`, or where that is a
/// mount of its own, in a directory beside it.
struct WorkPlace: Sendable {
    let root: OpenDirectory
    /// Holds `partial`; the root if there is no such place, whose file system is asked.
    let directory: OpenDirectory
    /// Holds `trash`, which all shards have in common; the same if this is no shard's.
    let top: OpenDirectory
    /// Of the state, for messages.
    let path: String
    /// Of ``top``.
    let topPath: String
    /// What ``top`` lies in, if it is not the state itself.
    let holder: OpenDirectory?
    /// The name of a state that was chosen, as it was when that was opened.
    let stateName: String?
    /// Why there is no such place, which is not needed where nothing is written; nil if there is.
    let refusal: LocalError?

    /// In a directory that is given.
    init(in directory: OpenDirectory, of root: OpenDirectory, path: String) {
        (self.root, self.directory, top, self.path) = (root, directory, directory, path)
        topPath = path
        (holder, stateName, refusal) = (nil, nil, nil)
    }

    /// Of a mirror of this `path`, for whose state on another mount it is made.
    ///
    /// With `protection`, nothing is written into the mirror.
    init(
        of root: OpenDirectory,
        path: String,
        states: (own: StateFolder, shared: StateFolder, shard: [String], isChosen: Bool),
        protection: LocalError?,
        makes: Bool
    ) throws(LocalError) {
        self.root = root
        self.path = states.own.path
        let state = states.shared.directory
        stateName = states.isChosen ? IdentityFile.stateName(of: state, makes: makes) : nil
        if try state.status().isSameMount(as: root.status()) {
            (directory, top, topPath) = (states.own.directory, state, states.shared.path)
            (holder, refusal) = (nil, nil)
            return
        }
        let place = try Self.place(
            in: root,
            path,
            stateName: stateName,
            protection: protection,
            makes: makes
        )
        (top, holder, topPath) = (place.work, place.holder, place.path)
        guard place.refusal == nil else {
            (directory, refusal) = (top, place.refusal)
            return
        }
        let topFolder = StateFolder(
            directory: top,
            path: path + "/" + RelativePath.stateDirectoryName
        )
        do throws(LocalError) {
            directory = try topFolder.opened(states.shard, makes: makes).directory
            refusal = nil
        } catch {
            guard case .missingDirectory = error else { throw error }
            (directory, refusal) = (root, error)
        }
    }

    private typealias Place = (
        work: OpenDirectory, path: String, holder: OpenDirectory?, refusal: LocalError?
    )

    /// In `.osssync`, or where that is a mount of its own, in a directory beside it.
    private static func place(
        in root: OpenDirectory,
        _ path: String,
        stateName: String?,
        protection: LocalError?,
        makes: Bool
    ) throws(LocalError) -> Place {
        if let protection { return (root, path, nil, protection) }
        var name = RelativePath.stateDirectoryName
        var (holder, refusal) = try open(name, in: root, path, makes: makes)
        if let refusal { return (root, path, nil, refusal) }
        if try !holder.status().isSameMount(as: root.status()) {
            name = RelativePath.workDirectoryName
            (holder, refusal) = try open(name, in: root, path, makes: makes)
        }
        if let refusal { return (root, path, nil, refusal) }
        let own = Self.name(ofState: stateName ?? "own")
        let above = path + "/" + name
        let (work, failure) = try open(own, in: holder, above, makes: makes)
        if let failure { return (root, path, nil, failure) }
        if makes, name == RelativePath.stateDirectoryName { try take(holder, work) }
        return (work, above + "/" + own, holder, nil)
    }

    private static func name(ofState state: String) -> String { "work-" + state }

    /// A directory of our own, or why nothing is to be put there.
    private static func open(
        _ name: String,
        in parent: OpenDirectory,
        _ path: String,
        makes: Bool
    ) throws(LocalError) -> (OpenDirectory, LocalError?) {
        do throws(LocalError) {
            return (try parent.privateDirectory(name, in: path, makes: makes), nil)
        } catch {
            switch error {
            case .missingDirectory, .unsafeDirectory: return (parent, error)
            case _ where error.refusesWriting: return (parent, error)
            default: throw error
            }
        }
    }

    /// Moves what a state left in `.osssync` before it had a place of its own; nothing where that
    /// is a state itself.
    private static func take(
        _ holder: OpenDirectory,
        _ work: OpenDirectory
    ) throws(LocalError) {
        for name in ["manifest.db", "config", IdentityFile.name]
        where try holder.status(of: PathBytes(name.utf8)) != nil {
            return
        }
        for name in [PartialFiles.directoryName, DirectoryTrash.directoryName, "shards"] {
            let bytes = PathBytes(name.utf8)
            guard try holder.status(of: bytes) != nil else { continue }
            do throws(LocalError) {
                _ = try work.calls.renameExclusively(
                    from: holder.descriptor,
                    bytes,
                    to: work.descriptor,
                    bytes
                )
            } catch {
                // Where no rename leads there, it stays and takes only room.
                guard error.errno == EXDEV else { throw error }
            }
        }
    }

    /// For the directories of shards in it.
    var folder: StateFolder {
        StateFolder(directory: directory, path: path + "/" + RelativePath.stateDirectoryName)
    }

    func privateDirectory(
        _ name: String,
        in parent: OpenDirectory,
        makes: Bool
    ) throws(LocalError) -> OpenDirectory {
        if let refusal { throw refusal }
        return try parent.privateDirectory(name, in: path, makes: makes)
    }

    /// Why there is no such place; nil if there is, or it can be made.
    var lastingRefusal: LocalError? {
        if case .missingDirectory = refusal { return nil }
        if let refusal { return refusal }
        let name = PathBytes(PartialFiles.directoryName.utf8)
        guard (try? directory.status(of: name))??.kind == .directory,
            let partials = try? directory.subdirectory(name)
        else { return nil }
        do throws(LocalError) {
            try requireReach(of: partials)
            return nil
        } catch {
            return error
        }
    }

    /// Fails if no rename leads from the directory of temporary files to the mirror.
    func requireReach(of partials: OpenDirectory) throws(LocalError) {
        guard try !partials.status().isSameMount(as: root.status()) else { return }
        throw .unsafeDirectory(
            path: displayText((path + "/" + PartialFiles.directoryName).utf8),
            reason: "it is on another disk or mount than the directory, so that no download could "
                + "get its name; unmount it"
        )
    }

    /// Gives the place the name of the state, if that is another one than when the state was
    /// opened: a copy of both gets a name of its own.
    ///
    /// Where something has that name already, the next run uses that.
    func rename(to state: String) {
        guard let holder, let stateName, stateName != state else { return }
        _ = try? holder.calls.renameExclusively(
            from: holder.descriptor,
            PathBytes(Self.name(ofState: stateName).utf8),
            to: holder.descriptor,
            PathBytes(Self.name(ofState: state).utf8)
        )
    }
}
