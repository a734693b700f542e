internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// Compares the remote with the one that the state was made with.
struct RemoteCheck {
    private static let stateLength = 26

    enum Setting {
        static let state = "state.id"
        static let dialect = "remote.dialect"
        static let host = "remote.endpoint-host"
        static let port = "remote.endpoint-port"
        static let bucket = "remote.bucket"
        static let prefix = "remote.prefix"
    }

    private static let places = [Setting.bucket, Setting.prefix]

    struct Finding {
        /// True if the remote is another one than the recorded.
        let isRebound: Bool
        /// True if there was a state before, and its manifest is gone.
        let isManifestLost: Bool
        let kept: StateIdentity.Kept
        /// True if nothing shows yet that the password fits, because it is all archived.
        let isUnproven: Bool
        /// The name of this state.
        let state: String
    }

    let settings: MirrorSettings
    let directory: MirrorDirectory
    let manifest: ManifestStore
    let allowsRebinding: Bool
    let records: Bool
    let sends: Bool

    private var remote: [(name: String, value: String)] {
        let found = settings.identity
        return [
            (Setting.dialect, found.dialect), (Setting.host, found.endpointHost),
            (Setting.port, found.endpointPort ?? ""), (Setting.bucket, found.bucket),
            (Setting.prefix, found.prefix),
        ]
    }

    func run() async throws -> Finding {
        try requireSameEncryption()
        let kept = try StateIdentity.kept(in: directory)
        var recorded: [String: String] = [:]
        for name in remote.map(\.name) + [Setting.state] {
            recorded[name] = try await manifest.setting(name)
        }
        let isKnown = remote.contains { recorded[$0.name] != nil }
        var isLost = false
        if !isKnown {
            // The manifest is new. If the state is not, the file says what it was made with.
            switch kept {
            case .absent: break
            case .unreadable:
                if !allowsRebinding { throw unreadable }
                isLost = true
            case .identity(let identity):
                recorded[Setting.state] = identity.state
                guard let remote = identity.remote else { break }
                isLost = true
                recorded[Setting.dialect] = remote.dialect
                recorded[Setting.host] = remote.endpointHost
                recorded[Setting.port] = remote.endpointPort
                recorded[Setting.bucket] = remote.bucket
                recorded[Setting.prefix] = remote.prefix
            }
        }
        recorded[Setting.host] = recorded[Setting.host].map(RemoteIdentity.place)
        let changed = remote.filter { value in
            recorded[value.name].map { $0 != value.value } ?? false
        }
        // No option makes one of the other.
        if let other = changed.first(where: { $0.name == Setting.dialect }),
            let known = recorded[other.name]
        {
            if RemoteIdentity.time(known) != RemoteIdentity.time(other.value) {
                throw refusal(ofTime: known)
            }
            let refusal = RemoteIdentity.refusal(
                ofEncryption: other.value,
                after: known,
                isSamePlace: !changed.contains { Self.places.contains($0.name) },
                directory: settings.directory
            )
            if let refusal { throw refusal }
        }
        if let first = changed.first, !allowsRebinding,
            StateIdentity.confirmed(in: directory) != settings.identity
        {
            throw refusal(first.name, recorded[first.name] ?? "")
        }
        let isNew = !isKnown && !isLost
        if isNew, RemoteIdentity.time(settings.identity.dialect) != nil { try requireEmpty() }
        let state =
            recorded[Setting.state] ?? settings.environment.randomName(Self.stateLength)
        let finding = Finding(
            isRebound: !changed.isEmpty,
            isManifestLost: isLost,
            kept: kept,
            isUnproven: records ? try await !provePassword(recorded) : false,
            state: state
        )
        if records {
            try await record(finding, changed.map(\.name), recorded, isKnown: isKnown)
        }
        return finding
    }

    /// What the directory's own state says of its contents holds for every other state of it.
    private func requireSameEncryption() throws(TransferError) {
        let own = settings.directory + "/" + RelativePath.stateDirectoryName
        guard settings.stateDirectory != nil,
            let known = IdentityFile.content(at: own).flatMap({ StateIdentity(content: $0) })?
                .remote,
            let refusal = RemoteIdentity.refusal(
                ofEncryption: settings.identity.dialect,
                after: known.dialect,
                isSamePlace: known.bucket == settings.identity.bucket
                    && known.prefix == settings.identity.prefix,
                directory: settings.directory
            )
        else { return }
        throw refusal
    }

    /// A state that knows no password yet asks the bucket: objects of two passwords in one mirror
    /// would be a loss for whoever has one of them.
    ///
    /// - Returns: False if all that was asked for is archived, for a run that sends nothing: it may
    ///   ask the store to restore that, and takes nothing that cannot be decrypted.
    private func provePassword(_ recorded: [String: String]) async throws -> Bool {
        let asked = [Setting.dialect] + Self.places
        let isProven = remote.allSatisfy { value in
            !asked.contains(value.name) || recorded[value.name] == value.value
        }
        guard settings.store.cipher != nil else { return true }
        guard !isProven else {
            settings.storeObserver.failures.provePassword()
            return true
        }
        let page: ListPage
        do throws(StorageError) {
            page = try await settings.store.list(ListRequest(prefix: settings.prefix))
        } catch {
            throw TransferError(error)
        }
        var isRefused = false
        var (isArchived, denied) = (false, StorageError?.none)
        var objects = page.objects.filter { $0.size > 0 && $0.kind == .normal }
        let readable = objects.filter { !$0.needsRestore }
        if !readable.isEmpty { objects = readable }
        // Some may be damaged, or another writer's.
        let step = max(1, objects.count / FailureStreaks.limit)
        for index in stride(from: 0, to: objects.count, by: step).prefix(FailureStreaks.limit) {
            let object = objects[index]
            do throws(StorageError) {
                try await settings.store.requireReadable(
                    object.key,
                    object.etag,
                    size: object.size
                )
                settings.storeObserver.failures.provePassword()
                return true
            } catch {
                switch error.kind {
                case .integrity(.sealed(.damaged)): isRefused = true
                // Some keys cannot be sent in a request.
                case .integrity(.sealed(.notEncrypted)), .invalidRequest: break
                case _ where error.isNotFound || error.isPreconditionFailed: break
                case _ where error.isArchived: isArchived = true
                case _ where error.isAccessDenied && !error.refusesCredentials: denied = error
                default: throw TransferError(error)
                }
            }
        }
        guard isRefused else {
            if let denied, !isArchived { throw TransferError(denied) }
            // The time of a past bucket would be recorded with the password only.
            let isPast = RemoteIdentity.time(settings.identity.dialect) != nil
            guard isArchived, sends || isPast else { return !isArchived }
            throw TransferError(
                code: .refused,
                message: "what '\(settings.displayRemote)' has is archived, and nothing shows that "
                    + "the password fits; nothing was changed. 'osssync pull --restore' asks the "
                    + "store for what can be read"
            )
        }
        throw TransferError(
            code: .credentials,
            message: "the password does not fit what '\(settings.displayRemote)' has, of which "
                + "nothing could be decrypted; nothing was changed"
        )
    }

    private func record(
        _ finding: Finding,
        _ changed: [String],
        _ recorded: [String: String],
        isKnown: Bool
    ) async throws {
        var values = remote.map { value in
            // The next run asks again.
            let isLeftOut = finding.isUnproven && value.name == Setting.dialect
            return (name: value.name, value: isLeftOut ? nil : String?.some(value.value))
        }
        values.append((Setting.state, finding.state))
        if finding.isRebound {
            // One bucket has several endpoints: public, internal, accelerated.
            let isSameBucket = changed.allSatisfy { $0 == Setting.host || $0 == Setting.port }
            try await manifest.beginAnew(
                values + [ShortenedMarkers.forgotten, RefusedPartCopies.forgotten]
                    + KeptModes.forgotten + LastSuccess.forgotten,
                keepsUploads: isSameBucket
            )
        } else if !isKnown || values.contains(where: { recorded[$0.name] != $0.value }) {
            try await manifest.setSettings(values)
        }
    }

    /// Makes the file say what the manifest says, once the manifest does.
    func keep(_ finding: Finding, state: String) throws(LocalError) {
        let identity = StateIdentity(
            state: state,
            remote: finding.isUnproven ? nil : settings.identity,
            directory: try? GivenPath.resolved(settings.directory),
            place: settings.shard == nil
                ? settings.stateDirectory.flatMap { try? GivenPath.resolved($0) } : nil
        )
        if settings.shard == nil { directory.nameWork(state) }
        guard finding.kept != .identity(identity) else { return }
        try identity.write(to: directory)
    }

    private var unreadable: TransferError {
        TransferError(
            code: .refused,
            message: "the manifest of '\(displayText(settings.directory.utf8))' is new, and "
                + "'\(StateIdentity.fileName)' beside it, which records its remote, is "
                + "damaged; nothing was changed. If '\(settings.displayRemote)' is the right "
                + "remote, use --rebind"
        )
    }

    private func requireEmpty() throws(TransferError) {
        let hasFiles = try MirrorLink.hasFiles(
            directory: settings.directory,
            stateDirectory: settings.stateDirectory,
            homeDirectory: settings.homeDirectory
        )
        guard hasFiles else { return }
        throw TransferError(
            code: .refused,
            message: "'\(displayText(settings.directory.utf8))' is not empty; nothing was changed. "
                + "--as-of needs an empty directory, or one with the same --as-of"
        )
    }

    /// Another time of the same remote.
    private func refusal(ofTime recorded: String) -> TransferError {
        let shown = displayText(settings.directory.utf8)
        let reason =
            RemoteIdentity.reason(ofTime: recorded, in: settings.directory)
            ?? "'\(shown)' has the bucket as it is; --as-of needs an empty directory"
        return TransferError(code: .refused, message: reason + ". Nothing was changed")
    }

    private func refusal(_ name: String, _ recorded: String) -> TransferError {
        // `remote.endpoint-port` is "endpoint port" to people.
        let what = String(name.drop { $0 != "." }.dropFirst().map { $0 == "-" ? " " : $0 })
        // Behind it is by what a password is known.
        let recorded = name == Setting.dialect ? String(recorded.prefix { $0 != " " }) : recorded
        return TransferError(
            code: .refused,
            message: "the manifest of '\(displayText(settings.directory.utf8))' was created "
                + "for another remote (its \(what) was '\(displayText(recorded.utf8))'), and "
                + "'\(settings.displayRemote)' is a different one; nothing was changed. "
                + "If the remote changed on purpose, use --rebind"
        )
    }
}
