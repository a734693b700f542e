internal import LocalStorage
internal import ObjectTransfer

/// Rounds whose records were removed: a task that comes late must not begin one of them anew.
///
/// Those that a plain run named have names that never come again, and are not kept.
extension Round {
    /// Beside the directories of the rounds; the name of a round has no "~".
    static let pastName = "past~"
    private static let pastHeading = "osssync-past-rounds 1"
    /// Tasks are not years late.
    private static let mostPastNames = 2_000

    /// True if there was a round of this name.
    static func isPast(_ name: String, in directory: MirrorDirectory) throws -> Bool {
        try pastNames(in: directory).contains(name)
    }

    private static func pastNames(in directory: MirrorDirectory) throws -> [String] {
        guard let folder = try directory.stateFolder([folder], makes: false),
            let content = try folder.read(pastName)
        else { return [] }
        guard let record = StateRecord(pastHeading, content: content) else {
            throw Cutting.damaged("\(Self.folder)/\(pastName)")
        }
        return record.all("round").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Removes the rounds before the last one that has ended.
    static func removePast(in directory: MirrorDirectory) throws {
        guard let folder = try directory.stateFolder([folder], makes: false) else { return }
        let rounds = try all(in: directory).sorted { $0.ordinal < $1.ordinal }
        guard let last = try rounds.lastIndex(where: { try $0.hasEnded(in: directory) }), last > 0
        else { return }
        let names = rounds[..<last].map(\.name).filter { !isOfPlainRun($0) }
        if !names.isEmpty {
            var record = StateRecord(pastHeading)
            for name in (try pastNames(in: directory) + names).suffix(mostPastNames) {
                record.add("round", name)
            }
            try folder.write(pastName, record.content)
        }
        for round in rounds[..<last] { try directory.removeFolder(round.name, in: folder) }
    }

    /// Removes the records of all, of a mirror that is not cut any more.
    static func removeAll(in directory: MirrorDirectory) {
        // They only take room.
        guard let state = try? directory.stateFolder([], makes: false) else { return }
        try? directory.removeFolder(folder, in: state)
    }
}
