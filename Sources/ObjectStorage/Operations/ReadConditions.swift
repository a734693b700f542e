package import SyncModel

/// Which version of an object a GET or HEAD wants (oss-protocol, "GetObject", "Conditions").
package struct ReadConditions: Sendable, Hashable {
    package var ifMatch: ETag?
    package var ifNoneMatch: ETag?
    package var ifModifiedSince: Timestamp?
    package var ifUnmodifiedSince: Timestamp?

    package init(
        ifMatch: ETag? = nil,
        ifNoneMatch: ETag? = nil,
        ifModifiedSince: Timestamp? = nil,
        ifUnmodifiedSince: Timestamp? = nil
    ) {
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.ifModifiedSince = ifModifiedSince
        self.ifUnmodifiedSince = ifUnmodifiedSince
    }

    var headers: [(String, String)] {
        var headers: [(String, String)] = []
        if let ifMatch { headers.append(("if-match", ifMatch.quoted)) }
        if let ifNoneMatch { headers.append(("if-none-match", ifNoneMatch.quoted)) }
        if let ifModifiedSince {
            headers.append(("if-modified-since", CivilTime(ifModifiedSince).httpText))
        }
        if let ifUnmodifiedSince {
            headers.append(("if-unmodified-since", CivilTime(ifUnmodifiedSince).httpText))
        }
        return headers
    }

    /// True if 304 is one of the answers.
    var allowNotModified: Bool { ifNoneMatch != nil || ifModifiedSince != nil }
}
