/// What happens on real machines and stores beside all else.
///
/// Seeds of their own have it (`--worlds wide`), so that the older ones stay what they are.
enum WideKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// Bits flip behind the times of files, and a verification tells of it.
    case damage
    /// Edits that leave the time of modification as it was.
    case keptTimes
    /// Files with several names.
    case hardLinks
    /// An ordinary user, groups, access control lists.
    case rights
    /// Directories and files that the user may not read.
    case unreadable
    /// Links, tags and special files in the place of what is recorded.
    case hidden
    /// Rules that change between runs, files that go while they are hidden.
    case filters
    /// A second state of the directory, on another disk.
    case states
    /// Files that grow while they are sent.
    case growing
    /// The same bucket at another port is another one.
    case ports
    /// HEAD tells that every object is empty.
    case emptyHeads
    /// Now and then a request is refused because there are too many.
    case refused
    /// A store that knows no conditions for writes, or no deletion of several keys.
    case oldStore
    /// A store whose objects are files in directories.
    case folders
    /// Files whose local copies are removed to free the disk.
    case freed
    /// Large files that change a little, and a store that does not always copy what it says.
    case parts
}

/// What happens in these worlds.
enum WideChange: Codable, Hashable, Sendable {
    /// Bits flip on the disk; size and times stay.
    case damage(Name, seed: UInt64)
    /// Other content of the same size; the time of modification is set back.
    case alterKeepingTime(Name)
    /// As `cp -a`.
    case copyKeepingTime(from: Name, to: Name)
    case hardLink(from: Name, to: Name)
    /// What has the name is moved to another place, and a link to it is left.
    case moveBehindLink(Name)
    /// A file that says that its directory is not to be backed up.
    case tag(Name)
    /// The same file as an object.
    case putTag(Name)
    case setRights(Name, Rights)
    /// A file grows while a run goes on.
    case grow(Name, size: Int)
    /// The directory is sent to another remote, with a state on another disk.
    case runElsewhere(seed: UInt64, trashDays: Int)
    /// The endpoint has another port; and back.
    case changePort
    /// The list of what was freed is removed.
    case loseFreedList
}

/// What users may do with a file or directory.
struct Rights: Codable, Hashable, Sendable {
    var mode: UInt32
    var owner: UInt32?
    var group: UInt32?
    /// An access control list: what one user, the group, and the others may do, and the mask.
    var list: List?
    /// The list is for what is made in the directory.
    var isInherited = false

    struct List: Codable, Hashable, Sendable {
        var user: UInt32
        var userBits: UInt16
        var groupBits: UInt16
        var mask: UInt16
        var others: UInt16
    }
}

extension Setup {
    func has(_ kind: WideKind) -> Bool { wide?.contains(kind) ?? false }
}
