package import ObjectStorage
package import ObjectTransfer
internal import SyncModel

/// Where a bucket is and how requests to it are signed.
package struct StoreLocation: Sendable {
    package let dialect: StorageDialect
    package let endpoint: Endpoint
    package let signature: SignatureVersion

    /// Refuses what would leak a request or could not be signed.
    ///
    /// - Throws: `TransferError` of code `configuration`.
    package init(
        _ bucket: String,
        _ dialect: StoreDialect,
        address: String?,
        region: String?,
        addressing: AddressingChoice,
        provider: StoreProvider?,
        signature: SignatureVersion,
        allowsInsecureHTTP: Bool
    ) throws(TransferError) {
        guard signature == .v4 || dialect == .oss else {
            throw Self.usage("'\(signature.rawValue)' is not a supported signature version")
        }
        let isName = bucket.utf8.allSatisfy { $0.isLetterOrDigit(or: "-._") }
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
                    + Wording.of(library: "set allowsInsecureHTTP", program: "--insecure-http")
            )
        }
        if signature == .v4, endpoint.region == nil {
            throw Self.usage(
                "the region of '\(displayText(endpoint.host))' is not known, and V4 signatures "
                    + "need it; specify "
                    + Wording.of(library: "the region", program: "--region")
            )
        }
    }

    private static func usage(_ message: String) -> TransferError {
        TransferError(code: .configuration, message: message)
    }
}
