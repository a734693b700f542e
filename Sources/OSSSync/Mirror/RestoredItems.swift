internal import SyncEngine
internal import SyncModel
internal import Synchronization

extension RestoreRequest {
    /// True if it goes to another place than the one that it had.
    var isCopy: Bool { target != nil || outside != nil }

    /// The name of the object of a stored link; nil for a path that cannot be one.
    static func linkName(_ path: String) -> String? {
        let suffix = ObjectKey.linkSuffix
        let bytes = path.utf8
        guard !isAll(path), bytes.last != UInt8(ascii: "/"), !path.hasSuffix("\(suffix)") else {
            return nil
        }
        return path + "\(suffix)"
    }
}

extension RestoreReport {
    /// True if nothing came back, and nothing kept it from doing so.
    var hasNothing: Bool { restored == 0 && kept == 0 && failed == 0 }
    var isOnlyMissing: Bool { hasNothing && unchanged == 0 && !missing.isEmpty }
}

/// What came back, counted from any thread.
final class RestoredItems: Sendable {
    private let state = Mutex(RestoreReport())

    var report: RestoreReport { state.withLock(\.self) }

    /// Remembers a file that the bucket has lost.
    func note(lost key: String) { state.withLock { _ = $0.lostKeys.insert(key) } }

    func add(_ file: RestoredFile, _ onFile: (RestoredFile) -> Void) {
        state.withLock { report in
            report.add(file)
            // An older version must not take the place of what could not be fetched.
            if [.restored, .replaced, .unchanged, .kept, .failed].contains(file.state) {
                report.settledKeys.insert(file.key)
            }
        }
        onFile(file)
    }
}
