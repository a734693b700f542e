internal import LocalStorage
internal import ObjectStorage
package import ObjectTransfer
internal import SyncModel

/// The small configuration file that links a directory with its remote.
package enum MirrorLink {
    private static let fileName = "config"

    /// The content of the directory's configuration; nil if it has none, or does not exist.
    package static func read(
        directory: String,
        stateDirectory: String?
    ) throws(TransferError) -> [UInt8]? {
        do throws(LocalError) {
            let mirror = try existing(directory, stateDirectory)
            return try mirror.sharedState.read(fileName)
        } catch {
            if case .missingDirectory = error { return nil }
            throw TransferError(error)
        }
    }

    /// Writes the configuration, making the directory and its state where they are missing.
    package static func write(
        _ content: [UInt8],
        directory: String,
        stateDirectory: String?,
        homeDirectory: String?
    ) throws(TransferError) {
        do throws(LocalError) {
            let mirror = try MirrorDirectory(
                path: directory,
                stateDirectory: stateDirectory,
                homeDirectory: homeDirectory,
                createsIfMissing: true
            )
            try mirror.sharedState.write(fileName, content)
        } catch {
            throw TransferError(
                ofState: error,
                directory: directory,
                stateDirectory: stateDirectory
            )
        }
    }

    /// Notes that the user has linked the directory with this remote, whichever it had before: the
    /// next run takes it as one that is allowed to bind it anew.
    ///
    /// - Throws: `refused` for another one than before, unless it `mayRebind`.
    package static func confirm(
        _ remote: RemoteIdentity,
        mayRebind: Bool,
        directory: String,
        stateDirectory: String?,
        homeDirectory: String?
    ) throws(TransferError) {
        do {
            let mirror = try MirrorDirectory(
                path: directory,
                stateDirectory: stateDirectory,
                homeDirectory: homeDirectory,
                createsIfMissing: true
            )
            let content = try mirror.sharedState.read(StateIdentity.fileName)
            var identity = StateIdentity(state: IdentityFile.newStateName())
            if let content {
                // Of a damaged one the next run asks what to do.
                guard let kept = StateIdentity(content: content) else { return }
                identity = kept
            }
            if let known = identity.remote,
                let reason = RemoteIdentity.reason(ofTime: known.dialect, in: directory)
            {
                throw TransferError(code: .refused, message: reason + ". Nothing was changed")
            }
            if let known = identity.remote,
                let refusal = RemoteIdentity.refusal(
                    ofEncryption: remote.dialect,
                    after: known.dialect,
                    isSamePlace: known.bucket == remote.bucket && known.prefix == remote.prefix,
                    directory: directory
                )
            {
                throw refusal
            }
            if !mayRebind, let known = identity.remote, known.isAnother(than: remote) {
                throw TransferError(
                    code: .refused,
                    message: "'\(displayText(directory.utf8))' was mirrored with \(known.display), "
                        + "not with \(remote.display); nothing was changed. If the remote changed "
                        + "on purpose, use --rebind"
                )
            }
            identity.confirmed = identity.remote == remote ? nil : remote
            try mirror.sharedState.write(StateIdentity.fileName, identity.content)
        } catch let error as LocalError {
            throw TransferError(
                ofState: error,
                directory: directory,
                stateDirectory: stateDirectory
            )
        } catch {
            throw TransferError(any: error)
        }
    }

    /// True if a run of this state was made with the remote.
    package static func knows(
        _ remote: RemoteIdentity,
        directory: String,
        stateDirectory: String?
    ) -> Bool {
        guard let mirror = try? existing(directory, stateDirectory),
            let content = try? mirror.sharedState.read(StateIdentity.fileName)
        else { return false }
        return StateIdentity(content: content)?.remote?.isAnother(than: remote) == false
    }

    /// The directory that a chosen state directory belongs to, if that is another one than
    /// `directory` and still there.
    package static func owner(of stateDirectory: String?, unless directory: String) -> String? {
        guard let stateDirectory,
            let content = IdentityFile.content(at: stateDirectory),
            let owner = StateIdentity(content: content)?.directory,
            owner != (try? GivenPath.resolved(directory)),
            (try? GivenPath.require(owner)) != nil
        else { return nil }
        return owner
    }

    /// Fails if a chosen state directory is a copy of one that is still there: both would have one
    /// place for unfinished downloads and trash, and count the runs of one directory.
    static func requireOriginal(_ stateDirectory: String?) throws(TransferError) {
        guard let stateDirectory,
            let identity = IdentityFile.content(at: stateDirectory)
                .flatMap({ StateIdentity(content: $0) }),
            let place = identity.place,
            let other = IdentityFile.content(at: place)
                .flatMap({ StateIdentity(content: $0) }),
            other.state == identity.state,
            (try? GivenPath.isSameDirectory(place, stateDirectory)) == false
        else { return }
        throw TransferError(
            code: .refused,
            message: "'\(displayText(stateDirectory.utf8))' is a copy of the state "
                + "'\(displayText(place.utf8))', which still exists, and only one of them can be "
                + "used; nothing was changed. Use that one, or delete it if this copy replaces it"
        )
    }

    /// Fails for the state of another directory, whose trash and link are not this one's.
    package static func requireOwn(
        _ stateDirectory: String?,
        _ directory: String
    ) throws(TransferError) {
        guard let owner = owner(of: stateDirectory, unless: directory) else { return }
        throw refusal(of: directory, stateDirectory, ownedBy: owner)
    }

    /// Why a state is not used for a second directory.
    package static func refusal(
        of directory: String,
        _ stateDirectory: String?,
        ownedBy owner: String
    ) -> TransferError {
        TransferError(
            code: .refused,
            message: "'\(displayText((stateDirectory ?? "").utf8))' is the state of "
                + "'\(displayText(owner.utf8))'; nothing was changed. Choose another --state-dir "
                + "for '\(displayText(directory.utf8))'"
        )
    }

    /// Replaces the configuration of a directory that no run holds; nil removes it.
    package static func replace(
        with content: [UInt8]?,
        directory: String,
        stateDirectory: String?
    ) throws(TransferError) {
        try requireOwn(stateDirectory, directory)
        do throws(LocalError) {
            let mirror = try existing(directory, stateDirectory)
            let lock = try mirror.lockWhole()
            defer { withExtendedLifetime(lock) {} }
            if let content {
                try mirror.sharedState.write(fileName, content)
            } else {
                try mirror.sharedState.remove(fileName)
            }
        } catch {
            throw TransferError(
                ofState: error,
                directory: directory,
                stateDirectory: stateDirectory
            )
        }
    }

    /// True if there is anything in the directory but its own state.
    ///
    /// - Throws: `TransferError` for a directory that cannot be a mirror.
    package static func hasFiles(
        directory: String,
        stateDirectory: String?,
        homeDirectory: String?
    ) throws(TransferError) -> Bool {
        let mirror: MirrorDirectory
        do throws(LocalError) {
            mirror = try MirrorDirectory.inspect(
                at: directory,
                stateDirectory: stateDirectory,
                homeDirectory: homeDirectory,
                calls: .standard
            )
        } catch {
            if case .missingDirectory = error { return false }
            throw TransferError(error)
        }
        defer { mirror.removeStandIn() }
        let walk = mirror.walk(within: .all, leavingOut: { _, _ in false })
        while let batch = try? walk.next(limit: 64) {
            if !batch.entries.isEmpty { return true }
            if batch.isFinished { return false }
        }
        return false
    }

    /// Refuses a directory that does not exist: what is not there is not to be pushed, and most
    /// likely its name is mistyped or its disk not mounted.
    package static func require(directory: String) throws(TransferError) {
        do throws(LocalError) {
            try GivenPath.require(directory)
        } catch {
            throw TransferError(error)
        }
    }

    /// Bytes that may still be written where the directory is; nil if that cannot be found out.
    package static func freeBytes(directory: String, stateDirectory: String?) -> Int64? {
        let mirror = try? existing(directory, stateDirectory)
        // Before the first run it is no mirror, and only the disk counts.
        return (try? mirror?.freeBytes()) ?? (try? GivenPath.freeBytes(at: directory))
    }

    /// Why nothing can be downloaded into the directory, as far as its places tell; nil if it can.
    package static func placeRefusal(directory: String, stateDirectory: String?) -> String? {
        guard let mirror = try? existing(directory, stateDirectory) else { return nil }
        do throws(LocalError) {
            try mirror.requireOwn()
        } catch {
            return error.message
        }
        return mirror.placeRefusal?.message
    }

    private static func existing(
        _ directory: String,
        _ stateDirectory: String?
    ) throws(LocalError) -> MirrorDirectory {
        try MirrorDirectory(
            path: directory,
            stateDirectory: stateDirectory,
            homeDirectory: nil,
            createsIfMissing: false
        )
    }
}
