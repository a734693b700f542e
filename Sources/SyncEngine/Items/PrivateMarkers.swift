internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Directories that fewer users may enter than others, and what comes before their files.
///
/// Until the marker of such a directory is in the bucket, other machines open the directory: it is
/// sent before the files, by whatever comes to it first, and if it fails, they are not sent. The
/// same of one that is new to this machine, and is asked before files are put into a directory
/// that is here. Into one that another user put in the place of one here, nothing is downloaded.
final class PrivateMarkers: Sendable {
    private enum State {
        case planned(JoinedEntry)
        case underWay(SingleFlight)
        case ended(isSent: Bool)
        /// Another user's directory in the place of a recorded one.
        case refused
    }

    /// What is to be done about a marker.
    enum Turn {
        case none(isSent: Bool)
        case wait(SingleFlight)
        /// Nil if the directory was not looked at yet.
        case send(JoinedEntry?)
    }

    private let states = Mutex<[ObjectKey: State]>([:])
    /// Those that are sent after the deletions, and the files beneath them with them.
    private let postponed = Mutex<[ObjectKey: JoinedEntry]>([:])

    var isEmpty: Bool { states.withLock { $0.isEmpty } }

    /// Notes a marker before anything beneath it is planned.
    func expect(_ entry: JoinedEntry) {
        states.withLock { $0[entry.key] = .planned(entry) }
    }

    /// Notes a directory that gets no files.
    func refuse(_ key: ObjectKey) { states.withLock { $0[key] = .refused } }

    func isRefused(above key: ObjectKey) -> Bool {
        guard !isEmpty else { return false }
        return states.withLock { states in
            key.directoriesAbove.contains { directory in
                if case .refused? = states[directory] { true } else { false }
            }
        }
    }

    func isExpected(_ key: ObjectKey) -> Bool { states.withLock { $0[key] != nil } }

    /// Begins what is to be done; with `looks`, also of a directory that is not planned.
    func begin(_ key: ObjectKey, looks: Bool) -> Turn {
        states.withLock { states in
            let planned: JoinedEntry?
            switch states[key] {
            case .ended(let isSent): return .none(isSent: isSent)
            case .refused: return .none(isSent: true)
            case .underWay(let flight): return .wait(flight)
            case .planned(let entry): planned = entry
            case nil:
                guard looks else { return .none(isSent: true) }
                planned = nil
            }
            let flight = SingleFlight()
            _ = flight.begin()
            states[key] = .underWay(flight)
            return .send(planned)
        }
    }

    /// Says that a marker was refused, perhaps because of an object that this run deletes.
    func postpone(_ entry: JoinedEntry) { postponed.withLock { $0[entry.key] = entry } }

    func isPostponed(above key: ObjectKey) -> Bool {
        postponed.withLock { postponed in
            !postponed.isEmpty && key.directoriesAbove.contains { postponed[$0] != nil }
        }
    }

    /// Expects those once more that were postponed.
    func retry() {
        let entries = postponed.withLock { postponed in
            defer { postponed = [:] }
            return postponed.values
        }
        for entry in entries { expect(entry) }
    }

    /// Does what is to be done, or waits for who does it; false if it failed.
    func settle(
        _ key: ObjectKey,
        looks: Bool = false,
        _ body: (JoinedEntry?) async -> Bool
    ) async -> Bool {
        while true {
            switch begin(key, looks: looks) {
            case .none(let isSent): return isSent
            case .wait(let flight): await flight.ended()
            case .send(let planned):
                let isSent = await body(planned)
                end(key, isSent: isSent)
                return isSent
            }
        }
    }

    func end(_ key: ObjectKey, isSent: Bool) {
        let state = states.withLock { states in
            defer { states[key] = .ended(isSent: isSent) }
            return states[key]
        }
        if case .underWay(let flight)? = state { flight.end() }
    }

    /// Forgets a marker whose own item came, and that was sent.
    func forget(_ key: ObjectKey) {
        states.withLock { states in
            if case .ended(isSent: true)? = states[key] { states[key] = nil }
        }
    }
}
