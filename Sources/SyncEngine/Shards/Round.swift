internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// One pass over all shards of a cut mirror, by any number of processes on any machines.
///
/// The first of them makes the round's record, which says what all do; the others do the same or
/// nothing.
struct Round: Sendable, Hashable {
    static let folder = "rounds"
    private static let fileName = "begun"
    private static let endName = "finished"
    private static let longestName = 64

    let name: String
    let cutting: String
    /// Above those of all rounds before.
    let ordinal: Int
    let direction: SyncDirection
    /// What the runs are to do: names of options with their values.
    let options: [RoundOption]
    let rules: RoundRules
    /// The command line that the round began with; none for one that an app began.
    let command: [String]

    struct RoundOption: Sendable, Hashable {
        let name: String
        let value: String
    }
}

extension Round: StateFile {
    static let heading = "osssync-round 1"

    static func code(_ fields: inout JSONFields, _ value: Round?) throws(JSONFailure) -> Round {
        Round(
            name: try fields("round", value?.name),
            cutting: try fields("cutting", value?.cutting),
            ordinal: try fields("ordinal", value?.ordinal),
            direction: try fields("direction", value?.direction),
            options: try fields("options", value?.options),
            rules: try fields("rules", value?.rules),
            command: try fields("command", value?.command)
        )
    }
}

extension Round.RoundOption: JSONObject {
    static let isRow = true

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        Self(name: try fields("name", value?.name), value: try fields("value", value?.value))
    }
}

extension SyncDirection: JSONValue {}

/// What tells that all of a round is done.
struct RoundEnd: StateFile, Hashable {
    static let heading = "osssync-finished 1"

    let round: String
    let deletions: Int
    let time: StoreTime

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        RoundEnd(
            round: try fields("round", value?.round),
            deletions: try fields("deletions", value?.deletions),
            time: StoreTime(
                secondsSince1970: try fields("ended", value?.time.secondsSince1970)
            )
        )
    }
}

// MARK: - Names

extension Round {
    /// True for the name of a round that ``nameOfPlainRun(_:)`` may have made.
    static func isOfPlainRun(_ name: String) -> Bool {
        Int(name.dropFirst(plainRun.count)).map { name == nameOfPlainRun($0) } ?? false
    }

    /// The name of a round that no option names.
    static func nameOfPlainRun(_ ordinal: Int) -> String { plainRun + String(ordinal) }

    private static let plainRun = "run-"

    /// - Throws: `configuration` for what cannot be a round's name.
    static func check(_ name: String) throws(TransferError) {
        let isAllowed = name.utf8.allSatisfy { $0.isLetterOrDigit(or: "._-") }
        guard isAllowed, (1...longestName).contains(name.utf8.count), name != ".", name != ".."
        else {
            throw TransferError(
                code: .configuration,
                message: "'\(displayText(name.utf8))' cannot be the name of a round: use 1 to "
                    + "\(longestName) of A-Z, a-z, 0-9, '.', '_' and '-', such as a date"
            )
        }
    }
}

// MARK: - Beginning and end

extension Round {
    /// The round of the name, made by this call with these rules if there is none.
    ///
    /// - Throws: `configuration` if it does something else than is asked for now, if a newer one
    ///   has begun, or if the mirror was cut anew since.
    static func begin(
        _ name: String,
        _ cutting: Cutting,
        _ direction: SyncDirection,
        _ options: RunOptions,
        _ rules: IgnoreRules?,
        in directory: MirrorDirectory
    ) throws -> Round {
        try check(name)
        if let round = try read(name, in: directory) {
            try round.require(cutting, direction, options, in: directory)
            return round
        }
        guard let rules, try !isPast(name, in: directory) else {
            throw refusal(name, "it has ended")
        }
        let shown = try RoundRules(rules, in: directory)
        _ = try shown.ignored
        let newest = try newest(in: directory)
        let round = Round(
            name: name,
            cutting: cutting.name,
            ordinal: (newest?.ordinal ?? 0) + 1,
            direction: direction,
            options: options.deciding.map { RoundOption(name: $0, value: $1) },
            rules: shown,
            command: options.shard?.command ?? []
        )
        guard let folder = try directory.state.folder([Self.folder, name], makes: true) else {
            throw damaged(Self.folder)
        }
        try directory.state.synchronize()
        if try folder.create(fileName, round.content) {
            // What is left only takes room.
            try? removePast(in: directory)
            return round
        }
        // Another process was faster.
        guard let other = try read(name, in: directory) else { throw damaged(path(name)) }
        try other.require(cutting, direction, options, in: directory)
        return other
    }

    /// The round of the name; nil if it has not begun.
    static func read(_ name: String, in directory: MirrorDirectory) throws -> Round? {
        let round = try read(path(name)) { () throws(LocalError) in
            try directory.state.folder([folder, name], makes: false)?.read(fileName)
        }
        guard round?.name ?? name == name else { throw damaged(path(name)) }
        return round
    }

    /// The one that began last; nil if none has.
    static func newest(in directory: MirrorDirectory) throws -> Round? {
        try all(in: directory).max { $0.ordinal < $1.ordinal }
    }

    /// Those whose records are left, in no order.
    static func all(in directory: MirrorDirectory) throws -> [Round] {
        guard let folder = try directory.state.folder([Self.folder], makes: false) else {
            return []
        }
        return try folder.names().compactMap { name in
            name == pastName ? nil : try read(name, in: directory)
        }
    }

    private static func path(_ name: String) -> String { "\(folder)/\(name)/\(fileName)" }

    /// Checks that it is of this cutting, and the last one.
    func requireCurrent(_ cutting: Cutting, in directory: MirrorDirectory) throws {
        guard self.cutting == cutting.name else {
            throw refusal("the mirror was sharded again since it began")
        }
        if let newest = try Self.newest(in: directory), newest.ordinal > ordinal {
            throw refusal("round '\(newest.name)' has begun since")
        }
    }

    func require(
        _ cutting: Cutting,
        _ direction: SyncDirection,
        _ options: RunOptions,
        in directory: MirrorDirectory
    ) throws {
        try requireCurrent(cutting, in: directory)
        guard self.direction == direction else {
            throw refusal("it is a \(self.direction.rawValue)")
        }
        for (found, (name, value)) in zip(self.options, options.deciding)
        where found != RoundOption(name: name, value: value) {
            throw refusal(
                Self.difference(found, value),
                advice: "Use the options of the round, or begin another one with another NAME"
            )
        }
    }

    private static func difference(_ found: RoundOption, _ asked: String) -> String {
        switch (found.value, asked) {
        case ("true", "false"): "it began with \(found.name), which is missing now"
        case ("false", "true"): "it began without \(found.name)"
        case (let old, let new):
            "\(found.name) was '\(displayText(old.utf8))' when it began and is "
                + "'\(displayText(new.utf8))' now"
        }
    }

    func refusal(
        _ reason: String,
        advice: String = "Begin another round: another NAME with --round"
    ) -> TransferError {
        Self.refusal(name, reason, advice: advice)
    }

    private static func refusal(
        _ name: String,
        _ reason: String,
        advice: String = "Begin another round: another NAME with --round"
    ) -> TransferError {
        TransferError(
            code: .configuration,
            message: "round '\(name)': \(reason); nothing was changed. \(advice)"
        )
    }

    /// Notes that all of it is done.
    func end(deletions: Int, at time: Timestamp, in directory: MirrorDirectory) throws {
        let end = RoundEnd(round: name, deletions: deletions, time: StoreTime(time))
        let folder = try directory.state.folder([Self.folder, name], makes: true)
        try folder?.write(Self.endName, end.content)
    }

    func hasEnded(in directory: MirrorDirectory) throws(TransferError) -> Bool {
        try Self.hasEnded(name, in: directory)
    }

    static func hasEnded(_ name: String, in directory: MirrorDirectory) throws(TransferError)
        -> Bool
    {
        try end(of: name, in: directory) != nil
    }

    func end(in directory: MirrorDirectory) throws(TransferError) -> RoundEnd? {
        try Self.end(of: name, in: directory)
    }

    /// Nil for a round that has not ended.
    private static func end(
        of name: String,
        in directory: MirrorDirectory
    ) throws(TransferError) -> RoundEnd? {
        let (file, advice) = (
            "\(folder)/\(name)/\(endName)", "Remove it, and run 'osssync finish' again"
        )
        let end = try RoundEnd.read(file, advice: advice) { () throws(LocalError) in
            try directory.state.folder([folder, name], makes: false)?.read(endName)
        }
        guard end?.round ?? name == name else { throw RoundEnd.damaged(file, advice: advice) }
        return end
    }
}
