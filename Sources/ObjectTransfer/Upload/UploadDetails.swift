package import ObjectStorage
package import SyncModel

/// What an upload's object gets beside its content, and what may be there before it.
package struct UploadDetails: Sendable {
    let properties: ObjectProperties
    /// Keeps the file's modification time and permissions in the metadata, from which a pull
    /// restores them.
    let keepsFileMetadata: Bool
    /// True if there is to be no object of the key: one that exists then is somebody else's.
    package var isNew = false
    /// The version that the listing had: another one is somebody else's.
    package var replaced: ETag?
    /// Of the object that had the file's content under its earlier name: what other tools put on it
    /// stays.
    package var source: ObjectMetadata?
    package var callback: UploadCallback?
    /// True if no listing told whether there is an object already.
    package var existenceIsUnknown = false
    /// Where parts may come from that need not be sent.
    package var copies: PartCopies?
    /// False: what an earlier attempt left and is of no use is an error, and not begun again.
    package var startsOver = true

    package init(_ properties: ObjectProperties, keepsFileMetadata: Bool) {
        self.properties = properties
        self.keepsFileMetadata = keepsFileMetadata
    }
}

extension UploadDetails {
    /// What begins the object of `key`; a callback goes with the request that completes it.
    ///
    /// `checksum` is that of the content, where the metadata must hold it because the service
    /// computes none.
    func beginning(
        of key: ObjectKey,
        _ fileMetadata: [(name: String, value: String)],
        token: String,
        checksum: CRC64?
    ) -> PutRequest {
        var metadata = properties.sortedMetadata
        metadata.reserveCapacity(metadata.count + fileMetadata.count + 2)
        for entry in fileMetadata {
            guard !metadata.contains(where: { $0.name.lowercased() == entry.name }) else {
                continue
            }
            metadata.append(entry)
        }
        metadata.append((name: StorageDialect.tokenMetadataName, value: token))
        if let checksum {
            let name = StorageDialect.checksumMetadataName
            metadata.append((name: name, value: String(checksum.value)))
        }
        var request = PutRequest(
            key: key,
            contentType: ContentType.guess(for: key),
            userMetadata: metadata,
            forbidsOverwrite: isNew,
            replaced: replaced
        )
        request.set(properties)
        request.existenceIsUnknown = existenceIsUnknown
        // With these, the store would want one of each part that it copies, too.
        request.asksForPartChecksums = copies?.areMade != true
        return request
    }

    /// What makes the object of its parts.
    func completion(
        of key: ObjectKey,
        _ upload: UploadID,
        _ parts: [UploadedPart]
    ) -> CompleteRequest {
        var request = CompleteRequest(
            key: key,
            upload: upload,
            parts: parts,
            forbidsOverwrite: isNew,
            replaced: replaced,
            callback: callback
        )
        request.existenceIsUnknown = existenceIsUnknown
        request.accessControl = properties.accessControl
        return request
    }
}
