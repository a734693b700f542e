internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// The transfers that run in this process and are no manager's, so that a screen that was left and
/// is entered again finds its own.
final class RunningTransfers: Sendable {
    /// Which file, and of an upload which object; nil for a download.
    struct Place: Sendable {
        let path: String
        let object: String?
    }

    private struct Entry: Sendable {
        let place: Place
        let transfer: any AnyObject & Sendable
    }

    static let shared = RunningTransfers()

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// It has begun.
    func add(_ transfer: some AnyObject & Sendable, at place: Place) {
        entries.withLock {
            $0[ObjectIdentifier(transfer)] = Entry(place: place, transfer: transfer)
        }
    }

    /// It has stopped.
    func remove(_ transfer: AnyObject) {
        _ = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(transfer)) }
    }

    /// The one at this place, however the path is spelled; nil if there is none.
    func find<Found: AnyObject & Sendable>(at place: Place) async -> Found? {
        let candidates = entries.withLock { entries in
            entries.values.filter { $0.place.object == place.object && $0.transfer is Found }
        }
        guard !candidates.isEmpty else { return nil }
        let disk = BlockingQueue(label: "osssync.find", width: 1, threads: .system)
        let found = await disk.run {
            let wanted = Self.onePath(of: place.path)
            return candidates.first { Self.onePath(of: $0.place.path) == wanted }
        }
        return found?.transfer as? Found
    }

    /// As it was given where it leads nowhere.
    private static func onePath(of path: String) -> String {
        (try? RecordPlace.relative(path, to: nil)) ?? path
    }
}
