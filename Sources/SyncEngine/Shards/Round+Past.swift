internal import LocalStorage
internal import ObjectStorage
package import ObjectTransfer
package import SyncModel

/// Rounds whose records were removed: a task that comes late must not begin one of them anew.
///
/// Those that a plain run named have names that never come again, and are not kept.
extension Round {
    /// Beside the directories of the rounds; the name of a round has no "~".
    static let pastName = "past~"
    /// Tasks are not years late.
    private static let mostPastNames = 2_000

    /// True if there was a round of this name.
    static func isPast(_ name: String, in directory: MirrorDirectory) throws -> Bool {
        try pastNames(in: directory).contains(name)
    }

    private static func pastNames(in directory: MirrorDirectory) throws -> [String] {
        let past = try PastRounds.read("\(folder)/\(pastName)") { () throws(LocalError) in
            try directory.state.folder([folder], makes: false)?.read(pastName)
        }
        return past?.names ?? []
    }

    /// Removes the rounds before the last one that has ended.
    static func removePast(in directory: MirrorDirectory) throws {
        guard let folder = try directory.state.folder([folder], makes: false) else { return }
        let rounds = try all(in: directory).sorted { $0.ordinal < $1.ordinal }
        guard let last = try rounds.lastIndex(where: { try $0.hasEnded(in: directory) }), last > 0
        else { return }
        let names = rounds[..<last].map(\.name).filter { !isOfPlainRun($0) }
        if !names.isEmpty {
            let all = try pastNames(in: directory) + names
            let past = PastRounds(names: Array(all.suffix(mostPastNames)))
            try folder.write(pastName, past.content)
        }
        for round in rounds[..<last] { try folder.removeFolder(round.name) }
    }

    /// Removes the records of all, of a mirror that is not cut any more.
    static func removeAll(in directory: MirrorDirectory) {
        // They only take room.
        guard let state = try? directory.state.folder([], makes: false) else { return }
        try? state.removeFolder(folder)
    }
}

struct PastRounds: StateFile, Hashable {
    static let heading = "osssync-past-rounds 1"

    let names: [String]

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        PastRounds(names: try fields("rounds", value?.names))
    }
}

extension LocalMirror {
    package func isSharded() throws(TransferError) -> Bool { try Cutting.read(in: open()) != nil }

    /// When the last complete run of each direction, or round of a cut mirror, ended, with the
    /// remote that the directory is linked with; takes no lock and changes nothing.
    package func lastSuccess() async throws(TransferError) -> [SyncDirection: StoreTime] {
        let directory = try open()
        guard try Cutting.read(in: directory) != nil else { return try await lastSuccessOfRuns() }
        do {
            var times: [SyncDirection: StoreTime] = [:]
            for round in try Round.all(in: directory) {
                guard let time = try round.end(in: directory)?.time else { continue }
                times[round.direction] = max(time, times[round.direction] ?? time)
            }
            return times
        } catch {
            throw TransferError(any: error)
        }
    }
}
