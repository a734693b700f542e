package import SyncModel

/// One change of what the manifest believes; those of one call happen together or not at all.
package enum ManifestChange: Sendable {
    case upsert(ManifestEntry)
    case forget(ObjectKey)
    /// Notes what the parts of an entry's object contain, in place of those of an earlier version;
    /// the entry must be there.
    case keepParts(SentParts)

    /// Records a download with its ranges, in place of an earlier one of the same key.
    case beginDownload(DownloadCheckpoint)
    /// Records how far one range is of the download with this partial file.
    case saveRange(ObjectKey, RangeProgress, partialName: String)
    /// Records that the partial file of a download is at rest and what it is; the next change of
    /// the file makes the seal void by itself.
    case sealDownload(ObjectKey, FileIdentity, partialName: String)
    /// Drops the key's download checkpoint and its ranges, if there is one.
    case finishDownload(ObjectKey)

    /// Records an upload with its parts, in place of an earlier one of the same key.
    case beginUpload(UploadCheckpoint)
    /// Records the service's answer to the initiation of the upload that has `token`.
    case setUploadID(ObjectKey, UploadID, token: String)
    /// Records one confirmed part of the upload with this ID.
    case savePart(ObjectKey, UploadedPart, uploadID: UploadID)
    /// Drops the key's upload checkpoint and its parts, if there is one.
    case finishUpload(ObjectKey)

    /// Notes what an object contains, in place of what was noted of an earlier version.
    case note(FetchedContent)
    /// Notes a deletion for the end of the run; the same key on the same side replaces itself.
    case planDeletion(PlannedDeletion, RunID)
    /// Adds items behind those that the run has recorded.
    case addItems([RunItem], RunID)
}
