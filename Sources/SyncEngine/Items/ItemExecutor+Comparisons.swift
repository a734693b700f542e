internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Comparisons of contents, and what follows from them.
extension ItemExecutor {
    /// Compares content and carries out what follows from the answer.
    func compare(
        _ entry: JoinedEntry,
        _ comparison: Comparison,
        same: Decision,
        different: Decision
    ) async {
        let start = context.environment.now()
        let answer: ContentComparison.Answer
        var entry = entry
        do {
            answer = try await contents.answer(entry, comparison)
            if !answer.isSame, !answer.isUnreadable {
                entry = try await disowned(entry, comparison)
            }
        } catch {
            noteUnsent(entry)
            fail(.adopt, entry.key, size: entry.remote?.size ?? 0, ItemFailure(any: error))
            return
        }
        let readSince = comparison.readsFile ? start : nil
        if answer.isSame, case .adopt = same {
            await adopt(
                entry,
                checksum: answer.checksum,
                etag: answer.metadata?.etag,
                answer.metadata,
                readSince: readSince
            )
        } else if answer.isSame, case .refresh(let reason) = same {
            await refresh(entry, reason, readSince: readSince)
        } else if answer.isSame, case .carryMode(let target) = same {
            await permissions.carryMode(entry, to: target, readSince: readSince)
        } else if contents.needsContent(answer, different, of: entry),
            await settled(different, entry) == nil
        {
            await compareByFetching(entry, answer, same: same, different: different, start)
        } else {
            let next = contents.decision(answer, entry, same: same, different: different)
            countAsPlanned(Work(entry: entry, decision: next))
            await carryOut(next, entry)
        }
    }

    /// The entry without its row, for this run and all later ones, where the file may be older than
    /// the row: another content of the recorded size and time in another directory than recorded.
    private func disowned(
        _ entry: JoinedEntry,
        _ comparison: Comparison
    ) async throws -> JoinedEntry {
        guard !context.policy.knowsDirectory, entry.base?.isDamaged == false, comparison.readsFile
        else {
            return entry
        }
        try await context.manifest.record([.forget(entry.key)])
        return entry.withoutBase
    }

    /// Fetches the object, as the store says nothing else of its content.
    ///
    /// The tag of a multipart object is a digest of digests: without the size of its parts it
    /// cannot be computed of a file. Equal content is recorded; other content is not fetched a
    /// second time. `start` is a moment before the file was read.
    func compareByFetching(
        _ entry: JoinedEntry,
        _ answer: ContentComparison.Answer,
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
        let fetched: FileDownloads.Fetched
        do throws(ItemFailure) {
            fetched = FileDownloads.Fetched(
                download: try await downloader.run(object),
                transfer: transfer
            )
        } catch {
            context.tracker.end(transfer, isFailed: true, isInterrupted: error == .cancelled)
            if error.sharedCause == .password, replacesDamaged,
                case .upload? = different.following
            {
                return await carryOut(different, entry)
            }
            noteUnsent(entry)
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
                try await downloads.drop(fetched, entry.key)
                if case .adopt = same {
                    await adopt(
                        entry,
                        checksum: checksum,
                        etag: found.object.etag,
                        nil,
                        readSince: start
                    )
                } else {
                    await carryOut(same, entry)
                }
            } else if case .download = different.following {
                await carryOut(different, entry, fetched)
            } else {
                try await downloads.drop(fetched, entry.key)
                await carryOut(different, entry)
            }
        } catch {
            context.tracker.end(transfer, isFailed: true)
            noteUnsent(entry)
            fail(.adopt, entry.key, size: object.size, ItemFailure(any: error))
        }
    }
}
