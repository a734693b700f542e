internal import CLibrary
package import SyncModel

/// Something that a walk found and could not turn into an entry.
package struct WalkIssue: Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        /// Links are not followed.
        case symbolicLink
        /// The link is an entry of another key, and nothing else can be at its path.
        case storedLink
        /// The link leads to nothing that is mirrored in its place.
        case unfollowedLink(Target)
        /// A file has the name that the key of a stored link has.
        case linkName
        /// Never opened.
        case special(SpecialFileKind)
        /// The state of a mirror that lies within this one; the path is that of its state.
        case nestedMirror
        /// The directory is the state of a mirror, whatever its name.
        case state
        /// What is mounted there shows the kernel, and holds no files.
        case pseudoFileSystem(String)
        /// Another file system is mounted there, and none is to be entered.
        case otherFileSystem
        /// The name is one of osssync's own.
        case reservedName
        /// It lies in the directory of escaped names and is no key's.
        case noEscapedName
        /// No key can have this name.
        case nameNotUTF8
        /// A file in a directory of such a name, whose path is that of the directory.
        case beneathUnnamed
        /// A key would have too many segments.
        case tooDeep
        case unreadableDirectory(errno: Int32)
        case unreadableEntry(errno: Int32)
        /// It became a directory, or stopped being one, during the walk.
        case changedDuringWalk
        /// It was gone when its turn came: deleted, or renamed to a place that was passed.
        case disappeared
        /// Another mount began here in the last run, and none does now.
        case notMounted
        /// The directory holds a file of this name, which excludes it.
        case tagged(by: String)
        /// The directory may hold one, which cannot be read.
        case unreadableTag(errno: Int32)
        /// It is in the way of what was freed, which is only in the bucket: a file there is a
        /// directory here, or the other way round.
        case freedPlace
        /// A link or special file that a pattern excludes: it hides what is recorded at and beneath
        /// its name, which the pattern need not exclude.
        case excludedEntry
    }

    /// What a link leads to that is not followed.
    package enum Target: Sendable, Hashable {
        /// Out of the mirrored directory, into osssync's own files, or over another link.
        case outside
        case directory
        case special
        case nothing
    }

    /// The path beneath the mirrored directory, without a "/" at its end.
    package let path: [UInt8]
    package let reason: Reason
    /// A file, or a link that is stored, that only a name keeps out, or a directory's tag; empty
    /// for all else.
    package let files: [FileIdentity]

    package init(path: [UInt8], reason: Reason, files: [FileIdentity] = []) {
        self.path = path
        self.reason = reason
        self.files = files
    }

    /// True if files may exist that the walk did not see, so that no absence proves a deletion.
    ///
    /// Where this is false, the walk is complete but for the path and what is beneath it.
    package var makesScanIncomplete: Bool {
        switch reason {
        case .symbolicLink, .storedLink, .unfollowedLink, .linkName, .special, .nestedMirror,
            .state, .pseudoFileSystem, .otherFileSystem, .reservedName, .noEscapedName,
            .nameNotUTF8, .beneathUnnamed, .tooDeep, .disappeared, .tagged, .unreadableTag,
            .freedPlace, .excludedEntry:
            false
        // Who may not look at a thing is told so by a disk that is well.
        case .unreadableDirectory(let errno), .unreadableEntry(let errno):
            !Self.isRefusal(errno)
        case .changedDuringWalk, .notMounted: true
        }
    }

    /// True for what the disk failed to show.
    package var isOfDisk: Bool {
        switch reason {
        case .unreadableDirectory(let errno), .unreadableEntry(let errno):
            LocalError.isOfMedia(errno)
        default: false
        }
    }

    private static func isRefusal(_ errno: Int32) -> Bool {
        [EACCES, EPERM, lockedErrno].contains(errno)
    }

    /// Of an encrypted directory without its key: its names are others, and its files cannot be
    /// opened.
    static var lockedErrno: Int32 {
        #if os(Linux)
        ENOKEY
        #else
        EACCES
        #endif
    }

    /// True for a directory that is left out for a tag in it.
    package var isOfTag: Bool {
        if case .tagged = reason { true } else { false }
    }

    /// True for what no mirror takes; with anything else something of the mirror is missing.
    package var isLeftOutByDesign: Bool {
        switch reason {
        case .symbolicLink, .unfollowedLink, .special, .nestedMirror, .state, .pseudoFileSystem,
            .reservedName, .noEscapedName:
            true
        case .storedLink, .linkName, .nameNotUTF8, .beneathUnnamed, .tooDeep, .notMounted,
            .unreadableDirectory, .unreadableEntry, .changedDuringWalk, .disappeared, .tagged,
            .unreadableTag, .otherFileSystem, .freedPlace, .excludedEntry:
            false
        }
    }

    /// True for what stands at a path in the place of what a mirror can hold there; it is known,
    /// and says nothing of any other path.
    package var replacesWhatWasThere: Bool {
        switch reason {
        case .symbolicLink, .unfollowedLink, .special, .state, .pseudoFileSystem, .excludedEntry:
            true
        default: false
        }
    }

    /// True for a name that no key is planned for in any case, so that it hides nothing.
    package var isReserved: Bool { reason == .nestedMirror || reason == .reservedName }

    /// True for a directory that is excluded by a file in it, or by its file system.
    package var isTag: Bool {
        switch reason {
        case .tagged, .unreadableTag, .otherFileSystem: true
        default: false
        }
    }

    package var message: String {
        let name = displayText(path)
        switch reason {
        case .symbolicLink: return "skipped '\(name)': a symbolic link"
        case .storedLink:
            return "'\(name)' is a symbolic link, which is mirrored as "
                + "'\(name)\(ObjectKey.linkSuffix)'."
        case .unfollowedLink(let target):
            let what =
                switch target {
                case .outside:
                    "leads out of the mirror, over another link, or to a name that is not mirrored"
                case .directory: "leads to a directory, which is mirrored under its own name"
                case .special: "leads to a special file"
                case .nothing: "leads to no existing file"
                }
            return "skipped '\(name)': a symbolic link that \(what)"
        case .linkName:
            return "'\(name)' has a name under which only symbolic links are stored, and is "
                + "skipped; rename it, or use --links skip"
        case .special(let kind): return "skipped '\(name)': \(kind.description)"
        case .nestedMirror:
            let inner = displayText(path.dropLast(RelativePath.stateDirectoryName.utf8.count + 1))
            return "'\(inner)' is a separate mirror; its '.osssync' is skipped"
        case .state:
            return "'\(name)' is the state directory of a mirror, and is skipped"
        case .pseudoFileSystem(let kind):
            return "'\(name)' is the \(kind) file system of the kernel, and is skipped"
        case .otherFileSystem:
            return "'\(name)' is another file system, and is excluded by --one-file-system"
        case .reservedName:
            return "skipped '\(name)': the name is reserved for osssync's own files"
        case .noEscapedName where path.elementsEqual(EscapedName.directoryName.utf8):
            return "skipped '\(name)': what is in it is mirrored only with --names escape"
        case .noEscapedName:
            return "skipped '\(name)': '\(EscapedName.directoryName)' contains only escaped names "
                + "of keys"
        case .nameNotUTF8, .beneathUnnamed:
            return "'\(name)' has a name that is not UTF-8, as keys must be, and is skipped"
        case .tooDeep:
            return "'\(name)' is more than \(RelativePath.maximumDepth) directories deep"
                + " and is skipped"
        case .unreadableDirectory(let errno):
            return "'\(name)' cannot be read (\(errorText(errno))); \(Self.kept(errno))"
        case .unreadableEntry(let errno):
            return "'\(name)' cannot be examined (\(errorText(errno))); \(Self.kept(errno))"
        case .changedDuringWalk:
            return "'\(name)' changed during the scan; nothing is deleted in this run"
        case .disappeared:
            return "'\(name)' disappeared while the directory was read"
        case .tagged(let tag):
            return "'\(name)' is excluded by '\(displayText(tag.utf8))' in it"
        case .unreadableTag(let errno):
            return "'\(name)' is excluded, because its '\(DirectoryTags.cacheName)' cannot be read"
                + " (\(errorText(errno)))"
        case .freedPlace:
            return "'\(displayText(ObjectKey(path).withoutLinkSuffix.bytes))' is in the place of"
                + " something else that was freed, or of which files were: nothing of it is sent."
                + " Rename it; 'osssync pull' of it then brings back what was freed"
        case .excludedEntry: return "'\(name)' is a link or special file that a pattern excludes"
        case .notMounted:
            return "'\(name)' was a mount point in the last run and is not mounted now: what is"
                + " beneath is skipped and nothing is deleted in this run; mount it, or use"
                + " --rebind if it was removed on purpose"
        }
    }

    private static func kept(_ errno: Int32) -> String {
        isRefusal(errno)
            ? "nothing of it is transferred or deleted" : "nothing is deleted in this run"
    }
}
