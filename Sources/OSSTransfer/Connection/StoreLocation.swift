package import ObjectStorage
package import ObjectTransfer

/// Where a bucket is and how requests to it are signed.
package struct StoreLocation: Sendable {
    package let dialect: StorageDialect
    package let endpoint: Endpoint
    package let signature: SignatureVersion

    /// Refuses what would leak a request or could not be signed.
    ///
    /// - Throws: `SyncError` of code `configuration`.
    package init(
        _ bucket: String,
        _ dialect: StoreDialect,
        address: String?,
        region: String?,
        addressing: AddressingChoice,
        provider: StoreProvider?,
        signature: SignatureVersion,
        allowsInsecureHTTP: Bool
    ) throws(SyncError) {
        guard signature == .v4 || dialect == .oss else {
            throw Self.usage("'\(signature.rawValue)' is not a supported signature version")
        }
        let isName = bucket.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        guard isName, !bucket.isEmpty else {
            throw Self.usage("'\(displayText(bucket))' is not the name of a bucket")
        }
        self.signature = signature
        do throws(EndpointError) {
            switch dialect {
            case .oss:
                self.dialect = .oss
                endpoint = try Endpoint(parsing: address, region: region, addressing: addressing)
            case .s3:
                self.dialect = .s3(provider)
                endpoint = try Endpoint(
                    parsingS3: address,
                    region: region,
                    addressing: addressing,
                    provider: provider,
                    bucket: bucket
                )
            }
        } catch {
            throw Self.usage(error.message)
        }
        guard endpoint.scheme == .https || endpoint.isLoopback || allowsInsecureHTTP else {
            throw Self.usage(
                "'\(displayText(endpoint.origin(bucket: nil)))' is plain http, where anyone on "
                    + "the network path can read and change everything; use https, or "
                    + "--insecure-http"
            )
        }
        if signature == .v4, endpoint.region == nil {
            throw Self.usage(
                "the region of '\(displayText(endpoint.host))' is not known, and V4 signatures "
                    + "need it; specify --region"
            )
        }
    }

    private static func usage(_ message: String) -> SyncError {
        SyncError(code: .configuration, message: message)
    }
}
