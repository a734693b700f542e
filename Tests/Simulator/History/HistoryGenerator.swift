internal import SyncModel
internal import SyncTestSupport

/// Makes the history that a seed stands for.
struct HistoryGenerator {
    var generator: SeededGenerator
    private let seed: UInt64
    private var names: [Name] = []
    /// Classes of faults that this history has at all.
    private(set) var kinds: [FaultKind] = []
    private(set) var mayInterrupt = false
    private(set) var mayCutPower = false
    /// The size of parts that most of its runs have.
    private(set) var partSize: Int64 = 64

    init(seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    static func history(seed: UInt64, _ worlds: WorldSelection) -> History {
        var maker = HistoryGenerator(seed: seed)
        var history = maker.make()
        // Drawn from nothing, so that all else of the seed stays as it is.
        if seed % 5 == 2 { history.setup.escapesNames = true }
        if case .wide(let kinds) = worlds { return maker.madeWide(history, kinds) }
        let kinds = worlds.kinds(seed)
        return kinds.isEmpty ? history : maker.widened(history, kinds)
    }

    private mutating func make() -> History {
        let setup = makeSetup()
        names = makeNames()
        let isQuiet = generator.oneIn(4)
        if !isQuiet {
            kinds = FaultKind.allCases.filter { _ in generator.oneIn(4) }
        }
        mayInterrupt = !generator.oneIn(3)
        mayCutPower = mayInterrupt && !generator.oneIn(3)
        partSize = makePartSize()
        let ending = generator.pick([.pull, .pull, .push, .sync] as [ToolRun.Direction])
        var operations: [Operation] = []
        let (count, start, interval) = makeLength()
        for _ in 0..<start { operations.append(.world(makeStart(ending))) }
        while operations.count < count {
            if generator.oneIn(interval) {
                operations += makeRuns(ending).map { .run($0) }
            } else {
                operations.append(.world(makeChange()))
            }
        }
        return History(seed: seed, setup: setup, operations: operations, ending: ending)
    }

    /// How many operations there are, how many of them at the start fill a side, and of how many
    /// one is a run.
    ///
    /// Half of the histories are short: what fails seldom needs more than a few operations, and of
    /// short ones there can be many. Some take a state through many runs.
    private mutating func makeLength() -> (count: Int, start: Int, interval: Int) {
        switch generator.below(20) {
        case 0, 1: (40 + generator.below(80), 3 + generator.below(6), 4)
        case 2...8: (12 + generator.below(28), 2 + generator.below(6), 4)
        default: (4 + generator.below(10), 1 + generator.below(3), 3)
        }
    }

    private mutating func makeSetup() -> Setup {
        var setup = Setup()
        setup.dialect = generator.oneIn(3) ? .s3 : .oss
        setup.pageSize = 1 + generator.below(8)
        setup.reusesInodes = generator.oneIn(2)
        setup.syncsNames = generator.oneIn(2)
        setup.directoryOrder = generator.oneIn(2) ? 0 : generator.next() >> 12
        setup.capacity = generator.oneIn(12) ? Int64(200_000 + generator.below(400_000)) : nil
        setup.pieceSize = 64 << generator.below(6)
        setup.usesOpenat2 = !generator.oneIn(5)
        setup.attempts = 1 + generator.below(4)
        setup.uncheckpointed = 256 << Int64(generator.below(5))
        setup.smallestWorthAsking = generator.oneIn(2) ? 512 : 1 << 20
        setup.batch = 1 + generator.below(9)
        setup.publicationGroup = 1 + generator.below(6)
        setup.rowsPerListing = generator.oneIn(3) ? 2 : 8_000
        setup.minimumPartSize = 64 << Int64(generator.below(5))
        setup.maximumCopySize = generator.oneIn(4) ? 700 : 1_000_000
        return setup
    }

    // MARK: - Names

    private static let segments = [
        "a", "A", "b", "c.txt", "d", "\u{E9}", "e\u{301}", "con", "%2e", "x y", "a-b",
    ]

    private static let hostileSegments = [
        "", ".", "..", "..\u{301}", ".osssync", ".OSSSYNC", "\n", "\u{1B}[2J", "\u{202E}x", "-rf",
        "C:", "a\\b", "+", "&", "?", "#",
    ]

    private mutating func makeNames() -> [Name] {
        let isHostile = generator.oneIn(3)
        return (0..<(4 + generator.below(9))).map { _ in
            let parts = (0..<(1 + generator.below(3))).map { _ -> [UInt8] in
                if isHostile, generator.oneIn(4) { return makeHostileSegment() }
                return [UInt8](generator.pick(Self.segments).utf8)
            }
            return Name(ObjectKey([UInt8](parts.joined(separator: [UInt8(ascii: "/")]))))
        }
        .filter { !$0.key.isEmpty }
    }

    private mutating func makeHostileSegment() -> [UInt8] {
        switch generator.below(20) {
        case 0: [UInt8](repeating: UInt8(ascii: "x"), count: 255)
        case 1: [UInt8](repeating: UInt8(ascii: "x"), count: 256)
        case 2: [0x61, 0, 0x62]
        case 3: [0xFF, 0xFE]
        default: [UInt8](generator.pick(Self.hostileSegments).utf8)
        }
    }

    mutating func name() -> Name {
        names.isEmpty ? Name("a") : generator.pick(names)
    }

    mutating func size() -> Int {
        switch generator.below(8) {
        case 0: 0
        case 1: 8 + generator.below(9)
        case 2, 3: 16 + generator.below(500)
        case 4, 5: 512 << generator.below(5)
        default: 1_000 + generator.below(12_000)
        }
    }
}

// MARK: - The world

extension HistoryGenerator {
    private mutating func makeStart(_ ending: ToolRun.Direction) -> WorldChange {
        ending == .push || ending == .sync && generator.oneIn(2)
            ? .local(.write(name(), size: size())) : .remote(.put(name(), size: size()))
    }

    private mutating func makeChange() -> WorldChange {
        switch generator.below(20) {
        case 0...9: .remote(makeRemoteChange())
        case 10...17: .local(makeLocalChange())
        default: .state(makeStateChange())
        }
    }

    mutating func makeRemoteChange() -> RemoteChange {
        switch generator.below(42) {
        case 0..<8: .put(name(), size: size())
        case 8..<11: .putOpaquely(name(), size: size())
        case 11..<16: .alter(name())
        case 16..<18: .append(name(), size: 1 + generator.below(600))
        case 18..<24: .delete(name())
        case 24: .deleteBelow(name())
        case 25, 26: .retag(name())
        case 27, 28: .copy(from: name(), to: name())
        case 29: .archive(name())
        case 30: .restore(name())
        case 31: .link(name(), to: name())
        case 32: .marker(name())
        case 33: .foreignUpload(name())
        case 34: .abortUploads
        case 35, 36: .flip(name(), size: size())
        case 37: .deleteAll
        default: .put(beside(name()), size: size())
        }
    }

    /// A name above or beneath another, so that a file is in a directory's way.
    private mutating func beside(_ name: Name) -> Name {
        let bytes = name.key.bytes
        if generator.oneIn(2), let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > 0 {
            return Name(ObjectKey([UInt8](bytes[..<slash])))
        }
        return Name(ObjectKey(bytes + [UInt8]("/b".utf8)))
    }

    mutating func makeLocalChange() -> LocalChange {
        switch generator.below(27) {
        case 0..<4: .write(name(), size: size())
        case 4, 5: .replace(name(), size: size())
        case 6..<9: .alter(name())
        case 9: .append(name(), size: 1 + generator.below(600))
        case 10, 11: .touch(name())
        case 12..<15: .delete(name())
        case 15, 16: .rename(from: name(), to: name())
        case 17: .copy(from: name(), to: name())
        case 18: .makeDirectory(name())
        case 19: .chmod(name(), mode: generator.pick([0o600, 0o644, 0o755]))
        case 20: .replaceByLink(name())
        case 21: .replaceByFIFO(name())
        case 22: .replaceByDirectory(name())
        case 23, 24: .flip(name(), size: size())
        case 25: .deleteAll
        default: .write(beside(name()), size: size())
        }
    }

    private mutating func makeStateChange() -> StateChange {
        switch generator.below(20) {
        case 0, 1: .deleteManifest
        case 2, 3: .saveManifest
        case 4: .restoreManifest
        case 5, 6: .flipByte(seed: generator.next() >> 12)
        case 7: .truncateManifest
        case 8: .deleteLog
        case 9: .deletePartials
        case 10, 11: .spoilPartial(seed: generator.next() >> 12)
        case 12, 13: .setClock(by: generator.pick([-31_536_000, -3_600, 0, 5, 31_536_000]))
        case 14, 15: .wait(Int64(generator.pick([1, 60, 90_000, 864_000])))
        case 16, 17: .renameRemote
        default: .synchronizeDisk
        }
    }
}
