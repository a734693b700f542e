internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// Downloads of objects without a CRC-64 of the store's: the whole file is held against what it
/// does say.
extension Downloader {
    /// True if the partial file matches the headers, or cannot be verified further.
    func isAccepted(
        _ file: OpenFile,
        _ object: PinnedObject,
        _ checksum: CRC64,
        _ attempt: inout Attempt
    ) async throws(ItemFailure) -> Bool {
        // Each block of an encrypted object was proven before it was written.
        if attempt.metadata?.sealed != nil { return true }
        // Only the answer to a HEAD has every checksum that the store knows.
        let isUnproven = attempt.metadata.map(isUnproven(_:)) ?? true
        if isUnproven, !attempt.proving.isDescribed,
            let found = try await described(object.etag)
        {
            attempt.metadata = found
        }
        attempt.isProven = false
        guard let metadata = attempt.metadata else { return true }
        let verdict: DigestResult
        do {
            verdict = try await context.verify(
                file,
                checksum: checksum,
                metadata,
                computed: attempt.proving.progress?.result
            )
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
        attempt.isProven = verdict == .proven
        guard case .contentMismatch(let isSure) = verdict else { return true }
        // OSS numbers each answer. Whose answers have no number is another server, whose tags need
        // be no digests: to fetch it again would tell nothing.
        let isOfOther = context.store.dialect.computesChecksum && metadata.requestID == nil
        if isOfOther, !isSure { return true }
        // The same content twice came as the store has it: then its tag is no MD5.
        let isTwice = attempt.mismatchedChecksum == checksum
        attempt.mismatchedChecksum = checksum
        guard isTwice, !isSure else { return false }
        context.observer.warned(
            "'\(key.display)': the ETag or checksum of the object does not match the content, "
                + "which was the same twice and was accepted"
        )
        return true
    }

    /// All that the store says of the version with this tag; nil if it is no longer there.
    private func described(_ etag: ETag) async throws(ItemFailure) -> ObjectMetadata? {
        do throws(ItemFailure) {
            let found = try await head()
            guard found.object.etag == etag else { return nil }
            return await context.withPartSize(found.metadata, of: key)
        } catch {
            guard error.isVanished else { throw error }
            return nil
        }
    }

    private func isUnproven(_ metadata: ObjectMetadata) -> Bool {
        metadata.crc64 == nil && metadata.etag?.md5Digest == nil
    }
}

// MARK: - While the object arrives

extension Downloader {
    /// What is done beside the transfer for an object without a CRC-64 of the store's.
    struct Proving {
        /// Set to ask the store for all that it says of the object.
        var asks = false
        var isAsking = false
        /// True if `metadata` has the answer.
        var isDescribed = false
        var progress: DigestProgress?
        /// What is to be read next.
        var jobs: [DigestProgress.Job] = []
        /// Ranges that arrived since jobs were begun.
        var arrivals = 0
    }

    /// True if the object is whole and its digests are still under way.
    func waitsForDigests(_ attempt: Attempt) -> Bool {
        guard isWhole(attempt) else { return false }
        return attempt.proving.isAsking || (attempt.proving.progress?.runningCount ?? 0) > 0
    }

    private func isWhole(_ attempt: Attempt) -> Bool {
        if case .finish = attempt.effects.first { true } else { false }
    }

    func startProving(_ group: inout TaskGroup<RangeEnd>, _ attempt: inout Attempt) {
        if attempt.proving.asks {
            attempt.proving.asks = false
            attempt.proving.isAsking = true
            let etag = attempt.object.etag
            group.addTask { .described((try? await described(etag)) ?? nil) }
        }
        guard let file = attempt.partial?.file, !waitsForMore(attempt) else { return }
        let jobs = attempt.proving.jobs
        attempt.proving.jobs = []
        attempt.proving.arrivals = 0
        guard jobs.first?.part == nil else {
            group.addTask { await digestParts(jobs, of: file) }
            return
        }
        let context = context
        for job in jobs {
            group.addTask {
                do {
                    try await context.reading { interruption in
                        try file.read(job.range, unless: interruption) { job.update($0) }
                    }
                    return .digested([job], true)
                } catch {
                    return .digested([job], false)
                }
            }
        }
    }

    private func digestParts(_ jobs: [DigestProgress.Job], of file: OpenFile) async -> RangeEnd {
        let readings = jobs.compactMap { job in
            job.part.map { PartDigests.Reading(file: file, range: job.range, digest: $0) }
        }
        do {
            let digests = try await context.partDigests.digests(readings, on: context.hashing)
            for (job, digest) in zip(jobs, digests) { job.part = digest }
            return .digested(jobs, true)
        } catch {
            return .digested(jobs, false)
        }
    }

    /// True if parts will arrive soon whose digests take little longer beside those that wait.
    private func waitsForMore(_ attempt: Attempt) -> Bool {
        if isWhole(attempt) { return false }
        let jobs = attempt.proving.jobs
        return jobs.first?.part != nil && jobs.count < LaneMD5.width
            && attempt.proving.arrivals < LaneMD5.width
    }

    /// Begins with the surest proof of those that the store offers.
    func described(
        _ metadata: ObjectMetadata?,
        _ state: DownloadState,
        _ attempt: inout Attempt
    ) {
        attempt.proving.isAsking = false
        guard let metadata else { return }
        attempt.metadata = metadata
        attempt.proving.isDescribed = true
        let proofs = ContentDigest.all(of: metadata, partSize: context.partSize)
        guard metadata.crc64 == nil, let proof = proofs.first else { return }
        // An object of some megabytes is often whole before the store has answered.
        let ranges = isWhole(attempt) ? nil : state.ranges
        var progress = DigestProgress(proof, size: attempt.object.size, ranges: ranges)
        attempt.proving.jobs = progress?.begin() ?? []
        attempt.proving.progress = progress
    }
}
