/// The commands on single objects and on what is in a bucket.
extension CommandTable {
    private static let source = ArgumentSpecification(
        name: "SOURCE",
        isOptional: false
    )
    private static let place = ArgumentSpecification(
        name: "REMOTE|DIR",
        isOptional: false
    )
    private static let target = ArgumentSpecification(
        name: "TARGET",
        isOptional: false
    )
    private static let file = ArgumentSpecification(name: "FILE", isOptional: false)
    private static let object = ArgumentSpecification(
        name: "REMOTE",
        isOptional: false
    )
    private static let transferOptions: [Option] =
        [.force, .jobs, .partSize, .progress, .color, .jsonInterval, .stateDirectory]
        + commonOptions

    /// Where both directions keep theirs.
    private static let records =
        "Its record contains no secret and is kept in --state-dir, or by default in "
        + "$XDG_STATE_HOME/osssync/transfers, usually ~/.local/state/osssync/transfers."

    static let list = CommandSpecification(
        name: .ls,
        arguments: [place],
        summary: "list objects",
        discussion: [
            "Prints one line for each object: time of the last change, size in bytes, and key, in "
                + "the order of the store. Keys are whole keys, with control characters escaped. "
                + "DIR is a linked directory, whose remote is listed.",
            "oss://BUCKET/NAME lists what is below NAME/. If there is nothing, it shows the object "
                + "of this whole key, or else all objects whose keys begin so. Exit status 1 means "
                + "that there are none.",
            "With --top, the keys that begin with NAME are listed, those beneath a directory as "
                + "one line, the directory with a / at its end.",
            "With --versions, all versions of objects whose keys begin so are listed: time, size "
                + "(or deleted), ID, * for the latest, and key.",
        ],
        options: [.long, .humanReadable, .summary, .top, .versions, .stateDirectory]
            + commonOptions,
        examples: [
            ("osssync ls oss://media/photos", "every object below photos/"),
            ("osssync ls --top oss://media/", "the directories of a bucket"),
            ("osssync ls -l oss://media/photos/a.jpg", "one object"),
            ("osssync ls oss://media/photos/IMG", "those whose names begin with IMG"),
            ("osssync ls --summary -h ~/Photos", "what a mirror takes in its bucket"),
        ]
    )

    static let get = CommandSpecification(
        name: .get,
        arguments: [source, file],
        summary: "download one object",
        discussion: [
            "SOURCE is an object, oss://BUCKET/KEY or s3://BUCKET/KEY, or a URL that "
                + "is signed for GET. FILE is the path of the file, or a directory for "
                + "a file named like the object. An existing file is replaced only with "
                + "--force.",
            "Other users can see the arguments of a program. With - as SOURCE, the signed URL is "
                + "read from standard input; with @FILE, from FILE. An optional second line is a "
                + "URL signed for HEAD.",
            "With - as FILE, the object is written to standard output, and nothing to disk: up to "
                + "--jobs parts are held in memory. Exit status 1 means that the output is not the "
                + "whole object, or not what the store's checksum is of.",
            "The file appears once it is complete and verified. An interrupted download resumes "
                + "when the same command is run again, also with a new URL of the same object. "
                + "\(records)",
        ],
        options: [.headURL] + transferOptions,
        examples: [
            ("osssync get oss://media/photos/a.jpg a.jpg", "download one object"),
            ("osssync get oss://media/db.gz -", "read it as a stream, such as for gunzip"),
            (
                "osssync get @signed-url a.mov",
                "download from the signed URL in the file signed-url, hidden from other users"
            ),
        ],
        optionHelp: [
            .force: "replace an existing file"
        ]
    )

    static let put = CommandSpecification(
        name: .put,
        arguments: [file, target],
        summary: "upload one file",
        discussion: [
            "TARGET is an object, oss://BUCKET/KEY or s3://BUCKET/KEY, or a directory, "
                + "oss://BUCKET/PREFIX/, for an object named like the file. An existing object "
                + "is replaced only with --force.",
            "With - as FILE, standard input is sent up to its end, in parts of --part-size (8M) "
                + "that grow; at most 256 MiB of them, or two parts, are in memory. If reading or "
                + "sending fails or is interrupted, nothing is stored and nothing can be resumed. "
                + "A writer that fails looks like the end of the input: check its status, and use "
                + "a new key for each backup.",
            "A large file is sent in parts. An interrupted upload resumes when the same command "
                + "is run again; until then its parts use space in the bucket, and osssync uploads "
                + "shows them. \(records)",
        ],
        options: CommandTable.propertyOptions + [.callbackURL, .callbackBody] + transferOptions,
        examples: [
            ("osssync put film.mov oss://media/films/", "upload it as films/film.mov"),
            (
                "osssync put - oss://media/db-2026-01-31.sql",
                "upload what a program writes, such as pg_dump"
            ),
        ],
        optionHelp: [
            .force: "replace an existing object"
        ]
    )

    static let presign = CommandSpecification(
        name: .presign,
        arguments: [object],
        summary: "sign a URL for one request on one object",
        discussion: [
            "Prints a URL that allows anyone who has it to make one kind of request, any number "
                + "of times, until it expires. No request is made. A URL signed with temporary "
                + "keys expires with them at the latest.",
            "The URL grants access: keep it out of logs.",
        ],
        options: [.method, .expires] + commonOptions,
        examples: [
            ("osssync presign oss://media/photos/a.jpg", "allow reading it for half an hour"),
            (
                "osssync presign --method PUT --expires 2h oss://media/in/b.jpg",
                "allow writing it: curl -T b.jpg URL"
            ),
        ]
    )

    static let uploads = CommandSpecification(
        name: .uploads,
        arguments: [remote],
        summary: "show unfinished uploads in a bucket, and abort old ones",
        discussion: [
            "Parts of multipart uploads that were neither completed nor aborted use space and "
                + "cost money. Prints one line for each upload: its start time, ID and key.",
            "With --abort, uploads started at least --older-than ago are aborted, no matter which "
                + "program started them; younger ones may still be running.",
        ],
        options: [.abort, .olderThan] + commonOptions,
        examples: [
            ("osssync uploads oss://media", "list all of them"),
            ("osssync uploads --abort --older-than 2d oss://media/films", "abort old ones"),
        ]
    )
}
