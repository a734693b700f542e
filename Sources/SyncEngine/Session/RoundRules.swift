internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// What every shard of a round skips: the ignore file and this machine's own one as they were when
/// the round began, and the accepted rules that hold back what the ignore file no longer hides.
///
/// The row that tells whether a download wrote the ignore file is in one shard's manifest only:
/// whoever begins a round reads that first, and accepts what the user has changed.
struct RoundRules: Sendable, Hashable {
    var current: [UInt8]?
    var local: [UInt8]?
    var held: [[UInt8]] = []

    init() {}

    /// Those of the ignore file as they were read when the round began; records nothing.
    init(_ rules: IgnoreRules, in directory: MirrorDirectory) throws {
        current = rules.text
        local = try directory.sharedState.read(LocalRules.fileName)
        let shown = rules.text ?? []
        held = try AcceptedRules(in: directory).following(shown).texts.filter { $0 != shown }
    }

    var ignored: FileFilter {
        get throws(FileFilter.InvalidPattern) {
            let own = try FileFilter(
                ignoreFile: local ?? [],
                named: ".osssync/\(LocalRules.fileName)"
            )
            return try FileFilter(ignoreFile: current ?? []).followed(by: own)
        }
    }

    var heldFilters: [FileFilter] {
        get throws(FileFilter.InvalidPattern) {
            try IgnoreFile.filters(held)
        }
    }
}

extension RoundRules: JSONObject {
    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        var rules = RoundRules()
        rules.current = try fields.optional("ignore", value?.current.map(PercentText.init))?.bytes
        rules.local = try fields.optional("local", value?.local.map(PercentText.init))?.bytes
        rules.held = try fields("held", value?.held.map(PercentText.init)).map(\.bytes)
        return rules
    }
}
