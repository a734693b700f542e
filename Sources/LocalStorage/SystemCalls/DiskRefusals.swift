internal import Synchronization

/// What a file system does not do for this user, which is taken as it is and told once.
package enum DiskRefusal: Sendable, Hashable, CaseIterable {
    case times
    case permissions
    case permissionsOfUmask
    case directorySynchronization
    case renames

    package var message: String {
        switch self {
        case .times:
            "modification times cannot be set on this disk: downloaded files have the time at "
                + "which they were written"
        case .permissions:
            "some permissions cannot be set on this disk, or not by this user: those files and "
                + "directories have others than the bucket records"
        case .permissionsOfUmask:
            "some files or directories get fewer permissions than the bucket records, because the "
                + "umask does not allow more; with 'umask 0' they get all of them"
        case .directorySynchronization:
            "directories cannot be synchronized on this disk: after a power cut, files may be "
                + "missing that the manifest has recorded; 'osssync verify' finds them"
        case .renames:
            "this disk does not let files be renamed from one directory to another: each "
                + "downloaded file is written a second time, in its own directory"
        }
    }
}

/// Those that were met by the calls on one directory and what is beneath it.
final class DiskRefusals: Sendable {
    private struct State {
        var met: Set<DiskRefusal> = []
        var told: Set<DiskRefusal> = []
    }

    private let state = Mutex(State())

    func note(_ refusal: DiskRefusal) { state.withLock { _ = $0.met.insert(refusal) } }

    /// Each of them once.
    func takeUntold() -> [DiskRefusal] {
        state.withLock { state in
            let new = state.met.subtracting(state.told)
            state.told.formUnion(new)
            return DiskRefusal.allCases.filter(new.contains)
        }
    }
}
