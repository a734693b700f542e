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
        if let text = condition("if-unmodified-since"), let time = Timestamp(httpText: text),
            modified.seconds > time.seconds
        {
            throw .preconditionFailed("If-Unmodified-Since")
        }
        let notModified = ServiceError(304, "NotModified", "The object was not modified.")
        if let unwanted = condition("if-none-match"), matches(unwanted, etag) {
            var error = notModified
            error.headers = [("ETag", "\"\(etag)\"")]
            throw error
        }
        if let text = condition("if-modified-since"), let time = Timestamp(httpText: text),
            modified.seconds <= time.seconds
        {
            throw notModified
        }
    }

    /// Quotes around the tag are optional; several tags are a list.
    private func matches(_ header: String, _ etag: String) -> Bool {
        header.split(separator: ",").contains { item in
            let text = item.drop { $0 == " " }
            return text == "*" || ETag(wire: text).text == etag
        }
    }
}
