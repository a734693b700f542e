/// The commands on single objects and on what is in a bucket.
extension CommandTable {
    /// Where both directions keep theirs.
    private static let records =
        "Its record contains no secret and is kept in --state-dir, or by default in "
        + "$XDG_STATE_HOME/osssync/transfers, usually ~/.local/state/osssync/transfers."

    static let list = CommandSpecification(
        name: .ls,
        arguments: ["REMOTE|DIR"],
        summary: "list objects",
        discussion: [
            "Prints one line for each object: time of the last change, size in bytes, and the "
                + "complete key, in the order of the store. Control characters in keys are "
                + "escaped. For a linked DIR, its remote is listed.",
            "oss://BUCKET/NAME lists the objects beneath NAME/. If there are none, it shows the "
                + "object with the key NAME, or else all objects whose keys begin with NAME. If "
                + "there are none, either, the exit status is 1.",
            "--top lists the keys that begin with NAME, with one line for each directory, which "
                + "ends in /.",
            "--versions lists all versions of objects whose keys begin with NAME: time, size (or "
                + "deleted), ID, * for the latest, and key.",
        ],
        examples: [
            ("osssync ls oss://media/photos", "list all objects beneath photos/"),
            ("osssync ls --top oss://media/", "list the directories at the top of a bucket"),
            ("osssync ls -l oss://media/photos/a.jpg", "show one object"),
            ("osssync ls oss://media/photos/IMG", "list objects whose names begin with IMG"),
            ("osssync ls --summary -h ~/Photos", "show how much space a mirror uses in its bucket"),
        ]
    )

    static let get = CommandSpecification(
        name: .get,
        arguments: ["SOURCE", "FILE"],
        summary: "download one object",
        discussion: [
            "SOURCE is an object, oss://BUCKET/KEY or s3://BUCKET/KEY, or a URL signed for GET. "
                + "FILE is the path of the file, or a directory, in which the file gets the name "
                + "of the object. An existing file is replaced only with --force.",
            "Other users can see the arguments of a program. With - as SOURCE, the signed URL is "
                + "read from standard input; with @FILE, from FILE. An optional second line is a "
                + "URL signed for HEAD.",
            "With - as FILE, the object is written to standard output, and nothing to disk; up to "
                + "--jobs parts are held in memory. If the exit status is 1, the output is "
                + "incomplete or does not match the store's checksum.",
            "The file is created once it is complete and verified. An interrupted download resumes "
                + "when the same command is run again, even with a new URL of the same object. "
                + "\(records)",
        ],
        examples: [
            ("osssync get oss://media/photos/a.jpg a.jpg", "download one object"),
            ("osssync get oss://media/db.gz -", "write an object to standard output, for gunzip"),
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
        arguments: ["FILE", "TARGET"],
        summary: "upload one file",
        discussion: [
            "TARGET is an object, oss://BUCKET/KEY or s3://BUCKET/KEY, or a directory, "
                + "oss://BUCKET/PREFIX/, in which the object gets the name of the file. An "
                + "existing object is replaced only with --force.",
            "A large file is sent in parts. An interrupted upload resumes when the same command "
                + "is run again; until then, its parts use space in the bucket, and 'osssync "
                + "uploads' lists them. \(records)",
            "With - as FILE, standard input is uploaded up to its end, in parts of --part-size "
                + "(8M) that grow; at most 256 MiB of them, or two parts, are held in memory. If "
                + "reading or sending fails or is interrupted, nothing is stored, and the upload "
                + "cannot be resumed. A writer that fails looks like the end of the input: check "
                + "its status, and use a new key for each backup.",
        ],
        examples: [
            ("osssync put film.mov oss://media/films/", "upload it as films/film.mov"),
            (
                "osssync put - oss://media/db-2026-01-31.sql",
                "upload the output of a program, such as pg_dump"
            ),
        ],
        optionHelp: [
            .force: "replace an existing object"
        ]
    )

    static let presign = CommandSpecification(
        name: .presign,
        arguments: ["REMOTE"],
        summary: "sign a URL for one request on one object",
        discussion: [
            "Prints a URL that allows anyone who has it to make one kind of request, any number "
                + "of times, until it expires. No request is made. A URL signed with temporary "
                + "keys expires with them at the latest.",
            "The URL grants access: keep it out of logs.",
        ],
        examples: [
            ("osssync presign oss://media/photos/a.jpg", "allow to read it for half an hour"),
            (
                "osssync presign --method PUT --expires 2h oss://media/in/b.jpg",
                "allow to write it, such as with: curl -T b.jpg URL"
            ),
        ]
    )

    static let uploads = CommandSpecification(
        name: .uploads,
        arguments: ["REMOTE"],
        summary: "list or abort unfinished multipart uploads in a bucket",
        discussion: [
            "Parts of multipart uploads that were neither completed nor aborted use space and "
                + "cost money. Prints one line for each upload: its start time, ID and key.",
            "--abort aborts all uploads that were started at least --older-than ago, regardless "
                + "of which program started them. Younger ones may still be running.",
        ],
        examples: [
            ("osssync uploads oss://media", "list all unfinished uploads"),
            (
                "osssync uploads --abort --older-than 2d oss://media/films",
                "abort those older than two days"
            ),
        ]
    )
}
