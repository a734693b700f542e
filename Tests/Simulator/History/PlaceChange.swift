/// What happens to the directory as a whole, and to what stands around it.
enum PlaceChange: Codable, Hashable, Sendable {
    /// The directory is backed up with its own `.osssync`.
    case backUp
    /// The backup is put back into the directory: what came since goes.
    case restore
    /// The backup is put onto a new disk, which takes the directory's place.
    case restoreOntoNewDisk
    /// Another directory with these files takes the place; it got a copy of `.osssync`.
    case copyState([Name])
    /// The directory goes, as by `rm -rf`.
    case remove
    /// The directory is moved away, and an empty one takes its place.
    case moveAway
    /// Files in a directory, a few bytes each.
    case fill(Name, count: Int)
    /// A volume is mounted at a directory.
    case mount(Name, isOtherDevice: Bool)
    case unmount(Name)
    /// A directory becomes a mirror of its own.
    case nest(Name)
    /// The directory is sent to a second remote, with a state of its own.
    case pushElsewhere(seed: UInt64)
    /// Users write `.osssyncignore`.
    case ignore([String])
}

/// Ways in which the world is wider than a directory, a bucket and a machine.
enum WorldKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// Backups that are put back, copied states.
    case restored
    /// The directory goes during a run.
    case vanishing
    /// Who may write to the bucket means harm.
    case hostile
    /// Listings lack what is there, and have what is not.
    case lagging
    /// Disks that are not always mounted.
    case mounts
    /// Mirrors beneath the mirror.
    case nested
    /// A second remote for the directory.
    case secondRemote
    /// Clocks that are wrong, files whose times are coarse.
    case clocks
    /// Others write while a run goes on.
    case writers
    /// A disk with little room.
    case tight
    /// Runs that are limited to paths.
    case limited
}

/// Which worlds seeds draw from.
enum WorldSelection: Hashable, Sendable {
    case old
    /// All, or these.
    case new([WorldKind])
    /// Half of the seeds.
    case both([WorldKind])
    /// None of these, but some of those.
    case wide([WideKind])

    init?(_ text: String) {
        switch text {
        case "old": self = .old
        case "new": self = .new(WorldKind.allCases)
        case "both": self = .both(WorldKind.allCases)
        case "wide": self = .wide(WideKind.allCases)
        default:
            let words = text.split(separator: ",").map(String.init)
            let kinds = words.compactMap { WorldKind(rawValue: $0) }
            let wide = words.compactMap { WideKind(rawValue: $0) }
            guard !words.isEmpty, [kinds.count, wide.count].contains(words.count) else {
                return nil
            }
            self = wide.isEmpty ? .new(kinds) : .wide(wide)
        }
    }

    /// Those that a seed may draw from; none for the usual world.
    func kinds(_ seed: UInt64) -> [WorldKind] {
        switch self {
        case .old, .wide: []
        case .new(let kinds): kinds
        // Whatever else is made of the last bits of a seed happens in both halves.
        case .both(let kinds): seed >> 3 & 1 == 1 ? kinds : []
        }
    }

    var text: String {
        switch self {
        case .old: "old"
        case .new(let kinds): kinds.map(\.rawValue).joined(separator: ",")
        case .both: "both"
        case .wide(let kinds): kinds.map(\.rawValue).joined(separator: ",")
        }
    }
}
