package import SyncModel

/// The trash of one run.
package struct TrashOfRun: Sendable, Hashable {
    /// What the name of a shard's run ends with.
    private static let shardSuffix = "-shard"
    /// What names the trash of a restoration, after the time.
    private static let restorationSuffix = "-restore"
    /// What names the trash of damaged files that good content replaced.
    private static let damageSuffix = "-damaged"

    package let name: [UInt8]

    package init(name: [UInt8]) {
        self.name = name
    }

    /// A further tree of a run.
    package init(name run: String, attempt: Int) {
        name = Self.directoryBytes(run: run, attempt: attempt)
    }

    /// When the run began and its number, safe to print.
    package var display: String { displayText(name) }

    /// When the run began; nil for a directory that osssync did not make.
    package var time: Timestamp? {
        Timestamp(basicText: String(decoding: name.prefix(16), as: UTF8.self))
    }

    /// The run's number; nil for what no run put there.
    ///
    /// In `20260102T030405Z-run-12`, in `…-run-12-shard`, and in further trees of a run, such as
    /// `…-run-12~1`.
    package var number: Int64? { parsed?.number }

    /// True if it was a run of one shard, of which each has numbers of its own.
    package var isOfShard: Bool { parsed?.isOfShard == true }

    /// True for what a restoration replaced, here or in the bucket, and for damaged files.
    package var isOfRestoration: Bool { isOfDamage || hasSuffix(Self.restorationSuffix) }

    /// True for files that were found damaged, which come back only if nothing else is left.
    package var isOfDamage: Bool { hasSuffix(Self.damageSuffix) }

    private func hasSuffix(_ text: String) -> Bool {
        time != nil && name.dropFirst(16).starts(with: text.utf8)
    }

    /// True if it is older: of one second, what a restoration replaced was there last.
    package func precedes(_ other: TrashOfRun) -> Bool {
        if isOfRestoration != other.isOfRestoration, name.prefix(16) == other.name.prefix(16) {
            return other.isOfRestoration
        }
        return name.lexicographicallyPrecedes(other.name)
    }

    /// The name for what a restoration replaces that began at `stamp`.
    package static func nameOfRestoration(stamp: String) -> String {
        stamp + restorationSuffix
    }

    /// The name for damaged files that a run replaces which began at `stamp`.
    package static func nameOfDamage(stamp: String) -> String { stamp + damageSuffix }

    /// The name for what a restoration replaces that begins now, where these trees are.
    ///
    /// Later than all of them, and none of them: what is moved there would be restored, too.
    package static func nameOfRestoration(
        _ now: Timestamp,
        after trees: [TrashOfRun]
    ) -> String {
        var moment = now
        for tree in trees {
            guard let time = tree.time else { continue }
            let seconds = tree.isOfRestoration ? time.seconds + 1 : time.seconds
            moment = max(moment, Timestamp(seconds: seconds))
        }
        return nameOfRestoration(stamp: CivilTime(moment).basicText)
    }

    /// The name for a run that began at `stamp`.
    package static func name(stamp: String, number: Int64, isOfShard: Bool) -> String {
        "\(stamp)-run-\(number)" + (isOfShard ? shardSuffix : "")
    }

    /// The host in a name that does not end in `mark`, safe to print.
    package func host(unless mark: String) -> String? {
        guard !name.suffix(mark.utf8.count).elementsEqual(mark.utf8) else { return nil }
        let parts = name.split(separator: UInt8(ascii: "~"))
        return parts.count > 1 ? displayText(parts[1]) : nil
    }

    /// True for all trees of the run of this name.
    package func isOfRun(_ run: String) -> Bool {
        let first = Self.firstName(run: run)
        return name == first || name.starts(with: first + "~".utf8)
    }

    /// `run` comes from our own run numbers; what could be a path becomes "_".
    static func directoryName(run: String, attempt: Int) -> PathBytes {
        PathBytes(directoryBytes(run: run, attempt: attempt))
    }

    private static func directoryBytes(run: String, attempt: Int) -> [UInt8] {
        firstName(run: run) + (attempt > 0 ? [UInt8]("~\(attempt)".utf8) : [])
    }

    private static func firstName(run: String) -> [UInt8] {
        var bytes = run.utf8.prefix(128).map { byte in
            byte == 0 || byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
        }
        if bytes.isEmpty || bytes.first == UInt8(ascii: ".") { bytes.insert(95, at: 0) }
        return bytes
    }

    private var parsed: (number: Int64, isOfShard: Bool)? {
        guard time != nil, name.dropFirst(16).starts(with: "-run-".utf8) else {
            return nil
        }
        var digits = name.dropFirst(21).prefix { $0 != UInt8(ascii: "~") }
        let suffix = Self.shardSuffix.utf8
        let isOfShard = digits.suffix(suffix.count).elementsEqual(suffix)
        if isOfShard { digits = digits.dropLast(suffix.count) }
        return Int64(String(decoding: digits, as: UTF8.self)).map { ($0, isOfShard) }
    }
}
