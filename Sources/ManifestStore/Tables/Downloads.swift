package import SyncModel

/// The row of `download`: what other tables have of it is added where it is read.
extension DownloadCheckpoint: Row {
    static var table: Table { .download }

    static func code(
        _ download: Self?,
        _ columns: inout RowCoder
    ) throws(ManifestError) -> Self {
        let key = try columns.key(download?.key, limit: ManifestLimits.key)
        let size = try columns.count(download?.size, "its size")
        let etag = try columns.etag(download?.etag)
        let crc64 = try columns.checksum(download?.crc64)
        let name = try columns.text(
            download?.partialName,
            "its partial's name",
            limit: ManifestLimits.fileName
        )
        guard isFileName(name) else {
            throw columns.failure("its partial's name is not a file name")
        }
        let rangeSize = try columns.count(download?.rangeSize, "its range size")
        guard rangeSize > 0 else { throw columns.failure("its range size is 0") }
        return DownloadCheckpoint(
            key: key,
            size: size,
            etag: etag,
            crc64: crc64,
            partialName: name,
            rangeSize: rangeSize,
            ranges: []
        )
    }

    /// A name that leads nowhere else than into the directory of the partials.
    private static func isFileName(_ name: String) -> Bool {
        let bytes = name.utf8
        return !bytes.isEmpty && name != "." && name != ".." && !bytes.contains(UInt8(ascii: "/"))
            && !bytes.contains(0)
    }

    /// What is wrong with its ranges; nil if nothing is.
    fileprivate var problem: String? {
        var previous = -1
        for range in ranges {
            guard range.index > previous else { return "its ranges are not in order" }
            guard range.range.end <= size else {
                return "its range \(range.index) reaches beyond its end"
            }
            previous = range.index
        }
        return nil
    }
}

struct RangeRow: Row {
    static var table: Table { .downloadRange }

    let key: ObjectKey
    let range: RangeProgress

    static func code(_ row: Self?, _ columns: inout RowCoder) throws(ManifestError) -> Self {
        let key = try columns.key(row?.key, limit: ManifestLimits.key)
        let index = try columns.count(row.map { Int64($0.range.index) }, "its index")
        guard index < ManifestLimits.rangeCount else {
            throw columns.failure("a range has the index \(index)")
        }
        let offset = try columns.count(row?.range.range.offset, "its offset")
        let length = try columns.count(row?.range.range.length, "its length")
        guard !offset.addingReportingOverflow(length).overflow else {
            throw columns.failure("a range has the offset \(offset) and the length \(length)")
        }
        let received = try columns.count(row?.range.received, "its received bytes")
        guard received <= length else {
            throw columns.failure("a range of \(length) bytes has received \(received)")
        }
        return RangeRow(
            key: key,
            range: RangeProgress(
                index: Int(index),
                range: ByteRange(offset: offset, length: length),
                received: received,
                checksum: CRC64(
                    value: try columns.bits(row?.range.checksum.value, "its CRC-64")
                ),
                bootID: try columns.text(
                    row?.range.bootID,
                    "its boot id",
                    limit: ManifestLimits.token
                )
            )
        )
    }
}

/// What the partial file is while its download rests.
struct SealRow: Row {
    static var table: Table { .downloadSeal }

    let key: ObjectKey
    let partial: FileIdentity

    static func code(_ row: Self?, _ columns: inout RowCoder) throws(ManifestError) -> Self {
        SealRow(
            key: try columns.key(row?.key, limit: ManifestLimits.key),
            partial: try columns.identity(row?.partial, "its partial")
        )
    }
}

extension RowSelection<DownloadCheckpoint> {
    /// Unfinished downloads in key order, with their ranges.
    package static var downloads: Self {
        Self(.selectDownloads, from: "", key: { $0.key }, complete)
    }

    package static func download(_ key: ObjectKey) -> Self {
        Self(.selectDownload, from: key, key: { $0.key }, complete)
    }

    @Sendable private static func complete(
        _ connection: Connection,
        _ download: inout DownloadCheckpoint
    ) throws(ManifestError) {
        let key = SQLValue.blob(download.key.bytes)
        let ranges: [RangeRow] = try connection.rows(.selectRanges, [key])
        let seals: [SealRow] = try connection.rows(.selectSeal, [key])
        download.ranges = ranges.map(\.range)
        download.seal = seals.first?.partial
        guard let problem = download.problem else { return }
        throw Table.download.failure(download.key.bytes, problem)
    }
}

extension Connection {
    /// The key's download, if it is still the one with this partial file; without its ranges.
    fileprivate func download(
        _ key: ObjectKey,
        _ partialName: String
    ) throws(ManifestError) -> DownloadCheckpoint {
        let found: DownloadCheckpoint? = try row(.selectDownload, [.blob(key.bytes)])
        guard let found, found.partialName == partialName else { throw .checkpointGone(key) }
        return found
    }
}

extension [WriteStep] {
    mutating func append(beginning download: DownloadCheckpoint) throws(ManifestError) {
        if let problem = download.problem { throw .invalidValue(problem) }
        append(.run(.deleteDownload, [.blob(download.key.bytes)]))
        append(try .upsert(download))
        for range in download.ranges {
            append(try .upsert(RangeRow(key: download.key, range: range)))
        }
        if let seal = download.seal {
            append(try .upsert(SealRow(key: download.key, partial: seal)))
        }
    }

    mutating func append(
        _ range: RangeProgress,
        of key: ObjectKey,
        _ partialName: String
    ) throws(ManifestError) {
        append(
            .perform { connection throws(ManifestError) in
                let download = try connection.download(key, partialName)
                guard range.range.end <= download.size else { throw .checkpointGone(key) }
            }
        )
        append(try .upsert(RangeRow(key: key, range: range)))
    }

    mutating func append(
        _ seal: FileIdentity,
        of key: ObjectKey,
        _ partialName: String
    ) throws(ManifestError) {
        append(
            .perform { connection throws(ManifestError) in
                _ = try connection.download(key, partialName)
            }
        )
        append(try .upsert(SealRow(key: key, partial: seal)))
    }
}
