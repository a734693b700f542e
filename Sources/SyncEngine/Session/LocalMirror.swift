package import LocalStorage
package import ObjectTransfer
package import SyncModel

/// The directory of a mirror, for what needs no remote.
///
/// ```swift
/// let request = RestoreRequest(
///     paths: ["2024"], version: .latest, target: nil, replaces: false
/// )
/// let report = try await mirror.trash.restore(request) { file in show(file) }
/// ```
/// It is opened by each call. No request is made, and neither credentials nor a configuration are
/// read.
package struct LocalMirror: Sendable {
    package var directory: String
    /// Where the state is, if not in the directory's `.osssync`.
    package var stateDirectory: String?
    /// The user's home directory, which is refused as a mirror; nil if there is none.
    package var homeDirectory: String?
    package var environment: EngineEnvironment
    /// The system's own; tests make them fail.
    package var systemCalls = SystemCalls.standard

    package init(
        directory: String,
        stateDirectory: String?,
        homeDirectory: String?,
        environment: EngineEnvironment
    ) {
        self.directory = directory
        self.stateDirectory = stateDirectory
        self.homeDirectory = homeDirectory
        self.environment = environment
    }

    /// Opens the directory, which must be a mirror; makes nothing.
    func open() throws(TransferError) -> MirrorDirectory {
        try MirrorLink.requireOwn(stateDirectory, directory)
        do throws(LocalError) {
            return try MirrorDirectory(
                path: directory,
                stateDirectory: stateDirectory,
                homeDirectory: homeDirectory,
                createsIfMissing: false,
                calls: systemCalls
            )
        } catch {
            let shown = displayText(directory.utf8)
            guard case .missingDirectory(let path) = error, path != shown else {
                throw TransferError(error)
            }
            throw TransferError(
                code: .configuration,
                message: "'\(shown)' is not a mirror: there is no '\(path)'; "
                    + "'osssync init DIR REMOTE' creates one"
            )
        }
    }

    /// Why every run of this direction would be refused, whatever is in the directory, such as a
    /// pull into `/etc`; nil if none would be, as far as is known before it starts.
    package func refusal(of direction: SyncDirection) -> TransferError? {
        if let owner = MirrorLink.owner(of: stateDirectory, unless: directory) {
            return MirrorLink.refusal(of: directory, stateDirectory, ownedBy: owner)
        }
        do throws(LocalError) {
            let mirror = try MirrorDirectory.inspect(
                at: directory,
                stateDirectory: stateDirectory,
                homeDirectory: homeDirectory,
                calls: systemCalls
            )
            defer { mirror.removeStandIn() }
            if direction != .push { try mirror.requireOwn() }
            return nil
        } catch {
            switch error {
            case .refusedDirectory, .unsafeDirectory: return TransferError(error)
            // The disk may be another one when the run starts.
            default: return nil
            }
        }
    }

    /// True if the directory has something at the path of the key.
    package func has(_ key: String) -> Bool {
        guard let directory = try? open(), let path = try? Self.path(key),
            let found = try? directory.identity(of: path)
        else { return false }
        return found != .absent
    }

    /// Why a file cannot come back to its path, or was not looked for in the bucket; nil if nothing
    /// is known.
    package func reasonMissing(_ text: String) -> String? {
        guard let directory = try? open(), let path = try? Self.path(text) else { return nil }
        for place in path.parents.reversed() + [path] {
            guard let state = try? directory.identity(of: place), state != .absent else { break }
            let fits: Bool
            switch state {
            case .directory: fits = place != path
            case .file: fits = place == path
            case .absent, .other: fits = false
            }
            if !fits {
                return "'\(displayText(place.bytes))' is \(state.description) here; move it away "
                    + "first, or use --to"
            }
        }
        guard (try? Cutting.read(in: directory)) != nil else { return nil }
        return "of a mirror in shards, only the trash is searched; 'osssync get' fetches what the "
            + "bucket has"
    }

    /// The time of the bucket that the directory has, in seconds since 1970 UTC; nil for a mirror
    /// of the bucket as it is, and where that cannot be read.
    package func recordedTime() -> StoreTime? {
        guard let directory = try? open(),
            case .identity(let identity)? = try? StateIdentity.kept(in: directory),
            let time = identity.remote.flatMap({ RemoteIdentity.time($0.dialect) })
        else { return nil }
        return Timestamp(extendedText: time).map { StoreTime($0) }
    }

    /// By what the password of encrypted contents is known; nil before the first run.
    package func recordedCheck() -> String? {
        guard let directory = try? open(),
            case .identity(let identity)? = try? StateIdentity.kept(in: directory)
        else { return nil }
        return identity.remote.flatMap { RemoteIdentity.encryption($0.dialect) }.map(String.init)
    }

    /// The text of a path that a user typed, as keys have it.
    package static func key(_ text: String) throws(TransferError) -> String { try path(text).text }

    /// True for a path of a file with an escaped name.
    package static func isEscaped(_ path: String) -> Bool {
        (try? self.path(path))?.isEscaped == true
    }

    /// A path that a user typed, relative to the directory: without "./" before and "/" behind.
    static func path(_ text: String) throws(TransferError) -> RelativePath {
        var bytes = [UInt8](text.utf8)[...]
        while bytes.starts(with: "./".utf8) { bytes = bytes.dropFirst(2) }
        while bytes.last == UInt8(ascii: "/") { bytes = bytes.dropLast() }
        do throws(UnsafeKey) {
            return try RelativePath(path: ObjectKey(bytes))
        } catch {
            let reason = error == .absolute ? "it must be relative to DIR" : error.message
            throw TransferError(
                code: .configuration,
                message: "'\(displayText(text.utf8))' is not a path beneath DIR: \(reason)"
            )
        }
    }
}
