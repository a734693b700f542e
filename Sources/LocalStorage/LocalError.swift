internal import CLibrary
package import SyncModel

/// A system call that failed.
package struct SystemCallError: Error, Sendable, Hashable {
    package let call: String
    package let errno: Int32
    /// What it was about, safe to print; nil where a descriptor is all there is.
    package let path: String?

    package init(call: String, errno: Int32, path: String?) {
        self.call = call
        self.errno = errno
        self.path = path
    }

    package var isReadOnly: Bool { errno == EROFS }

    /// The place may not be written, by the file system's or the owner's will.
    package var isWriteRefused: Bool { [EROFS, EACCES, EPERM].contains(errno) }

    package var message: String {
        let text = errorText(errno)
        let reason = text.prefix(1).lowercased() + text.dropFirst()
        guard let path else { return "\(reason) (\(call))" }
        return "'\(path)': \(reason)\(remedy)"
    }

    /// What can be done about a name that may not be taken from what has it.
    private var remedy: String {
        guard errno == EPERM, call.hasPrefix("rename") || call == "unlinkat" else { return "" }
        return " (it is immutable, or another user's in a directory with the sticky bit)"
            + Wording.of(
                library: "",
                program: "; run osssync as its owner or as root, or exclude it"
            )
    }
}

/// What went wrong with a local file or directory.
package enum LocalError: Error, Sendable, Hashable {
    case systemCall(SystemCallError)
    /// A directory that must exist does not.
    case missingDirectory(path: String)
    /// The directory in which a file or a directory is to be made does not exist.
    case missingParent(path: String)
    /// A file is not beneath the directory that it was said to be relative to.
    case outsideBase(path: String, base: String)
    /// A file that the user specified does not exist; the caller reports which.
    case missingFile
    case notADirectory(path: String)
    /// More users may enter a directory than may enter what is to be copied into it, and it is not
    /// empty, or another user's, or shared.
    case openForMore(path: String)
    /// The directory is one that no mirror may fill: `/`, the home directory, a system directory.
    case refusedDirectory(path: String, reason: String)
    /// An object would make a directory pass for the state of a mirror.
    case identityOfState(RelativePath)
    /// Other users can access our own state.
    case unsafeDirectory(path: String, reason: String)
    /// What was chosen for the state of a mirror holds files of the user's.
    case notAState(path: String)
    /// This component of a path is a symbolic link, and links are never followed.
    case symlinkInPath(RelativePath)
    /// This component of a path should be a directory and is something else.
    case parentIsFile(RelativePath)
    case absent(RelativePath)
    case targetIsDirectory(RelativePath)
    case targetIsSpecial(RelativePath, SpecialFileKind)
    /// A file has the name of a link that is to be made.
    case targetIsFile(RelativePath)
    /// The content of a stored link is not the text of one.
    case noLinkText(RelativePath)
    /// The target is no longer what the plan saw.
    case targetChanged(RelativePath)
    /// The file system takes the path's name and `other`, which is there, for one.
    case nameTaken(RelativePath, by: String)
    /// The file system has no such names.
    case nameRefused(RelativePath, reason: String)
    /// The path is on another mount than the temporary files, so a rename cannot reach it.
    case otherFileSystem(RelativePath)
    /// A temporary file is gone or is not the one that we made.
    case unusablePartial(name: String)
    /// A file became shorter or longer than it was.
    case sizeChanged(path: String, expected: Int64)
    /// No free name was found beside `path` or for it in the trash.
    case noFreeName(RelativePath)
    case diskFull(DiskShortage)
    case lockHeld(by: String)
    /// The right to change the mirror went to another process in the middle of a run.
    case leaseLost(to: String)
    /// The caller no longer waits for the result.
    case interrupted

    package var message: String {
        switch self {
        case .systemCall(let error): error.message
        case .missingDirectory(let path):
            "'\(path)' does not exist; check that its disk is mounted, or create it"
        case .missingParent(let path):
            "the directory '\(path)' does not exist: create it first"
        case .outsideBase(let path, let base):
            "'\(path)' is not in '\(base)', to which its record is relative"
        case .missingFile: "it does not exist; check its name"
        case .notADirectory(let path): "'\(path)' is not a directory"
        case .openForMore(let path):
            "more users may enter '\(path)' than may enter what is to be copied into it; choose "
                + "one that does not exist"
        case .refusedDirectory(let path, let reason):
            "'\(path)' is not mirrored: \(reason). A push with "
                + Wording.of(library: "a state directory elsewhere", program: "--state-dir PATH")
                + " can send it; anything else needs a separate directory"
        case .identityOfState(let path):
            "'\(path.display)' is a file of the state of a mirror, and is not downloaded"
        case .unsafeDirectory(let path, let reason): "'\(path)' is not safe to use: \(reason)"
        case .notAState(let path):
            "'\(path)' is not the state of a mirror and is not empty: it would not be mirrored any "
                + "more. Choose an empty or new directory"
                + Wording.of(library: "", program: " with --state-dir")
        case .symlinkInPath(let path):
            "'\(path.display)' is a symbolic link, and links are never followed"
        case .parentIsFile(let path):
            "'\(path.display)' is not a directory, so nothing can be stored beneath it"
        case .absent(let path): "'\(path.display)' no longer exists"
        case .targetIsDirectory(let path):
            "'\(path.display)' is a directory, so a file cannot replace it"
        case .targetIsSpecial(let path, let kind):
            "'\(path.display)' is \(kind.description) and is skipped"
        case .targetIsFile(let path):
            "'\(path.display)' is a file, so a symbolic link cannot replace it; move it away"
        case .noLinkText(let path):
            "'\(path.display)' cannot be created: the content of the object is not the target of a "
                + "symbolic link"
        case .targetChanged(let path):
            "'\(path.display)' changed during the run and is skipped; run again"
        case .nameTaken(let path, let other):
            "'\(path.display)' and '\(other)' are the same name on this disk; the existing one"
                + " is kept; rename one of them, or mirror to a disk that distinguishes them"
        case .nameRefused(let path, let reason):
            "'\(path.display)' cannot have this name on this disk (\(reason))"
        case .otherFileSystem(let path):
            "'\(path.display)' is on a different disk or mount than the mirror's temporary"
                + " files; mirror that one separately"
        case .unusablePartial(let name):
            "the temporary file '\(name)' is gone or was replaced; a new attempt begins again"
        case .sizeChanged(let path, let expected):
            "'\(path)' no longer has the \(expected) bytes it had; another program is writing it"
        case .noFreeName(let path):
            "no free name was found to keep the old version of '\(path.display)'"
        case .diskFull(let shortage): shortage.message
        case .lockHeld(let holder): "another run holds this directory (\(holder))"
        case .leaseLost(let holder):
            "another run has taken this directory (\(holder)), because the file server did not "
                + "respond to this one for too long; nothing more was changed; run again"
        case .interrupted: "interrupted"
        }
    }

    /// The error number, where a system call is the cause.
    package var errno: Int32? {
        switch self {
        case .systemCall(let error): error.errno
        case .diskFull(let shortage): shortage.errno
        default: nil
        }
    }

    /// True if this user may not do it, which the owner of the place decides.
    package var isAccessDenied: Bool { errno == EACCES }

    /// The same, or what nobody may do there.
    var isNotPermitted: Bool { errno == EACCES || errno == EPERM }

    /// True if nothing new can be written in a place: it may not be, or its disk is full.
    package var refusesWriting: Bool {
        switch self {
        case .systemCall(let call): call.isWriteRefused || isOutOfRoom
        default: isOutOfRoom
        }
    }

    /// True if this user may not read something, or may not change it.
    package var refusesReading: Bool { errno == EACCES || errno == EPERM }

    /// True if a disk, its inodes or a quota are used up.
    package var isOutOfRoom: Bool { errno == ENOSPC || errno == EDQUOT }

    /// True if the file system has no locks at all.
    var isWithoutLocks: Bool { [ENOSYS, EOPNOTSUPP, ENOLCK].contains(errno) }

    /// Of a call that was to give the file of `path` another name.
    func naming(_ path: RelativePath) -> LocalError {
        switch errno {
        case EXDEV: .otherFileSystem(path)
        case ENAMETOOLONG, EILSEQ, EINVAL:
            .nameRefused(path, reason: errorText(errno ?? 0).lowercased())
        default: self
        }
    }

    /// True if the disk itself failed: what it holds of a file that was written is not known.
    package var isMediaFailure: Bool { errno.map(Self.isOfMedia) ?? false }

    /// True for an error number of a disk that failed, or of a file system that is damaged.
    package static func isOfMedia(_ errno: Int32) -> Bool {
        #if os(Linux)
        // ext4 and XFS say ENODATA of a bad sector, and EUCLEAN of what their checks find.
        if [ENODATA, EUCLEAN].contains(errno) { return true }
        #endif
        return errno == EIO || errno == EBADMSG
    }

    /// True if the file system has no files as large as this one.
    package var isTooLarge: Bool { errno == EFBIG }

    /// True unless nothing is there, or this user may not see it: what is there may be anything.
    package var isDoubtful: Bool {
        guard let errno else { return false }
        return ![ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EACCES, EPERM].contains(errno)
    }

    /// True if nothing is put where more users could see it.
    package var isOpenForMore: Bool {
        if case .openForMore = self { true } else { false }
    }

    /// True if every other file would fail as this one did, so that continuing is pointless: the
    /// disk is full or read-only, or our own state is unusable.
    package var endsRun: Bool {
        switch self {
        case .diskFull, .missingDirectory, .missingParent, .refusedDirectory, .unsafeDirectory,
            .notAState, .lockHeld, .leaseLost:
            true
        case .systemCall(let error): error.errno == EROFS
        default: false
        }
    }
}

/// The disk, its inodes or the user's quota are used up.
package struct DiskShortage: Sendable, Hashable {
    package enum Resource: Sendable, Hashable {
        case space
        case inodes
        case quota
    }

    package let resource: Resource
    package let errno: Int32
    package let path: String?
    /// What was asked for at once; nil if that is not known.
    package let neededBytes: Int64?
    package let freeBytes: Int64?

    package init(
        resource: Resource,
        errno: Int32,
        path: String?,
        neededBytes: Int64?,
        freeBytes: Int64?
    ) {
        self.resource = resource
        self.errno = errno
        self.path = path
        self.neededBytes = neededBytes
        self.freeBytes = freeBytes
    }

    package var message: String {
        let subject = path.map { "'\($0)': " } ?? ""
        let needed = neededBytes.map { "\(sizeText($0)) are needed" }
        let free = freeBytes.map { "\(sizeText($0)) are free" }
        let numbers = [needed, free].compactMap(\.self).joined(separator: " and ")
        let detail = numbers.isEmpty ? "" : " (\(numbers))"
        return switch resource {
        case .space: "\(subject)the disk is full\(detail)"
        case .inodes: "\(subject)the file system has no free inodes"
        case .quota: "\(subject)the disk quota is used up\(detail)"
        }
    }
}
