/// A kind of store of the S3 protocol whose ways its address does not tell.
package enum StoreProvider: String, Sendable, Hashable, CaseIterable {
    case aws
    case minio
    case seaweedfs
    case r2
    case ceph
    /// Any other.
    case generic

    /// True if there is no address to guess: without one, requests would go to Amazon.
    var needsEndpoint: Bool { self != .aws }

    /// The region of an endpoint that names none.
    var defaultRegion: String {
        // The service knows no other, also under a domain of the user's own.
        self == .r2 ? "auto" : Endpoint.oldestRegion
    }

    /// Where requests name the bucket if nothing else says; nil leaves it to the host's name.
    var addressing: Endpoint.Addressing? {
        switch self {
        case .aws: .virtual
        case .minio, .seaweedfs, .r2, .ceph: .path
        case .generic: nil
        }
    }

    /// SeaweedFS makes a slash of a backslash: the object would be another file's.
    var lostKeyByte: UInt8? { self == .seaweedfs ? UInt8(ascii: "\\") : nil }
}
