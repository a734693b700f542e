/// What a listing says of one object.
package struct RemoteObject: Sendable, Hashable {
    /// 1 PiB: far above what any store takes, so that a greater size is a mistake or a lie.
    package static let largestSize: Int64 = 1 << 50

    package let key: ObjectKey
    /// Bytes; for a symlink object the listed size is not that of its target.
    package let size: Int64
    package let etag: ETag
    /// The service's time of the last write; nil if the listing had none that could be read.
    package let lastModified: Timestamp?
    package let storageClass: StorageClass
    package let kind: ObjectKind
    /// The state of a restored archive copy, nil if the listing said nothing of it.
    package let restoreState: RestoreState?
    /// True for a link that is described by its target.
    package let isThroughLink: Bool

    package init(
        key: ObjectKey,
        size: Int64,
        etag: ETag,
        lastModified: Timestamp? = nil,
        storageClass: StorageClass = .standard,
        kind: ObjectKind = .normal,
        restoreState: RestoreState? = nil,
        isThroughLink: Bool = false
    ) {
        self.key = key
        self.size = size
        self.etag = etag
        self.lastModified = lastModified
        self.storageClass = storageClass
        self.kind = kind
        self.restoreState = restoreState
        self.isThroughLink = isThroughLink
    }

    /// True if the content can't be read before it is restored.
    package var needsRestore: Bool {
        guard storageClass.isArchived else { return false }
        return restoreState != .restored
    }
}

/// How an object was written, as OSS's listing names it.
package enum ObjectKind: String, Sendable, Hashable {
    case normal = "Normal"
    case multipart = "Multipart"
    case appendable = "Appendable"
    case symlink = "Symlink"
    /// Not of an encrypted mirror's own: its size is none that an encrypted object has.
    case notEncrypted = "NotEncrypted"
}

/// A storage class by the service's own name; unknown names are kept as they are.
package struct StorageClass: Sendable, Hashable {
    /// Known names have at most 20 bytes; of a longer one only the beginning is kept.
    private static let maximumLength = 64

    package let name: String

    package init(name: String) {
        guard name.utf8.count > Self.maximumLength else {
            self.name = name
            return
        }
        self.name = String(decoding: name.utf8.prefix(Self.maximumLength), as: UTF8.self)
    }

    package static let standard = StorageClass(name: "Standard")
    package static let archive = StorageClass(name: "Archive")
    package static let coldArchive = StorageClass(name: "ColdArchive")
    package static let deepColdArchive = StorageClass(name: "DeepColdArchive")

    /// True for the ordinary class of either dialect, of which it is known that reading is not
    /// charged by bytes.
    package var isStandard: Bool { self == .standard || name == "STANDARD" }

    /// True for the classes of both dialects whose objects must be restored before a GET.
    package var isArchived: Bool {
        switch self {
        case .archive, .coldArchive, .deepColdArchive: true
        default: name == "GLACIER" || name == "DEEP_ARCHIVE"
        }
    }
}

/// What `x-oss-restore` and a listing's `RestoreInfo` say.
package enum RestoreState: Sendable, Hashable {
    case ongoing
    case restored

    /// Reads `ongoing-request="true"` or `ongoing-request="false", expiry-date="…"`; nil for
    /// anything else.
    package init?(headerValue: String) {
        if headerValue.utf8.starts(with: "ongoing-request=\"true\"".utf8) {
            self = .ongoing
        } else if headerValue.utf8.starts(with: "ongoing-request=\"false\"".utf8) {
            self = .restored
        } else {
            return nil
        }
    }
}
