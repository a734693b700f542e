internal import LocalStorage
internal import ManifestStore
package import ObjectTransfer
internal import SyncModel

/// When a run of each direction last did everything that was asked of it.
///
/// Recorded beside the journal of runs, which forgets old ones and also has runs that transfer only
/// a part, such as the repairs of `verify`.
enum LastSuccess {
    private static func setting(_ direction: SyncDirection) -> String {
        "run.success." + direction.rawValue
    }

    private static let stepSetting = "run.in-step"

    /// Notes whether both sides were equal after a run of the whole mirror.
    static func record(
        isInStep: Bool,
        in manifest: ManifestStore
    ) async throws(ManifestError) {
        try await manifest.setSetting(stepSetting, isInStep ? "yes" : "no")
    }

    /// What that run noted; nil if there was none.
    static func isInStep(_ manifest: ManifestStore) async throws(ManifestError) -> Bool? {
        try await manifest.setting(stepSetting).map { $0 == "yes" }
    }

    /// Notes that a complete run ended at `time`.
    static func record(
        _ direction: SyncDirection,
        _ time: Timestamp,
        in manifest: ManifestStore
    ) async throws(ManifestError) {
        try await manifest.setSetting(setting(direction), String(time.seconds))
    }

    /// The ends of those runs.
    static func read(
        _ manifest: ManifestStore
    ) async throws(ManifestError) -> [SyncDirection: StoreTime] {
        var times: [SyncDirection: StoreTime] = [:]
        for direction in SyncDirection.allCases {
            times[direction] = try await manifest.setting(setting(direction))
                .flatMap { Int64($0) }.map { StoreTime(secondsSince1970: $0) }
        }
        return times
    }

    /// What another remote begins with.
    static var forgotten: [(name: String, value: String?)] {
        SyncDirection.allCases.map { (setting($0), nil) } + [(stepSetting, nil)]
    }
}

extension LocalMirror {
    /// When the last complete run of each direction ended, of a mirror that is not cut.
    func lastSuccessOfRuns() async throws(TransferError) -> [SyncDirection: StoreTime] {
        guard try !isLinkedAnew() else { return [:] }
        return try await inspecting([:]) { manifest throws(ManifestError) in
            try await LastSuccess.read(manifest)
        }
    }

    /// False if the manifest shows that no run of the whole mirror was complete, or there is none.
    ///
    /// What cannot be read now may be of a mirror that had some; its content is not checked.
    package func mayHaveSucceeded() async -> Bool {
        let found = try? await inspecting([:], checksContent: false) {
            (manifest) throws(ManifestError) in
            try await LastSuccess.read(manifest)
        }
        return found?.isEmpty != true
    }

    /// Whether both sides were equal after the last run of the whole mirror, and no file was found
    /// damaged since; nil if there was none.
    package func wasInStep() async throws(TransferError) -> Bool? {
        guard try !isLinkedAnew() else { return nil }
        return try await inspecting(nil) { manifest throws(ManifestError) in
            let wasInStep = try await LastSuccess.isInStep(manifest)
            let isDamaged = try await manifest.first(.damagedEntries) != nil
            return wasInStep.map { $0 && !isDamaged }
        }
    }

    /// True if the user linked the directory with another remote after the last run.
    private func isLinkedAnew() throws(TransferError) -> Bool {
        try StateIdentity.confirmed(in: open()) != nil
    }

    /// What `read` finds in the manifest that the last run left; `absent` if there is none.
    func inspecting<Value>(
        _ absent: Value,
        checksContent: Bool = true,
        _ read: (ManifestStore) async throws(ManifestError) -> Value
    ) async throws(TransferError) -> Value {
        let directory = try open()
        do {
            let found = try await ManifestStore.inspect(
                directory: directory.state.path,
                checksContent: checksContent,
                threads: environment.threads
            )
            switch found {
            case .opened(let manifest): return try await read(manifest)
            case .absent: return absent
            case .damaged(let reason): throw unreadable(reason)
            case .unfinished:
                throw unreadable("a run is active or was killed, and the next one completes it")
            }
        } catch {
            throw TransferError(any: error)
        }
    }

    /// The manifest as the last run left it; nil if there is none that can be read now.
    ///
    /// Usually its content is not checked, which would cost as much as a run: runs do that.
    func readableManifest(checksContent: Bool = false) async throws -> ManifestStore? {
        let found = try await ManifestStore.inspect(
            directory: try open().state.path,
            checksContent: checksContent,
            threads: environment.threads
        )
        guard case .opened(let manifest) = found else { return nil }
        return manifest
    }

    private func unreadable(_ reason: String) -> TransferError {
        let shown = displayText(directory.utf8)
        return TransferError(
            code: .localState,
            message: "the manifest of '\(shown)' cannot be read: \(reason)"
        )
    }
}
