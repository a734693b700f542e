internal import SyncModel

extension OperationContext {
    /// Judges `If-…` headers, or `x-oss-copy-source-if-…` with a prefix; throws 412 or 304.
    func checkConditions(
        etag: String,
        modified: Timestamp,
        prefix: String = ""
    ) throws(ServiceError) {
        func condition(_ name: String) -> String? { request.header(prefix + name) }
        if let wanted = condition("if-match"), !matches(wanted, etag) {
            throw .preconditionFailed("If-Match")
        }
        let ignoresTimes = dialect == .s3
        if let text = condition("if-unmodified-since"),
            !ignoresTimes || condition("if-match") == nil, let time = Timestamp(httpText: text),
            modified.seconds > time.seconds
        {
            throw .preconditionFailed("If-Unmodified-Since")
        }
        let notModified = ServiceError(304, "NotModified", "The object was not modified.")
        // A copy has no answer without a document in S3.
        let isCopy = dialect == .s3 && !prefix.isEmpty
        if let unwanted = condition("if-none-match"), matches(unwanted, etag) {
            guard !isCopy else { throw .preconditionFailed(prefix + "If-None-Match") }
            var error = notModified
            error.headers = [("ETag", "\"\(etag)\"")]
            throw error
        }
        if let text = condition("if-modified-since"),
            !ignoresTimes || condition("if-none-match") == nil,
            let time = Timestamp(httpText: text),
            modified.seconds <= time.seconds
        {
            guard !isCopy else { throw .preconditionFailed(prefix + "If-Modified-Since") }
            throw notModified
        }
    }

    /// Quotes around the tag are optional; several tags are a list.
    func matches(_ header: String, _ etag: String) -> Bool {
        header.split(separator: ",").contains { item in
            let text = String(item.drop { $0 == " " })
            let wanted = ETag(wire: text).text
            return text == "*" || wanted == etag
                || dialect == .s3 && wanted.uppercased() == etag
        }
    }
}
