internal import ObjectStorage
internal import ObjectTransfer
public import SyncModel

extension ObjectProperties {
    /// Metadata that osssync itself writes.
    package static let reservedMetadata: Set<String> = [
        "mtime", "mode", StorageDialect.checksumMetadataName, StorageDialect.tokenMetadataName,
        StorageDialect.encryptionMetadataName,
    ]

    /// Those of them without which an upload would not know its own object.
    private static let ownNames = [
        StorageDialect.checksumMetadataName, StorageDialect.tokenMetadataName,
    ]

    /// Bytes that are left to osssync's own metadata.
    private static let ownMetadataSize = 256

    /// True if objects of this class must be restored before they can be read.
    package var isArchived: Bool {
        storageClass.map { StorageClass(name: $0).isArchived } ?? false
    }

    /// Refuses what the store would refuse for each object.
    ///
    /// - Parameter dialect: The store's protocol.
    /// - Throws: `TransferError` of code `configuration`.
    public func check(for dialect: StoreDialect) throws(TransferError) {
        if let storageClass {
            switch dialect {
            case .oss:
                let names = ["Standard", "IA", "Archive", "ColdArchive", "DeepColdArchive"]
                try Self.check(storageClass, "storage class", among: names)
            case .s3:
                // Stores of other makers have classes of their own.
                let isName = storageClass.utf8.allSatisfy { byte in
                    byte.isDigit || byte.isCapital || "_-".utf8.contains(byte)
                }
                if !isName || storageClass.isEmpty {
                    throw Self.failure(
                        "'\(displayText(storageClass))' is not a storage class of S3: expected a "
                            + "name such as STANDARD_IA"
                    )
                }
            }
        }
        if let accessControl {
            let common = ["private", "public-read", "public-read-write"]
            let others = [
                "authenticated-read", "aws-exec-read", "bucket-owner-read",
                "bucket-owner-full-control",
            ]
            let names = dialect == .oss ? ["default"] + common : common + others
            try Self.check(accessControl, "access control list", among: names)
        }
        try checkMetadata(for: dialect)
    }

    /// Refuses metadata, headers and tags that no store takes, or that osssync itself writes.
    package func checkMetadata(for dialect: StoreDialect) throws(TransferError) {
        for (name, value) in metadata {
            let shown = displayText(name)
            guard !name.isEmpty, !value.isEmpty else {
                throw Self.failure("the metadata '\(shown)' must have a name and a value")
            }
            guard !Self.ownNames.contains(name.lowercased()) else {
                throw Self.failure("osssync itself writes the metadata '\(shown)'")
            }
        }
        for name in contentHeaders.keys
        where !StorageDialect.contentHeaders.contains(name.lowercased()) {
            throw Self.failure(
                "'\(displayText(name))' is not stored with an object: expected one of "
                    + StorageDialect.contentHeaders.joined(separator: ", ")
            )
        }
        let limit = (dialect == .oss ? 8 << 10 : 2 << 10) - Self.ownMetadataSize
        let size = metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 11 }
        guard size <= limit else {
            throw Self.failure(
                "the metadata has \(size) bytes; the store takes \(limit) beside osssync's own"
            )
        }
        let areTaken = tags.allSatisfy { name, value in
            (1...128).contains(name.unicodeScalars.count) && value.unicodeScalars.count <= 256
        }
        guard tags.count <= 10, areTaken else {
            throw Self.failure(
                "an object has at most 10 tags, with names of 1 to 128 characters and values of at "
                    + "most 256"
            )
        }
    }

    private static func check(
        _ value: String,
        _ what: String,
        among names: [String]
    ) throws(TransferError) {
        guard !names.contains(value) else { return }
        throw failure(
            "'\(displayText(value))' is not a valid \(what) of this store: expected one of "
                + names.joined(separator: ", ")
        )
    }

    private static func failure(_ message: String) -> TransferError {
        TransferError(code: .configuration, message: message)
    }
}
