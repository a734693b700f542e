extension OptionTable {
    /// The options of the commands on single objects.
    static let objectRows: [OptionSpecification] = [
        OptionSpecification(
            .long,
            short: "l",
            .object,
            "also show the ETag and the storage class, and for a single object its CRC-64"
        ),
        OptionSpecification(
            .humanReadable,
            short: "h",
            .object,
            "show sizes in units, such as 1.5 MiB"
        ),
        OptionSpecification(
            .versions,
            .object,
            "list all versions of objects, with their IDs, and delete markers"
        ),
        OptionSpecification(
            .top,
            .object,
            "list one level: objects, and directories instead of their contents"
        ),
        OptionSpecification(
            .headURL,
            value: .text("URL"),
            .object,
            "a URL signed for HEAD, in addition to a SOURCE signed for GET"
        ),
        OptionSpecification(
            .storageClass,
            value: .text("CLASS"),
            .object,
            "write objects with this storage class, such as IA (default: the bucket's)"
        ),
        OptionSpecification(
            .sse,
            value: .text("aes256|kms[:KEY]"),
            .object,
            "let the store encrypt objects that are written (default: the bucket's setting)"
        ),
        OptionSpecification(
            .acl,
            value: .text("NAME"),
            .object,
            "write objects with this access control list, such as private (default: the bucket's)"
        ),
        OptionSpecification(
            .header,
            value: .text("'NAME: VALUE'"),
            .object,
            "write objects with this header: Cache-Control, Content-Disposition, "
                + "Content-Encoding, Content-Language, Content-Type, Expires or metadata "
                + "(x-oss-meta-NAME, x-amz-meta-NAME); repeatable"
        ),
        OptionSpecification(
            .callbackURL,
            value: .text("URL"),
            .object,
            "let OSS call URL once the object is uploaded, and show the response"
        ),
        OptionSpecification(
            .callbackBody,
            value: .text("TEXT"),
            .object,
            "the body of that call, such as 'key=${object}&size=${size}' "
                + "(default: these, the bucket and the ETag)"
        ),
        OptionSpecification(
            .method,
            value: .choice(["GET", "HEAD", "PUT", "DELETE"]),
            .object,
            "the request that the URL allows (default GET)"
        ),
        OptionSpecification(
            .expires,
            value: .text("TIME"),
            .object,
            "how long the URL is valid, such as 90s, 15m or 2h; from 1s to 7d (default 1800s)"
        ),
        OptionSpecification(
            .abort,
            .object,
            "abort the listed uploads and delete their parts"
        ),
        OptionSpecification(
            .olderThan,
            value: .text("TIME"),
            .object,
            "include only uploads started at least this long ago, such as 12h or 7d "
                + "(default 0s, with --abort 7d)"
        ),
    ]
}
