internal import SyncModel

/// The state of one unfinished download: enough to resume in another process.
///
/// It holds no secret and no signed address. Nothing in it is believed before it is verified: the
/// store is asked whether the object is still the same, and the bytes on disk are read back and
/// compared, unless the file was not touched since a clean pause. A checkpoint that is of no use
/// costs nothing but a fresh start.
///
/// Its encoded form has the number of its format and a text that is opaque. Decoding one of another
/// format throws a `DecodingError` that says so: download without it.
public struct Checkpoint: Sendable, Hashable {
    /// A beginning of a range that is on disk.
    package struct VerifiedRange: Sendable, Hashable {
        /// The position of the first byte in the object, from 0.
        package let offset: Int64
        /// Bytes from there on that are on disk.
        package let length: Int64
        /// CRC-64 of those bytes.
        package let crc64: UInt64
        /// Shorter beginnings, for when those bytes are damaged.
        var marks: [RangeMark]?
    }

    /// The state of the partial file after a clean pause.
    struct Seal: Sendable, Hashable {
        let identity: FileIdentity
        let bootID: String

        /// True if the file is as it was when it was sealed, in the same boot of the machine.
        func matches(_ identity: FileIdentity, bootID: String) -> Bool {
            !bootID.isEmpty && self == Seal(identity: identity, bootID: bootID)
        }
    }

    /// What is downloaded, without secrets: `oss://host/bucket/key`, or a URL without its query.
    package let source: String
    /// The tag of the version that is fetched; every request asks for this version only.
    public let etag: String
    /// Bytes of the whole object.
    public let totalLength: Int64
    /// CRC-64 of the whole object as the store states it; nil if it does not.
    public let crc64: UInt64?
    /// What is on disk, by ascending offset.
    package let ranges: [VerifiedRange]
    /// The preferred size of a range, by which the object was cut.
    let rangeSize: Int64
    /// The name of the partial file, which lies beside the file that it becomes.
    let partialName: String
    let seal: Seal?

    /// Bytes that need not be fetched again.
    public var receivedLength: Int64 {
        ranges.reduce(0) { $0.addingReportingOverflow($1.length).partialValue }
    }
}

// MARK: - The engine's own form

extension Checkpoint {
    init(source: String, _ download: DownloadCheckpoint, seal: Seal?) {
        self.source = source
        etag = download.etag.text
        totalLength = download.size
        crc64 = download.crc64?.value
        ranges = download.ranges.filter { $0.received > 0 }
            .map { range in
                VerifiedRange(
                    offset: range.range.offset,
                    length: range.received,
                    crc64: range.checksum.value,
                    marks: range.marks.isEmpty ? nil : range.marks
                )
            }
        rangeSize = download.rangeSize
        partialName = download.partialName
        self.seal = seal
    }

    /// Nil if the values are impossible: it was damaged or forged.
    func download(_ key: ObjectKey) -> DownloadCheckpoint? {
        guard totalLength >= 0, rangeSize > 0 else { return nil }
        var recorded: [RangeProgress] = []
        let cut = DownloadState.cut(totalLength, rangeSize: rangeSize)
        guard let length = cut.first?.range.length ?? (ranges.isEmpty ? 1 : nil) else { return nil }
        for range in ranges {
            guard range.offset >= 0, range.offset % length == 0,
                case let index = Int(range.offset / length), cut.indices.contains(index),
                index > recorded.last?.index ?? -1,
                (1...cut[index].range.length).contains(range.length)
            else { return nil }
            var progress = cut[index]
            progress.received = range.length
            progress.checksum = CRC64(value: range.crc64)
            for mark in range.marks ?? []
            where (progress.marks.last?.length ?? 0) < mark.length && mark.length < range.length {
                progress.marks.append(mark)
            }
            recorded.append(progress)
        }
        return DownloadCheckpoint(
            key: key,
            size: totalLength,
            etag: ETag(wire: etag),
            crc64: crc64.map { CRC64(value: $0) },
            partialName: partialName,
            rangeSize: rangeSize,
            ranges: recorded
        )
    }
}
