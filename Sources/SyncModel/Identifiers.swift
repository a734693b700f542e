/// The service's opaque name of one multipart upload.
package struct UploadID: Sendable, Hashable {
    /// The longest name that is taken, in bytes.
    package static let maximumLength = 4_096

    package let text: String
    package init(_ text: String) { self.text = text }
}

/// The service's opaque position in a listing.
package struct ContinuationToken: Sendable, Hashable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// The service's opaque name of one version of an object.
package struct VersionID: Sendable, Hashable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// The number of a run in the manifest, ascending.
package struct RunID: Sendable, Hashable, Comparable {
    package let value: Int64
    package init(_ value: Int64) { self.value = value }
    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}
