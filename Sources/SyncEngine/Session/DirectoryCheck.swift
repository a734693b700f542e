internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// Finds out whether the directory is the one that the state was made with, and as the state left
/// it.
struct DirectoryCheck {
    fileprivate enum Setting {
        static let root = "directory.root"
        static let marker = "directory.marker"
        /// By what the manifest knows the directory that it is in.
        static let folder = "directory.state"
        /// The inode of the manifest itself: a backup that is written back into the directory that
        /// is there brings another file.
        static let file = "directory.manifest"
    }

    /// What a manifest has that was written anew.
    static let ofNewFile: (name: String, value: String?) = (Setting.file, nil)

    private static let nameLength = 26

    struct Finding: Sendable, Hashable {
        /// False if the directory is another one than last time, or was rolled back.
        let isSame: Bool
        let root: RootIdentity
        /// The state's directory; nil if that tells nothing.
        let folder: RootIdentity?
        let file: String?
        /// True if the manifest knows it as just this one.
        let isRecorded: Bool
        /// The number in the directory's marker, if the manifest has another one.
        let foreignNumber: Int64??
        /// The name of the state, which is another one where it was copied.
        let state: String
        /// Why nothing can be written beneath the directory; nil if it can.
        let writingRefusal: LocalError?
    }

    let settings: MirrorSettings
    let directory: MirrorDirectory
    let manifest: ManifestStore
    /// The name of the state in the manifest.
    let state: String
    let allowsRebinding: Bool
    let records: Bool

    /// What there is, against what is recorded.
    private struct Facts {
        let root: RootIdentity
        let recordedRoot: RootIdentity?
        let recordedName: String?
        let marker: DirectoryMarker?
        let number: RunNumber
        /// The state's directory, and the recorded one; nil if they tell nothing.
        let folder: RootIdentity?
        let recordedFolder: RootIdentity?
        /// The same of the manifest's file.
        let file: String?
        let recordedFile: String?
        var refusal: LocalError?

        /// False if all of `.osssync` came back, marker included, or all that is in it.
        ///
        /// A state that is elsewhere may have been moved, and the marker tells of an old one.
        var isSameFolder: Bool {
            guard let folder, let recordedFolder else { return true }
            let isSameFile = file == nil || recordedFile == nil || file == recordedFile
            return recordedFolder.isSame(as: folder) && isSameFile
        }

        /// True if the marker is the one that the manifest was made with.
        var isMarked: Bool { recordedName != nil && marker?.name == recordedName }

        var isSameRoot: Bool { recordedRoot?.isSame(as: root) ?? true }

        /// False if what the directory is known by is missing: it may not be mounted.
        var isExpected: Bool {
            if recordedName != nil { return isMarked }
            return isSameRoot || recordedRoot == .unknown
        }
    }

    /// Compares the directory with what is recorded of it.
    ///
    /// With `records`, the marker that a directory is known by is made where it is missing, and
    /// the run is given its number before its first change.
    ///
    /// - Throws: That there is no such marker: most likely the directory's disk is not mounted, and
    ///   what is seen is the empty mount point.
    func run() async throws -> Finding {
        var facts = try await facts()
        guard facts.isExpected || allowsRebinding else { throw missing }
        // Copied with its directory, a state gets a name of its own.
        if facts.isSameRoot { try MirrorLink.requireOriginal(settings.stateDirectory) }
        let marked = facts.marker?.number(of: state)
        if settings.shard != nil { return try await runOfShard(facts) }
        let isSameNumber = !facts.isMarked || facts.number.accepts(marked)
        let isSame =
            facts.isSameRoot && facts.isExpected && isSameNumber && facts.isSameFolder
        let name = records ? try await record(&facts, isSame: isSame) : state
        // The line of a state that has another name now is not in the marker yet.
        let foreignNumber: Int64?? =
            name != state ? .some(nil) : isSameNumber ? nil : .some(marked)
        return Finding(
            isSame: isSame,
            root: facts.root,
            folder: facts.folder,
            file: facts.file,
            isRecorded: isSame && (facts.recordedRoot ?? facts.root) == facts.root,
            foreignNumber: foreignNumber,
            state: name,
            writingRefusal: facts.refusal
        )
    }

    /// The marker of a cut mirror was made before: runs of shards, which are many at a time, only
    /// read it.
    private func runOfShard(_ facts: Facts) async throws -> Finding {
        // A new manifest, in the place of one that was lost or damaged, knows of no marker yet.
        let isNew = facts.recordedName == nil && facts.recordedRoot == nil
        guard facts.isMarked || isNew, let marker = facts.marker else { throw missing }
        let isSame = facts.isSameRoot
        if records {
            if isNew {
                try await manifest.setSettings([
                    (Setting.marker, marker.name), (Setting.root, facts.root.text),
                ])
            }
            if !isSame, facts.recordedRoot != .unknown {
                try await manifest.setSetting(Setting.root, RootIdentity.unknown.text)
            }
            await manifest.goOnUnnumbered()
        }
        return Finding(
            isSame: isSame,
            root: facts.root,
            folder: nil,
            file: nil,
            isRecorded: isSame && (facts.recordedRoot ?? facts.root) == facts.root,
            foreignNumber: nil,
            state: state,
            writingRefusal: facts.refusal
        )
    }

    private func facts() async throws -> Facts {
        let recordedName = try await manifest.setting(Setting.marker)
        let refusal: LocalError? =
            settings.stateDirectory == nil
            ? nil : try directory.markerFile.writingRefusal(makes: records && recordedName == nil)
        var marker: DirectoryMarker?
        do throws(LocalError) {
            marker = try directory.markerFile.read()
        } catch {
            // It belongs to another user who mirrors the same directory.
            guard case .systemCall(let call) = error, call.isWriteRefused, refusal != nil else {
                throw error
            }
        }
        return Facts(
            root: try directory.rootIdentity(),
            recordedRoot: try await manifest.setting(Setting.root)
                .flatMap(RootIdentity.init(text:)),
            recordedName: recordedName,
            marker: marker,
            number: try await manifest.runNumber(),
            folder: settings.stateDirectory == nil ? try directory.state.identity() : nil,
            recordedFolder: try await manifest.setting(Setting.folder)
                .flatMap(RootIdentity.init(text:)),
            file: settings.stateDirectory == nil
                ? try directory.state.inode(of: ManifestFiles.databaseName).map(String.init) : nil,
            recordedFile: try await manifest.setting(Setting.file),
            refusal: refusal
        )
    }

    /// Returns the name of the state.
    private func record(_ facts: inout Facts, isSame: Bool) async throws -> String {
        var state = state
        var changes: [(name: String, value: String?)] = []
        if !isSame {
            // Known as another one until a run has seen all of it.
            if facts.recordedRoot != .unknown {
                changes.append((Setting.root, RootIdentity.unknown.text))
            }
            // A copy of the state must not pass for the one it was copied from.
            if !facts.isSameRoot, facts.recordedRoot != .unknown {
                state = settings.environment.randomName(state.utf8.count)
                changes.append((RemoteCheck.Setting.state, state))
            }
        } else {
            if facts.recordedRoot == nil { changes.append((Setting.root, facts.root.text)) }
            if facts.recordedFolder == nil, let folder = facts.folder {
                changes.append((Setting.folder, folder.text))
            }
            if facts.recordedFile == nil, let file = facts.file {
                changes.append((Setting.file, file))
            }
        }
        var marker = facts.marker ?? DirectoryMarker(name: randomName)
        if facts.refusal == nil, !facts.isMarked {
            // Those of other states stay: each of them has a guard of its own.
            marker.setNumber(marker.number(of: state) ?? 0, of: state)
            facts.refusal = try writeFirst(marker)
        }
        guard facts.refusal == nil else {
            if !facts.isMarked, facts.recordedName != nil { changes.append((Setting.marker, nil)) }
            if !changes.isEmpty { try await manifest.setSettings(changes) }
            return state
        }
        if !facts.isMarked {
            changes.append((Setting.marker, marker.name))
            changes += ManifestStore.settings(accepting: marker.number(of: state))
        } else if let number = marker.number(of: state), number == facts.number.pending {
            // The run that wrote it was cut off before the manifest had it.
            changes += ManifestStore.settings(accepting: number)
        }
        if !changes.isEmpty { try await manifest.setSettings(changes) }
        await numberRun(marker, state, facts.number)
        return state
    }

    /// Returns why the marker could not be written where that is no failure: the directory's disk
    /// is full, and the state is elsewhere.
    private func writeFirst(_ marker: DirectoryMarker) throws(LocalError) -> LocalError? {
        do throws(LocalError) {
            try directory.markerFile.write(marker, isFirst: true)
            return nil
        } catch {
            guard settings.stateDirectory != nil, error.isOutOfRoom else { throw error }
            return error
        }
    }

    private func numberRun(
        _ marker: DirectoryMarker,
        _ state: String,
        _ number: RunNumber
    ) async {
        let directory = directory
        let next = number.next(after: marker.number(of: state))
        let name = marker.name
        await manifest.number(next) { number throws(ManifestError) in
            do throws(LocalError) {
                // Another state's run may have written its number meanwhile.
                if var marker = try directory.markerFile.read(), marker.name == name {
                    marker.setNumber(number, of: state)
                    return try directory.markerFile.write(marker, isFirst: false)
                }
            } catch {
                throw .notMarked(reason: error.message, isOutOfRoom: error.isOutOfRoom)
            }
            // A directory that was replaced meanwhile must not come to be known.
            throw .notMarked(reason: "it no longer exists", isOutOfRoom: false)
        }
    }

    private var randomName: String { settings.environment.randomName(Self.nameLength) }

    private var missing: TransferError {
        let owner = MirrorLink.owner(of: settings.stateDirectory, unless: settings.directory)
        if let owner {
            return MirrorLink.refusal(
                of: settings.directory,
                settings.stateDirectory,
                ownedBy: owner
            )
        }
        return TransferError(
            code: .refused,
            message: "'\(displayText(settings.directory.utf8))' is not the directory that the "
                + "manifest was created for: its marker is missing. Is its disk mounted? If "
                + "it is a different directory on purpose, use --rebind"
        )
    }
}

extension DirectoryCheck.Finding {
    /// Records the directory as the known one.
    func accept(in manifest: ManifestStore) async throws(ManifestError) {
        guard !isRecorded else { return }
        if let foreignNumber {
            // Where the marker can be written, it and the manifest get a new number.
            try await manifest.takeNumber()
            if writingRefusal != nil {
                try await manifest.setSettings(ManifestStore.settings(accepting: foreignNumber))
            }
        }
        try await manifest.setSettings([
            (DirectoryCheck.Setting.root, root.text),
            (DirectoryCheck.Setting.folder, folder?.text),
            (DirectoryCheck.Setting.file, file),
        ])
    }
}
