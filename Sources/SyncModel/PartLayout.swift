/// How an object is cut into the parts of a multipart upload.
///
/// Limits of the service: 10,000 parts, each of at most 5 GiB and, but for the last, at least 100
/// KiB (5 MiB in the S3 dialect): oss-protocol "Limits".
package struct PartLayout: Sendable, Hashable {
    package static let maximumPartCount = 10_000
    package static let maximumPartSize: Int64 = 5 << 30
    /// 48.8 TiB: 10,000 parts of 5 GiB.
    package static let maximumObjectSize = Int64(maximumPartCount) * maximumPartSize
    /// The largest object that one PutObject may carry.
    package static let maximumSinglePutSize: Int64 = 5 << 30
    /// 100 KiB, OSS's smallest part but the last.
    package static let minimumPartSize: Int64 = 102_400

    package let objectSize: Int64
    /// The size of every part but the last.
    package let partSize: Int64

    /// A layout for an object of `objectSize` bytes with parts of at least `preferredPartSize`.
    ///
    /// The part size grows, in steps of 1 MiB, so that 10,000 parts suffice; it never falls below
    /// `minimumPartSize` nor exceeds 5 GiB. Nil if the object is larger than 48.8 TiB or a size is
    /// negative.
    package init?(
        objectSize: Int64,
        preferredPartSize: Int64,
        minimumPartSize: Int64 = PartLayout.minimumPartSize
    ) {
        guard objectSize >= 0, objectSize <= Self.maximumObjectSize, preferredPartSize > 0 else {
            return nil
        }
        let preferred = min(max(preferredPartSize, minimumPartSize), Self.maximumPartSize)
        let count = Int64(Self.maximumPartCount)
        let needed = (objectSize + count - 1) / count
        if needed <= preferred {
            partSize = preferred
        } else {
            let mebibyte: Int64 = 1 << 20
            partSize = min((needed + mebibyte - 1) / mebibyte * mebibyte, Self.maximumPartSize)
        }
        self.objectSize = objectSize
    }

    /// A layout whose part size was fixed earlier, as a checkpoint has it; nil if it cannot hold
    /// the object.
    package init?(objectSize: Int64, recordedPartSize: Int64) {
        guard objectSize >= 0, objectSize <= Self.maximumObjectSize, recordedPartSize > 0,
            recordedPartSize <= Self.maximumPartSize
        else { return nil }
        self.objectSize = objectSize
        partSize = recordedPartSize
        guard partCount <= Self.maximumPartCount else { return nil }
    }

    /// The number of parts; one for an empty object.
    package var partCount: Int {
        objectSize == 0 ? 1 : Int((objectSize - 1) / partSize) + 1
    }

    /// The bytes of a part, by its index from 0.
    package func range(ofPartAt index: Int) -> ByteRange {
        precondition(index >= 0 && index < partCount, "a part index is below the part count")
        let offset = Int64(index) * partSize
        return ByteRange(offset: offset, length: min(partSize, objectSize - offset))
    }
}

/// A part's place on the wire, from 1 to 10,000; the index in arrays counts from 0.
package struct PartNumber: Sendable, Hashable, Comparable {
    package let value: Int

    /// Nil outside 1 to 10,000.
    package init?(_ value: Int) {
        guard value >= 1, value <= PartLayout.maximumPartCount else { return nil }
        self.value = value
    }

    package init(index: Int) {
        precondition(
            index >= 0 && index < PartLayout.maximumPartCount,
            "a part index is below 10,000"
        )
        value = index + 1
    }

    package var index: Int { value - 1 }

    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}
