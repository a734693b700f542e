internal import SyncModel

/// What others do to the bucket.
enum RemoteChange: Codable, Hashable, Sendable {
    case put(Name, size: Int)
    /// As an object of several parts, whose tag is no digest.
    case putOpaquely(Name, size: Int)
    /// Other content of the same size.
    case alter(Name)
    case append(Name, size: Int)
    /// The same bytes under another tag.
    case retag(Name)
    /// The bytes of another object.
    case copy(from: Name, to: Name)
    case delete(Name)
    case deleteBelow(Name)
    case archive(Name)
    case restore(Name)
    case link(Name, to: Name)
    case marker(Name)
    /// Somebody else begins an upload of this key and sends a part.
    case foreignUpload(Name)
    /// The service forgets every unfinished upload, as its rules may tell it to.
    case abortUploads
    /// An object becomes a directory of one: it goes, and one beneath its name comes; or back.
    case flip(Name, size: Int)
    /// Every object goes, or seems to.
    case deleteAll
    /// Other content of the same size under the key that a run asked of last.
    case alterAsked
    /// Other content under the key that a run asked of last.
    case putAsked(size: Int)
    /// A link to an object outside the prefix.
    case linkOutside(Name)
    /// `.osssyncignore` with these lines; with none, one that no program understands.
    case ignore([String])
    /// Other content of the size of an object under another key, and with that object's tag.
    case putTwin(Name, of: Name)
    /// The object gets another name, as by a tool that copies and deletes.
    case rename(from: Name, to: Name)
}

/// What a user or other programs do to the directory.
enum LocalChange: Codable, Hashable, Sendable {
    case write(Name, size: Int)
    /// As an editor does that renames a new file over the old one.
    case replace(Name, size: Int)
    case alter(Name)
    case append(Name, size: Int)
    case touch(Name)
    case delete(Name)
    case rename(from: Name, to: Name)
    case copy(from: Name, to: Name)
    case makeDirectory(Name)
    case chmod(Name, mode: UInt32)
    case replaceByLink(Name)
    case replaceByFIFO(Name)
    case replaceByDirectory(Name)
    /// A file becomes a directory of one, or back.
    case flip(Name, size: Int)
    /// Everything goes.
    case deleteAll
    /// Changes the file, of the same size, whose key a run asked of last.
    case alterAsked
}

/// What happens to the state, the machine and the remote's name.
enum StateChange: Codable, Hashable, Sendable {
    case deleteManifest
    /// Keeps a copy of the manifest, for `restoreManifest`.
    case saveManifest
    case restoreManifest
    case flipByte(seed: UInt64)
    case truncateManifest
    case deleteLog
    /// Damages a file that waits in `partial`.
    case spoilPartial(seed: UInt64)
    case deletePartials
    /// The wall clock is set; seconds.
    case setClock(by: Int64)
    /// Time passes; seconds.
    case wait(Int64)
    /// The bucket is another one by its endpoint's name; and back.
    case renameRemote
    /// Everything is written to the disk, as the system does from time to time.
    case synchronizeDisk
}

enum WorldChange: Codable, Hashable, Sendable {
    case remote(RemoteChange)
    case local(LocalChange)
    case state(StateChange)
    case place(PlaceChange)
    case wide(WideChange)
}

/// One step of a history.
enum Operation: Codable, Hashable, Sendable {
    case world(WorldChange)
    case run(ToolRun)
    case nodes(NodeOperation)
}

/// One use of the program.
struct ToolRun: Codable, Hashable, Sendable {
    enum Direction: String, Codable, Sendable { case pull, push, sync }
    enum Conflicts: String, Codable, Sendable, CaseIterable {
        case keepBoth, local, remote, skip, fail
    }

    /// Ends the run early.
    struct Interruption: Codable, Hashable, Sendable {
        enum Kind: String, Codable, Sendable { case kill, powerCut, cancel }
        enum Place: String, Codable, Sendable {
            /// The n-th call on the disk.
            case call
            /// The n-th call that changes the disk.
            case change
            /// Before the n-th request reaches the service.
            case request
            /// After the service carried out the n-th request, before its answer comes.
            case answer
            /// The n-th piece of work.
            case step
            /// The n-th call that gives, takes or changes a name.
            case name
            /// The n-th write to a file, of which a part was done.
            case write
        }
        var kind: Kind
        var place: Place
        var number: Int
        /// Of the power cut's choices.
        var seed: UInt64
        /// How names that were not synced are lost: 0 to 2.
        var mode: Int
    }

    /// A change of the world while the run goes on.
    struct Meanwhile: Codable, Hashable, Sendable {
        /// Before the n-th request.
        var request: Int
        /// Not before it but once it was carried out; nil for no.
        var isAfter: Bool?
        var change: WorldChange
    }

    /// What the program is used for, beside a run.
    enum Tool: String, Codable, Sendable, CaseIterable {
        case status
        /// Drops what was interrupted.
        case cancel
        /// Compares files with what is recorded.
        case verify
        /// The same, and fetches again what is damaged.
        case repair
        /// Removes local copies of what the bucket has: at the paths, or without any, older ones.
        case free
    }

    /// The program is started a second time on the directory, while the run goes on.
    struct Rival: Codable, Hashable, Sendable {
        /// Before the n-th request of the first.
        var request: Int
        var direction: Direction
    }

    var direction: Direction
    var deletesKnown = false
    var deletesExtra = false
    var allowsEmpty = false
    var allowsRebinding = false
    var replacesLocalChanges = false
    var conflicts = Conflicts.keepBoth
    var comparesContent = false
    var connections = 4
    var partSize: Int64 = 4_096
    var trashDays = 7
    /// The share of the rows that may be deleted.
    var deletionPercent = 50
    var isDryRun = false
    /// Of the order in which things happen.
    var seed: UInt64
    var order = Scheduler.Order.random
    var faults: FaultPlan
    var interruption: Interruption?
    var meanwhile: [Meanwhile] = []
    /// Nil for a run.
    var tool: Tool?
    var rival: Rival?
    /// Names whose files and directories are left alone, wherever they are.
    var excluded: [String]?
    /// So many deletions are allowed, instead of a share.
    var deletionLimit: Int?
    /// What it is limited to; nil for the whole mirror.
    var paths: [Name]?
    /// Larger files and objects are left alone.
    var maximumSize: Int64?
    /// Directories with a tag are left alone.
    var excludesTags: Bool?
}

/// A whole simulation, as data: what a seed stands for, and what a shrunk failure is kept as.
struct History: Codable, Hashable, Sendable {
    var seed: UInt64
    var setup: Setup
    var operations: [Operation]
    /// How the last runs go, when everything is quiet.
    var ending: ToolRun.Direction
}

/// What holds for a whole history.
struct Setup: Codable, Hashable, Sendable {
    enum Dialect: String, Codable, Sendable { case oss, s3 }

    var dialect = Dialect.oss
    /// Objects on a page.
    var pageSize = 5
    var reusesInodes = false
    /// As ext4: fsync of a file makes its new name durable, too.
    var syncsNames = false
    /// 0: as names came.
    var directoryOrder: UInt64 = 0
    /// Bytes; nil: no limit.
    var capacity: Int64?
    /// The largest piece in which a body comes.
    var pieceSize = 700
    var usesOpenat2 = true
    /// Attempts of one request.
    var attempts = 3
    /// Bytes of one stream that a kill may cost.
    var uncheckpointed: Int64 = 2_048
    var smallestWorthAsking: Int64 = 512
    var batch = 7
    var publicationGroup = 4
    var rowsPerListing = 8_000
    var minimumPartSize: Int64 = 256
    var maximumCopySize: Int64 = 1_000_000
    /// What the history has beside the usual world; nil: nothing.
    var worlds: [WorldKind]?
    /// The state is kept outside the directory.
    var keepsStateElsewhere: Bool?
    /// That place is a volume of its own, of the same device.
    var stateIsMounted: Bool?
    /// Tags are made of sizes and of how often a key was written.
    var hasWeakTags: Bool?
    /// Times of files are multiples of so many nanoseconds.
    var timeStep: Int64?
    /// Runs mirror keys that fit no file name.
    var escapesNames: Bool?
    /// What else the world has; nil: nothing.
    var wide: [WideKind]?
    /// The store knows no deletion of several keys.
    var deletesOneByOne: Bool?
    /// The store knows no conditions for writes.
    var hasNoConditions: Bool?
    /// Every third copied part has another content than it should, and on OSS the answer says that
    /// it has not.
    var spoilsCopies: Bool?
    /// One request in so many is refused once, as one too many.
    var refusesOneIn: Int?
    /// Contents are encrypted before they are sent.
    var isEncrypted: Bool?
    /// The machines that share the directory; nil for one machine with a mirror that is not cut.
    var nodes: NodesSetup?

    var names: NamePolicy { escapesNames == true ? .escape : .skip }

    func has(_ kind: WorldKind) -> Bool { worlds?.contains(kind) ?? false }
}
