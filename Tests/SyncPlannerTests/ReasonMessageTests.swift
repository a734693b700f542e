import SyncModel
import SyncPlanner
import Testing

@Suite("Messages of decisions")
struct ReasonMessageTests {
    // Inferred, the type of so many literals takes the compiler half a minute.
    private static let skips: [(SkipReason, String)] = [
        (.unsafeName(.empty), "unsafe name: the key is empty"),
        (
            .unsafeName(.absolute),
            "unsafe name: the key begins with '/', which would be an absolute path"
        ),
        (
            .unsafeName(.emptyComponent),
            "unsafe name: the key has an empty segment ('//'), which a directory cannot hold"
        ),
        (
            .unsafeName(.dotComponent),
            "unsafe name: the key has a '.' or '..' segment,"
                + " which could lead outside the directory"
        ),
        (
            .unsafeName(.containsNUL),
            "unsafe name: the key has a NUL byte, which no file name can hold"
        ),
        (
            .unsafeName(.componentTooLong(length: 256)),
            "unsafe name: a segment of the key has 256 bytes, and a file name can have 255"
        ),
        (.unsafeName(.tooDeep), "unsafe name: the key has more than 512 segments"),
        (
            .unsafeName(.reserved),
            "unsafe name: '.osssync', '.osssync-names', '.osssync-work', and "
                + "'.osssync-' with 32 hexadecimal "
                + "digits, are reserved for osssync's own files"
        ),
        (.notUTF8, "unsafe name: the key is not UTF-8"),
        (
            .markerWithContent(size: 12),
            "the key ends in '/' and the object has 12 bytes, which a directory cannot hold; "
                + "delete the object, or copy it to a key without the final '/'"
        ),
        (
            .unsafeName(.namelessLink),
            "unsafe name: the key is that of a stored link, and has no name for it"
        ),
        (
            .noLinkText(size: 4_096),
            "the key is that of a stored link and the object has 4096 bytes, but the text of a "
                + "link has 1 to 4095"
        ),
        (
            .behindLink,
            "a symbolic link is at this path or above it, and nothing is read or written through "
                + "links; the object is skipped. Remove the link, or the object"
        ),
        (
            .fileAtLink,
            "a file has the name of the symbolic link that the object stands for; the file is "
                + "kept. Move it away"
        ),
        (
            .needsRestore(.archive, isOngoing: false),
            "the object is archived (Archive) and must be restored before it can be read; "
                + "pull --restore asks the store for that"
        ),
        (
            .needsRestore(StorageClass(name: "\u{1B}[2J"), isOngoing: true),
            "the object is archived (\\x1B[2J) and is still being restored;"
                + " run again later"
        ),
        (
            .linkObject,
            "the object is a link that is not followed: its target is outside the mirrored"
                + " prefix, missing, itself a link, or cannot be read; exclude the key to silence"
                + " this"
        ),
        (
            .linkIsGone,
            "the object was a link, which no longer exists; the content of its target is not "
                + "uploaded in its place. Delete the file, or change or rename it to upload it"
        ),
        (
            .shadowedByDirectory,
            "a directory has this name here, perhaps an empty one, or the bucket has keys beneath "
                + "it; the object is skipped"
        ),
        (
            .blocksDirectory(isNew: true),
            "the bucket has keys beneath this name but no object with this name, and the file "
                + "here is kept; move it away, or send it beside them with push --on-conflict local"
        ),
        (
            .blocksDirectory(isNew: false),
            "the bucket has keys beneath this name but no object with this name, and the file "
                + "here is kept; move it away, or remove it with --delete if it is unchanged"
        ),
        (
            .blockedByFile("a\nb"),
            "the file 'a\\nb' is where a directory is needed; move it away"
        ),
        (
            .keyTooLong(length: 1030, maximum: 1023),
            "the path has 1030 bytes, and a key here can have at most 1023"
        ),
        (
            .hidden,
            "a link, a special file or something unreadable exists at this path; both it and the"
                + " object are skipped"
        ),
        (
            .notInPlan,
            "its content is not the one that the plan was made for; save a new plan"
        ),
        (
            .fileTooLarge(size: 53_687_091_200_001),
            "the file has 53687091200001 bytes, and an object can have at most 53687091200000"
        ),
    ]

    @Test(arguments: skips)
    func `a skip says what is in the way`(reason: SkipReason, message: String) {
        let advice =
            Self.escapable.contains(reason)
            ? "; --names escape stores it under another name" : ""
        #expect(reason.message == message + advice)
    }

    /// What an escaped name helps.
    private static let escapable: Set<SkipReason> = [
        .unsafeName(.absolute), .unsafeName(.emptyComponent), .unsafeName(.dotComponent),
        .unsafeName(.containsNUL), .unsafeName(.componentTooLong(length: 256)),
        .unsafeName(.tooDeep),
    ]

    @Test func `an impossible size is told`() {
        let message = SkipReason.impossibleSize(1 << 60).message
        #expect(
            message == "the store says that the object has 1152921504606846976 bytes, which no "
                + "object can have"
        )
    }

    @Test func `every other reason has its sentence`() {
        #expect(
            QuietReason.allCases.map(\.message) == [
                "both sides are as recorded",
                "a directory with entries needs no marker",
                "empty directories are left out by --no-empty-dirs",
                "only the directory has it; a pull keeps it without --delete=extra",
                "only the bucket has it; a push keeps it without --delete=extra",
                "deleted in the bucket; the file is kept without --delete",
                "deleted in the directory; the object is kept without --delete",
                "it is the marker of the mirrored prefix itself",
                "its name is reserved for osssync's own files, which are never mirrored",
                "a link, a special file or something unreadable hides it",
                "the plan does not have it",
            ]
        )
        #expect(
            DownloadReason.allCases.map(\.message) == [
                "new in the bucket", "changed in the bucket", "missing from the directory",
                "changed locally and replaced because of --force",
            ]
        )
        #expect(
            UploadReason.allCases.map(\.message) == [
                "new in the directory", "changed in the directory", "missing from the bucket",
            ]
        )
        #expect(
            DeletionReason.allCases.map { $0.message(deletesObject: true) } == [
                "deleted here", "never synced, and --delete=extra removes it",
            ]
        )
        #expect(DeletionReason.known.message(deletesObject: false) == "deleted in the bucket")
    }
}
