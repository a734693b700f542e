extension OptionTable {
    /// The options of the commands on single objects.
    static let objectRows: [OptionSpecification] = [
        OptionSpecification(
            .headURL,
            value: .text("URL"),
            .object,
            "a URL that is signed for HEAD, beside a SOURCE that is signed for GET"
        ),
        OptionSpecification(
            .storageClass,
            value: .text("CLASS"),
            .object,
            "the storage class of the object, such as IA (default: the bucket's)"
        ),
        OptionSpecification(
            .callbackURL,
            value: .text("URL"),
            .object,
            "have OSS call URL once the object is there; its answer is shown"
        ),
        OptionSpecification(
            .callbackBody,
            value: .text("TEXT"),
            .object,
            "what OSS sends there, such as 'key=${object}&size=${size}' "
                + "(default: that, the bucket and the ETag)"
        ),
        OptionSpecification(
            .method,
            value: .choice(["GET", "HEAD", "PUT", "DELETE"]),
            .object,
            "what the URL allows (default GET)"
        ),
        OptionSpecification(
            .expires,
            value: .text("TIME"),
            .object,
            "how long it allows it, such as 90s, 15m or 2h; from 1s to 7d (default 1800s)"
        ),
        OptionSpecification(
            .abort,
            .object,
            "abort the uploads that are shown, and delete their parts"
        ),
        OptionSpecification(
            .olderThan,
            value: .text("TIME"),
            .object,
            "only uploads that began so long ago, such as 12h or 7d "
                + "(default 0s, with --abort 7d)"
        ),
    ]
}
