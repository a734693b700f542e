internal import LocalStorage
internal import SyncModel

/// What an earlier attempt left in the partial file of a download.
struct PartialReader {
    let context: TransferContext

    /// The ranges of a checkpoint, with only those bytes that are known to be on disk.
    ///
    /// What the records do not vouch for is read back. Of a range whose checksum disagrees, the
    /// longest recorded beginning that is sound is kept.
    func verified(
        _ checkpoint: DownloadCheckpoint,
        in partial: OpenFile
    ) async throws -> [RangeProgress] {
        let identity = try partial.identity()
        let bootID = context.directory.bootID
        var ranges = DownloadState.cut(checkpoint.size, rangeSize: checkpoint.rangeSize)
        var sound: [RangeProgress] = []
        var damagedBytes: Int64 = 0
        var isReadBack = false
        for recorded in checkpoint.ranges where ranges.indices.contains(recorded.index) {
            guard ranges[recorded.index].range == recorded.range else { continue }
            let stands = await context.records.isTrusted(
                recorded,
                of: checkpoint,
                in: identity,
                bootID: bootID
            )
            var seen = recorded
            if !stands {
                isReadBack = true
                if try await checksum(of: recorded, in: partial) != recorded.checksum {
                    seen = try await soundBeginning(of: recorded, in: partial)
                    damagedBytes += recorded.received - seen.received
                    guard seen.received > 0 else { continue }
                }
            }
            seen.bootID = bootID
            ranges[recorded.index] = seen
            sound.append(seen)
        }
        if damagedBytes > 0 { context.observer.startedOver(.damaged(bytes: damagedBytes)) }
        // What was found wrong must not count when the next run asks, and what was found right
        // need not be read for it.
        if isReadBack {
            try await context.records.beginDownload(checkpoint.replacingRanges(with: sound))
        }
        return ranges
    }

    /// The longest recorded beginning of a damaged range that is as it was written.
    private func soundBeginning(
        of range: RangeProgress,
        in partial: OpenFile
    ) async throws -> RangeProgress {
        var sound = RangeProgress(index: range.index, range: range.range)
        for mark in range.marks {
            var longer = sound
            longer.received = mark.length
            let rest = try await checksum(of: longer, in: partial, after: sound.received)
            longer.checksum = sound.checksum.combined(
                with: rest,
                length: mark.length - sound.received
            )
            guard longer.checksum.value == mark.crc64 else { break }
            if sound.received > 0 {
                longer.marks.append(
                    RangeMark(length: sound.received, crc64: sound.checksum.value)
                )
            }
            sound = longer
        }
        return sound
    }

    /// Of what is in the file of a range, or of what is there after its first bytes.
    private func checksum(
        of range: RangeProgress,
        in partial: OpenFile,
        after first: Int64 = 0
    ) async throws -> CRC64 {
        let stored = ByteRange(
            offset: range.range.offset + first,
            length: range.received - first
        )
        return try await context.reading { interruption in
            try partial.checksum(of: stored, unless: interruption)
        }
    }
}
