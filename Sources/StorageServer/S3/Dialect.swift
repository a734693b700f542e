/// The protocol of a request; both reach the same objects.
enum Dialect: Sendable {
    case oss
    case s3

    /// By the form of the signature; what is not signed is OSS unless its headers say otherwise.
    init(query: [QueryItem], headers: [(name: String, value: String)]) {
        let authorization = headers.first { $0.name == "authorization" }?.value
        if let authorization, authorization.hasPrefix("AWS") {
            self = .s3
        } else if query.contains(where: { $0.name == "X-Amz-Algorithm" }) {
            self = .s3
        } else if authorization == nil, !query.contains(where: { $0.name == "x-oss-signature" }) {
            self = headers.contains { $0.name.hasPrefix("x-amz-") } ? .s3 : .oss
        } else {
            self = .oss
        }
    }

    /// What the names of the service's own headers begin with.
    var headerPrefix: String {
        switch self {
        case .oss: "x-oss-"
        case .s3: "x-amz-"
        }
    }

    var namespace: String? {
        switch self {
        case .oss: nil
        case .s3: "http://s3.amazonaws.com/doc/2006-03-01/"
        }
    }

    /// Tags are stored in upper case, as OSS writes them.
    func etag(_ stored: String) -> String {
        switch self {
        case .oss: stored
        case .s3: stored.lowercased()
        }
    }

    /// How many keys a page of a listing has unless the request says.
    var defaultPageSize: Int {
        switch self {
        case .oss: 100
        case .s3: 1_000
        }
    }

    var maximumKeyLength: Int {
        switch self {
        case .oss: 1_023
        case .s3: 1_024
        }
    }

    /// Names and values together.
    var maximumMetadataSize: Int {
        switch self {
        case .oss: 8_192
        case .s3: 2_048
        }
    }

    var defaultContentType: String {
        switch self {
        case .oss: "application/octet-stream"
        case .s3: "binary/octet-stream"
        }
    }
}

/// The storage classes that both services have, each under its own name.
///
/// Objects keep OSS's names; classes that only S3 has keep theirs.
enum StorageClassNames {
    private static let pairs = [
        (oss: "Standard", s3: "STANDARD"), (oss: "IA", s3: "STANDARD_IA"),
        (oss: "Archive", s3: "GLACIER"), (oss: "ColdArchive", s3: "DEEP_ARCHIVE"),
        (oss: "DeepColdArchive", s3: "DEEP_ARCHIVE"),
    ]
    private static let onlyS3 = [
        "REDUCED_REDUNDANCY", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER_IR",
    ]

    /// The stored name for what a request says; nil for a class the service does not have.
    static func stored(_ name: String, in dialect: Dialect) -> String? {
        switch dialect {
        case .oss: pairs.first { $0.oss == name }?.oss
        case .s3: pairs.first { $0.s3 == name }?.oss ?? onlyS3.first { $0 == name }
        }
    }

    static func shown(_ stored: String, in dialect: Dialect) -> String {
        switch dialect {
        case .oss: stored
        case .s3: pairs.first { $0.oss == stored }?.s3 ?? stored
        }
    }
}
