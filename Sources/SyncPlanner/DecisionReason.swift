package import SyncModel

/// Why nothing is done, where nothing is wrong.
package enum QuietReason: Sendable, Hashable, CaseIterable {
    /// Both sides are as recorded.
    case unchanged
    /// A directory with entries: its entries stand for it.
    case impliedDirectory
    /// Directories are kept for the sake of what is in them only.
    case emptyDirectory
    /// Only the directory has it and it was never synced: a pull leaves it alone.
    case onlyLocal
    /// Only the remote has it and it was never synced: a push leaves it alone.
    case onlyRemote
    /// The remote lost it; the file stays, because deleting was not asked for.
    case deletedRemotely
    /// The directory lost it; the object stays, because deleting was not asked for.
    case deletedLocally
    /// The object whose key is the prefix itself: the marker of the mirrored directory.
    case prefixItself
    /// A segment of the key is a name of osssync's own files, which belong to one machine.
    case reservedName
    /// Something that the walk could not look at hides it: nobody deleted it.
    case hidden
    /// A saved plan is carried out, and it does not have the key.
    case notInPlan

    /// True if the two sides differ by what is left.
    ///
    /// A directory that has entries is there for their sake, whatever became of its marker.
    package func isDifference(of entry: JoinedEntry) -> Bool {
        switch self {
        case .unchanged, .impliedDirectory, .emptyDirectory, .prefixItself, .reservedName, .hidden:
            return false
        case .onlyLocal, .onlyRemote, .deletedLocally, .notInPlan: return true
        case .deletedRemotely:
            if case .directory(isEmpty: false)? = entry.local?.kind { return false }
            return true
        }
    }

    package var message: String {
        switch self {
        case .unchanged: "both sides are as recorded"
        case .impliedDirectory: "a directory with entries needs no marker"
        case .emptyDirectory: "empty directories are left out by --no-empty-dirs"
        case .onlyLocal:
            "only the directory has it; a pull keeps it without --delete=extra"
        case .onlyRemote: "only the bucket has it; a push keeps it without --delete=extra"
        case .deletedRemotely: "deleted in the bucket; the file is kept without --delete"
        case .deletedLocally: "deleted in the directory; the object is kept without --delete"
        case .prefixItself: "it is the marker of the mirrored prefix itself"
        case .reservedName:
            "its name is reserved for osssync's own files, which are never mirrored"
        case .hidden: "a link, a special file or something unreadable hides it"
        case .notInPlan: "the plan does not have it"
        }
    }
}

package enum DownloadReason: Sendable, Hashable, CaseIterable {
    /// Neither the manifest nor the directory has it.
    case new
    /// The remote has another version than recorded, and the file is as recorded.
    case changed
    /// The file is gone.
    case missing
    /// The file was changed, and the run replaces local changes.
    case replacesLocalChange

    package var message: String {
        switch self {
        case .new: "new in the bucket"
        case .changed: "changed in the bucket"
        case .missing: "missing from the directory"
        case .replacesLocalChange: "changed locally and replaced because of --force"
        }
    }
}

package enum UploadReason: Sendable, Hashable, CaseIterable {
    /// Neither the manifest nor the remote has it.
    case new
    /// The file has another content than recorded, and the object is as recorded.
    case changed
    /// The object is gone.
    case missing

    package var message: String {
        switch self {
        case .new: "new in the directory"
        case .changed: "changed in the directory"
        case .missing: "missing from the bucket"
        }
    }
}

package enum DeletionReason: Sendable, Hashable, CaseIterable {
    /// The manifest knows it, the other side lost it, and nobody changed it since.
    case known
    /// It was never synced, and the run deletes such things.
    case extra

    /// In the words for an object, or for a file that is deleted.
    package func message(deletesObject: Bool) -> String {
        switch self {
        case .known: deletesObject ? "deleted here" : "deleted in the bucket"
        case .extra: "never synced, and --delete=extra removes it"
        }
    }
}

/// Why a key is left alone although the two sides disagree about it.
package enum SkipReason: Sendable, Hashable {
    /// Continues what is said of a damaged file whose object is sound.
    package static let repairAdvice = "; " + repair("it", inShards: false, moving: nil)

    /// What downloads a damaged file again; a sharded mirror has no `verify`, and a pull replaces
    /// nothing else that changed here.
    private static func repair(_ what: String, inShards: Bool, moving file: String?) -> String {
        guard inShards else { return "'osssync verify --repair DIR PATH' downloads \(what) again" }
        let pull = "'osssync pull DIR' downloads \(what) again"
        return file.map { "once \($0) is moved out of DIR, " + pull } ?? pull
    }

    private static let keptObject =
        "the object, which is perhaps the last good copy, is neither replaced nor deleted"

    /// Continues what is said of a key that fits no file name.
    package static let escapeAdvice = "; --names escape stores it under another name"

    private static let notEncryptedMessage =
        "the object is not encrypted, and the mirror is; neither side was changed. Copy the object "
        + "elsewhere and delete it, or exclude the key"

    case unsafeName(UnsafeKey)
    case notUTF8
    /// The key ends in "/" and the object has content, which a directory cannot hold.
    case markerWithContent(size: Int64)
    /// The key is that of a stored link, and no link has such a text.
    case noLinkText(size: Int64)
    case needsRestore(StorageClass, isOngoing: Bool)
    case linkObject
    /// The object was a link and is gone: the content is its target's, and no file of this mirror.
    case linkIsGone
    /// Other keys make this name a directory.
    case shadowedByDirectory
    /// A file that stays has the name of a directory that is needed, and no object of its own.
    case blocksDirectory(isNew: Bool)
    /// An object that was never recorded has the name of a directory here.
    case besideDirectory
    /// The file of that key stands where a directory of this key's path would be.
    case blockedByFile(ObjectKey)
    /// The store keeps no object at or beneath another one, and this one stays.
    case besideObject(ObjectKey)
    case keyTooLong(length: Int, maximum: Int)
    case fileTooLarge(size: Int64)
    /// No store can hold what the listing says.
    case impossibleSize(Int64)
    /// The mirror's contents are encrypted, and the object's is not.
    case notEncrypted
    /// The key makes a directory of the ignore file, or is another spelling of its name.
    case beneathIgnoreFile
    /// Something that the walk could not look at is in its place.
    case hidden
    /// A symbolic link or special file, which is not mirrored, is in its place or above it.
    case replaced
    /// A symbolic link that is mirrored itself is in its place or above it.
    case behindLink
    /// The key is that of a stored link, and a file has the link's name.
    case fileAtLink
    /// The file has other content under the recorded size and time.
    case damaged(isObjectThere: Bool)
    /// The disk does not give the content of the file any more, whose object is the recorded one,
    /// another one (false), or not there.
    case unreadable(isObjectRecorded: Bool?)
    /// The file was found damaged, and is gone now.
    case damagedAndGone
    /// Another state of the directory found the file damaged, and it is gone; this one has no row.
    case damagedElsewhere
    /// The file is gone, and has the size and time of a damaged one: under another name it may be
    /// refused for that, in another shard.
    case likeDamagedAndGone(ObjectKey)
    /// The file was found damaged, and has another size now.
    case damagedAndChanged
    /// A new file looks like the one of this key, which was found damaged, and is no good copy.
    case damagedCopy(of: ObjectKey)
    /// A saved plan is carried out, and a comparison has another outcome than when it was saved.
    case notInPlan

    /// True for a file that is damaged rather than left out.
    package var isDamage: Bool {
        switch self {
        case .damaged, .unreadable, .damagedAndGone, .damagedElsewhere, .damagedAndChanged,
            .damagedCopy:
            true
        default: false
        }
    }

    /// True for what says nothing of any other key, and so holds no deletion back.
    package var holdsNothingBack: Bool {
        switch self {
        case .linkObject, .linkIsGone, .replaced, .besideDirectory: true
        default: false
        }
    }

    /// True for what throws doubt on the whole listing, or what may have another object's content.
    package var isOfStore: Bool {
        switch self {
        case .needsRestore, .impossibleSize, .notEncrypted: true
        default: false
        }
    }

    /// True for what a name alone cannot be here, and a filter can leave out.
    package var isOfName: Bool {
        switch self {
        case .unsafeName, .notUTF8, .markerWithContent, .noLinkText, .shadowedByDirectory,
            .blocksDirectory, .blockedByFile, .besideObject, .beneathIgnoreFile, .keyTooLong,
            .behindLink, .fileAtLink:
            true
        default: false
        }
    }

    /// True for a directory's marker that can be none.
    package var isOfMarker: Bool {
        if case .markerWithContent = self { true } else { false }
    }

    /// What is in the way and what the user can do; safe to print.
    package var message: String { message(inShards: false) }

    /// What a run of a sharded mirror says, if that is the case.
    package func message(inShards: Bool) -> String {
        switch self {
        case .unsafeName(let reason):
            "unsafe name: \(reason.message)"
                + (reason.isEscapable ? Self.escapeAdvice : "")
        case .notUTF8: "unsafe name: the key is not UTF-8"
        case .markerWithContent(let size):
            "the key ends in '/' and the object has \(size) bytes, which a directory cannot hold; "
                + "delete the object, or copy it to a key without the final '/'"
        case .noLinkText(let size):
            "the key is that of a stored link and the object has \(size) bytes, but the text of a "
                + "link has 1 to \(RelativePath.maximumLinkLength)"
        case .needsRestore(let storageClass, false):
            "the object is archived (\(displayText(storageClass.name.utf8))) and must be restored"
                + " before it can be read; pull --restore asks the store for that"
        case .needsRestore(let storageClass, true):
            "the object is archived (\(displayText(storageClass.name.utf8))) and is still"
                + " being restored; run again later"
        case .linkObject:
            "the object is a link that is not followed: its target is outside the mirrored"
                + " prefix, missing, itself a link, or cannot be read; exclude the key to silence "
                + "this"
        case .linkIsGone:
            "the object was a link, which no longer exists; the content of its target is not "
                + "uploaded in its place. Delete the file, or change or rename it to upload it"
        case .shadowedByDirectory, .blocksDirectory, .besideDirectory, .blockedByFile,
            .besideObject:
            placeMessage
        case .keyTooLong(let length, let maximum):
            "the path has \(length) bytes, and a key here can have at most \(maximum)"
        case .fileTooLarge(let size):
            "the file has \(size) bytes, and an object can have at most "
                + "\(PartLayout.maximumObjectSize)"
        case .impossibleSize(let size):
            "the store says that the object has \(size) bytes, which no object can have"
        case .notEncrypted: Self.notEncryptedMessage
        case .hidden:
            "a link, a special file or something unreadable exists at this path; both it and "
                + "the object are skipped"
        case .replaced:
            "a symbolic link or special file is at this path or above it, and hides it; neither "
                + "side was changed"
        case .behindLink:
            "a symbolic link is at this path or above it, and nothing is read or written through "
                + "links; the object is skipped. Remove the link, or the object"
        case .fileAtLink:
            "a file has the name of the symbolic link that the object stands for; the file is "
                + "kept. Move it away"
        case .beneathIgnoreFile:
            "the name '.osssyncignore', in any letter case, is reserved for the ignore file, which "
                + "is neither a directory nor a link; use exactly this name, or another one"
        case .notInPlan:
            "its content is not the one that the plan was made for; save a new plan"
        case .damagedElsewhere:
            "another state of this directory found the file damaged, and the object, which is "
                + "perhaps the last good copy, is not deleted; 'osssync pull DIR PATH' downloads "
                + "it, 'push --delete=extra --force DIR' deletes it"
        case .likeDamagedAndGone(let key):
            "the file is gone, and had the size and time of '\(key.display)', which was found "
                + "damaged; the object is kept until that is repaired, because the file may be "
                + "under another name now"
        case .damaged, .unreadable, .damagedAndGone, .damagedAndChanged, .damagedCopy:
            damageMessage(inShards: inShards)
        }
    }

    /// Of names that are a file's and a directory's.
    private var placeMessage: String {
        switch self {
        case .shadowedByDirectory:
            "a directory has this name here, perhaps an empty one, or the bucket has keys beneath "
                + "it; the object is skipped"
        case .blocksDirectory(let isNew):
            "the bucket has keys beneath this name but no object with this name, and the file "
                + "here is kept; move it away, or "
                + (isNew
                    ? "send it beside them with push --on-conflict local"
                    : "remove it with --delete if it is unchanged")
        case .besideDirectory:
            "this directory has something beneath the name of the object, which was never "
                + "recorded here: a pull can have only one of both. Delete the object, or copy it "
                + "to another key"
        case .blockedByFile(let key):
            "the file '\(key.display)' is where a directory is needed; move it away"
        case .besideObject(let key):
            "the store takes no object at or beneath the place of another, and the bucket has "
                + "'\(key.display)'; delete that object, or rename this file"
        default: ""
        }
    }

    /// How one file alone is forced; in a sharded mirror no path is named, and without one all
    /// damaged files would be sent over their objects.
    private static func force(_ option: String, _ effect: String, inShards: Bool) -> String {
        inShards ? "" : ", 'push \(option.isEmpty ? "" : option + " ")--force DIR PATH' \(effect)"
    }

    private func damageMessage(inShards: Bool) -> String {
        switch self {
        case .damaged(true):
            "damaged: its content is not the recorded one, although its time is; the object is "
                + "unchanged; "
                + Self.repair("it", inShards: inShards, moving: "the file")
                + Self.force("--checksum", "sends the file as it is", inShards: inShards)
        case .damaged(false):
            "damaged: its content is not the recorded one, although its time is; the object was "
                + "deleted, so the file is kept"
                + Self.force("--checksum", "sends it as it is", inShards: inShards)
        case .unreadable(true?):
            "damaged: the disk does not give its content any more; \(Self.keptObject); "
                + Self.repair("it", inShards: inShards, moving: "the file")
        case .unreadable(false?):
            "damaged: the disk does not give its content any more; the object has changed since it "
                + "was recorded"
                + (inShards ? "" : ": 'pull --on-conflict remote DIR PATH' downloads it")
        case .unreadable(nil): "damaged: the disk does not give its content; it is not sent"
        case .damagedAndGone:
            "the file was found damaged before it was removed or renamed"
                + "; \(Self.keptObject)"
                + "; \(Self.repair("it", inShards: inShards, moving: nil))"
                + Self.force("--delete", "deletes it in the bucket", inShards: inShards)
        case .damagedAndChanged:
            "the file was found damaged before it was changed; \(Self.keptObject). "
                + (inShards
                    ? Self.repair("it", inShards: true, moving: "the file")
                    : "'push --force DIR PATH' sends the file as it is, 'pull --force DIR PATH' "
                        + "replaces it")
        case .damagedCopy(let key):
            "damaged: it has the size and the time or inode of '\(key.display)', which was found "
                + "damaged, and not its recorded content; "
                + Self.repair("'\(key.display)'", inShards: inShards, moving: "'\(key.display)'")
                + ". Compare this one with it, and remove it only if it is a copy"
                + Self.force("", "sends this one as it is", inShards: inShards)
        default: ""
        }
    }
}
