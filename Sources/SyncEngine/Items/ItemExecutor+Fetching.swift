internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Comparisons for which the object has to be fetched, as the store says nothing else of it.
///
/// The tag of a multipart object is a digest of digests: without the size of its parts it cannot be
/// computed of a file. Equal content is recorded; other content is not fetched a second time.
extension ItemExecutor {
    /// An object that was fetched to be compared.
    struct Fetched: Sendable {
        let download: FinishedDownload
        let transfer: TransferCounter
    }

    /// True if only the object's content can decide, and a conflict depends on it.
    ///
    /// A value that differs may not be a digest. That is checked only if the object is downloaded
    /// anyway.
    ///
    /// Never where nothing can be written: what is not known to be equal is a conflict there.
    func needsContent(_ answer: Answer, _ different: Decision, of entry: JoinedEntry) -> Bool {
        guard case .conflict(_, let resolution) = different, entry.remote?.needsRestore == false,
            context.canFetch
        else { return false }
        switch answer.verdict {
        case .proven, .contentMismatch(isSure: true): return false
        case .unknown: return true
        case .contentMismatch(isSure: false):
            return resolution == .download || resolution == .downloadKeepingLocal
        }
    }

    /// `start` is a moment before the file was read.
    func compareByFetching(
        _ entry: JoinedEntry,
        _ answer: Answer,
        same: Decision,
        different: Decision,
        _ start: Timestamp
    ) async {
        guard let object = entry.remote, let file = entry.local?.identity else { return }
        context.item(
            .adopt,
            .started,
            entry.key,
            size: object.size,
            message: "the store provides no checksum to compare with the file; the object is "
                + "fetched to compare it"
        )
        context.tracker.planned(bytes: object.size)
        let transfer = context.tracker.begin(.download, key: entry.key, size: object.size)
        let downloader = Downloader(context: context.transfer, key: entry.key, transfer: transfer)
        let fetched: Fetched
        do throws(ItemFailure) {
            fetched = Fetched(download: try await downloader.run(object), transfer: transfer)
        } catch {
            context.tracker.end(transfer, isFailed: true, isInterrupted: error == .cancelled)
            return fail(.download, entry.key, size: object.size, error)
        }
        do {
            let checksum: CRC64
            if let known = answer.checksum {
                checksum = known
            } else {
                let path = try context.path(of: entry)
                checksum = try await self.checksum(of: path, expected: file)
            }
            let found = fetched.download
            if found.object.size == file.size, found.received == checksum {
                try await drop(fetched, entry.key)
                if case .adopt = same {
                    await adopt(
                        entry,
                        checksum: checksum,
                        etag: found.object.etag,
                        readSince: start
                    )
                } else {
                    await carryOut(same, entry)
                }
            } else if different.usesObject {
                await carryOut(different, entry, fetched)
            } else {
                try await drop(fetched, entry.key)
                await carryOut(different, entry)
            }
        } catch {
            context.tracker.end(transfer, isFailed: true)
            fail(.adopt, entry.key, size: object.size, ItemFailure(any: error))
        }
    }

    /// Notes what was fetched, and then removes it: a kill in between costs no second fetch.
    func drop(_ fetched: Fetched, _ key: ObjectKey) async throws {
        let download = fetched.download
        let content = FetchedContent(
            key: key,
            size: download.object.size,
            etag: download.object.etag,
            crc64: download.received
        )
        try await context.manifest.record(.note(content))
        if download.hasCheckpoint { try await context.manifest.record(.finishDownload(key)) }
        await context.removePartial(download.partialName)
        context.tracker.end(fetched.transfer)
    }
}

extension Decision {
    /// True if the object's content goes to the file.
    fileprivate var usesObject: Bool {
        switch self {
        case .download, .conflict(_, .download), .conflict(_, .downloadKeepingLocal): true
        default: false
        }
    }
}
