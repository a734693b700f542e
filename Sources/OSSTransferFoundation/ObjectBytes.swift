internal import OSSBucket
public import OSSTransfer
internal import SyncModel

/// The bytes of one version of an object, one after the other, as they are fetched.
///
/// ```swift
/// for try await byte in client.bytes(of: "notes.txt") { count(byte) }
/// ```
///
/// A piece of the object is in memory at a time, fetched by one request with `If-Match`. The last
/// piece is handed out once the CRC-64 of all of them is that of the object.
public struct ObjectBytes: AsyncSequence, Sendable {
    /// A byte.
    public typealias Element = UInt8

    let client: BucketClient
    let key: String
    let pieceSize: Int

    /// One pass over the bytes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let bytes: ObjectBytes
        private var piece: [UInt8] = []
        private var place = 0
        private var offset: Int64 = 0
        private var info: ObjectInfo?
        private var checksum = CRC64()

        init(_ bytes: ObjectBytes) {
            self.bytes = bytes
        }

        /// The next byte; nil after the last.
        ///
        /// - Throws: `TransferError`, as `BucketClient.get(_:range:conditions:maxBytes:)`; also of
        ///   code `objectChanged` if the object was replaced meanwhile, and `corrupt` if what came
        ///   is not what the store's checksum is of.
        public mutating func next() async throws(TransferError) -> UInt8? {
            if place == piece.count {
                guard try await fetch() else { return nil }
            }
            defer { place += 1 }
            return piece[place]
        }

        /// The same, for a caller that stays where it is.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(TransferError) -> UInt8? {
            try await next()
        }

        /// False if there is no more.
        private mutating func fetch() async throws(TransferError) -> Bool {
            if let info, offset >= info.size { return false }
            var conditions = ObjectConditions.none
            conditions.ifMatch = info?.etag
            let outcome = try await bytes.client.get(
                bytes.key,
                range: .bytes(offset..<offset + Int64(bytes.pieceSize)),
                conditions: conditions,
                maxBytes: bytes.pieceSize
            )
            let fetched: [UInt8]
            switch outcome {
            case .found(let content): (info, fetched) = (content.info, content.bytes)
            case .rangeNotSatisfiable:
                // An empty object has no range.
                guard offset == 0 else { throw changed }
                return false
            case .notModified, .preconditionFailed: throw changed
            }
            unsafe checksum.update(fetched.span.bytes)
            offset += Int64(fetched.count)
            if let info, offset >= info.size, let expected = info.crc64,
                expected != checksum.value
            {
                throw TransferError(
                    code: .corrupt,
                    message: "'\(displayText(bytes.key))' came with another CRC-64 than the "
                        + "store's; what was handed out must not be used"
                )
            }
            (piece, place) = (fetched, 0)
            return !fetched.isEmpty
        }

        private var changed: TransferError {
            TransferError(
                code: .objectChanged,
                message: "'\(displayText(bytes.key))' was replaced while it was read; read it again"
            )
        }
    }

    /// A pass from the first byte.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

extension BucketClient {
    /// The bytes of an object as they are fetched, from the first to the last.
    ///
    /// - Parameters:
    ///   - key: The whole key.
    ///   - pieceSize: How many bytes are fetched at a time and held in memory: 1 MiB.
    /// - Returns: The bytes; nothing is asked before the first one is.
    public func bytes(of key: String, pieceSize: Int = 1 << 20) -> ObjectBytes {
        ObjectBytes(client: self, key: key, pieceSize: max(1, pieceSize))
    }
}
