package import SyncModel

package struct BucketInfo: Sendable, Hashable {
    package var name: String
    /// As the service spells it, for example `oss-cn-hangzhou`.
    package var location: String
    package var created: Timestamp?
    package var extranetEndpoint: String?
    package var intranetEndpoint: String?
    package var storageClass: StorageClass?
    package var versioning: VersioningStatus

    package init(
        name: String,
        location: String,
        created: Timestamp? = nil,
        extranetEndpoint: String? = nil,
        intranetEndpoint: String? = nil,
        storageClass: StorageClass? = nil,
        versioning: VersioningStatus = .never
    ) {
        self.name = name
        self.location = location
        self.created = created
        self.extranetEndpoint = extranetEndpoint
        self.intranetEndpoint = intranetEndpoint
        self.storageClass = storageClass
        self.versioning = versioning
    }
}

extension StorageClient {
    package func bucketInfo() async throws(StorageError) -> BucketInfo {
        var wire = StorageRequest("GetBucketInfo", .get, nil)
        wire.query = [("bucketInfo", "")]
        let request = wire
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(request, &context)
            return try request.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeBucketInfo(body)
            }
        }
    }
}
