/// The commands on single objects and on what is in a bucket.
extension CommandTable {
    private static let source = ArgumentSpecification(
        name: "SOURCE",
        kind: .object,
        isOptional: false
    )
    private static let target = ArgumentSpecification(
        name: "TARGET",
        kind: .object,
        isOptional: false
    )
    private static let file = ArgumentSpecification(name: "FILE", kind: .file, isOptional: false)
    private static let object = ArgumentSpecification(
        name: "REMOTE",
        kind: .object,
        isOptional: false
    )
    private static let transferOptions: [Option] =
        [.force, .jobs, .partSize, .progress, .stateDirectory] + commonOptions

    /// Where both directions keep theirs.
    private static let records =
        "The record of it has no secret and is kept in --state-dir, or else in "
        + "$XDG_STATE_HOME/osssync/transfers, which is ~/.local/state/osssync/transfers."

    static let list = CommandSpecification(
        name: .ls,
        arguments: [remote],
        summary: "list the objects of a bucket prefix",
        discussion: [
            "One line for each object: size in bytes, time of the last change, ETag and "
                + "key, in the order of the store. Keys are whole keys, with control "
                + "characters escaped."
        ],
        options: commonOptions,
        examples: [("osssync ls oss://media/photos", "every object below photos/")]
    )

    static let get = CommandSpecification(
        name: .get,
        arguments: [source, file],
        summary: "download one object",
        discussion: [
            "SOURCE is an object, oss://BUCKET/KEY or s3://BUCKET/KEY, or a URL that "
                + "somebody signed for GET. FILE is the path of the file, or a directory for "
                + "a file of the object's name. A file that is there is replaced only with "
                + "--force.",
            "Other users can see the arguments of a program: with - as SOURCE the signed URL is "
                + "read from standard input, with @FILE from FILE. A second line is signed for "
                + "HEAD.",
            "The file appears when all of it is there and verified. What was interrupted goes "
                + "on where it stopped when the same command is run again, also with a new URL "
                + "of the same object. \(records)",
        ],
        options: [.headURL, .durability] + transferOptions,
        examples: [
            ("osssync get oss://media/photos/a.jpg a.jpg", "fetch one object"),
            (
                "osssync get @signed-url a.mov",
                "fetch by the signed URL in the file signed-url, which nobody sees"
            ),
        ]
    )

    static let put = CommandSpecification(
        name: .put,
        arguments: [file, target],
        summary: "upload one file",
        discussion: [
            "TARGET is an object, oss://BUCKET/KEY or s3://BUCKET/KEY, or a directory, "
                + "oss://BUCKET/PREFIX/, for an object of the file's name. An object that is "
                + "there is replaced only with --force.",
            "A large file is sent in parts. What was interrupted goes on where it stopped when "
                + "the same command is run again; until then its parts take room in the bucket, "
                + "and osssync uploads shows them. \(records)",
        ],
        options: [.storageClass, .callbackURL, .callbackBody] + transferOptions,
        examples: [("osssync put film.mov oss://media/films/", "make films/film.mov")]
    )

    static let presign = CommandSpecification(
        name: .presign,
        arguments: [object],
        summary: "sign a URL for one request on one object",
        discussion: [
            "Prints a URL with which whoever has it may make one kind of request, as often as "
                + "they like, until it expires. No request is made. With temporary keys it "
                + "expires with them at the latest.",
            "The URL is a permission: keep it out of logs.",
        ],
        options: [.method, .expires] + commonOptions,
        examples: [
            ("osssync presign oss://media/photos/a.jpg", "let somebody read it, for half an hour"),
            (
                "osssync presign --method PUT --expires 2h oss://media/in/b.jpg",
                "let somebody write it: curl -T b.jpg URL"
            ),
        ]
    )

    static let uploads = CommandSpecification(
        name: .uploads,
        arguments: [remote],
        summary: "show unfinished uploads in a bucket, and abort old ones",
        discussion: [
            "Parts of multipart uploads that were neither completed nor aborted take room and "
                + "cost money. One line for each of them: when it began, its ID and its key.",
            "With --abort those that began at least --older-than ago are aborted, whoever began "
                + "them; younger ones may be under way.",
        ],
        options: [.abort, .olderThan] + commonOptions,
        examples: [
            ("osssync uploads oss://media", "which are there?"),
            ("osssync uploads --abort --older-than 2d oss://media/films", "drop forgotten ones"),
        ]
    )
}
