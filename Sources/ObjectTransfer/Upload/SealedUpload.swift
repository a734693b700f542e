internal import LocalStorage
internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// How one upload makes an encrypted object of a file: all its parts have one nonce, which follows
/// from the upload's token.
///
/// Parts are ranges of the object, so that they are of equal length also where a store wants that.
/// A part may begin within a block; the two that share it have different bytes of it.
final class SealedUpload: Sendable {
    private let cipher: ContentCipher
    private let nonce: SealedNonce
    private let content: [UInt8]?
    private let file: OpenFile
    private let source: FileIdentity
    /// The plain bytes of what was sent, by where it begins in the object.
    private let sent = Mutex<[Int64: (length: Int64, checksum: CRC64)]>([:])

    private var plainSize: Int64 { source.size }

    /// The file is what `source` says, and stays open until the upload ends; `content` is all of
    /// it, if it is held.
    init(
        _ cipher: ContentCipher,
        token: String,
        of key: ObjectKey,
        _ file: OpenFile,
        _ source: FileIdentity,
        content: [UInt8]?
    ) {
        self.cipher = cipher
        nonce = cipher.nonce(of: token, key)
        self.content = content
        self.file = file
        self.source = source
    }

    /// Bytes of the object.
    var whole: ByteRange {
        ByteRange(offset: 0, length: SealedFormat.storedSize(of: plainSize))
    }

    /// What is sent of a range of the object.
    func body(
        _ range: ByteRange,
        isUnchanged: (@Sendable (CRC64) -> Bool)? = nil
    ) -> SealedBody {
        let region = FileRegion(
            descriptor: file.descriptor,
            range: ByteRange(offset: 0, length: plainSize),
            isUnchanged: isUnchanged
        )
        let (file, source) = (file, source)
        return SealedBody(
            content.map { .bytes($0) }
                ?? .file(region, isSame: { (try? file.identity()) == source }),
            plainSize: plainSize,
            range: range,
            cipher: cipher,
            nonce: nonce
        )
    }

    /// Notes a body that was read to its end.
    func add(_ body: SealedBody) {
        sent.withLock { $0[body.range.offset] = body.plainContent }
    }

    /// Of the file; nil if not all of it was sent.
    var plainChecksum: CRC64? {
        sent.withLock { sent in
            if let whole = sent[0], whole.length == plainSize { return whole.checksum }
            var checksum = CRC64()
            var length: Int64 = 0
            for (_, part) in sent.sorted(by: { $0.key < $1.key }) {
                checksum = checksum.combined(with: part.checksum, length: part.length)
                length += part.length
            }
            return length == plainSize ? checksum : nil
        }
    }

    /// The CRC-64 of a range of the object; blocks.
    func checksum(of range: ByteRange) throws -> CRC64 {
        let body = body(range)
        let checksum = try body.checksum()
        add(body)
        return checksum
    }

    /// Counts bytes of the file for those of the body that are sent.
    static func counting(
        _ transfer: TransferCounter,
        _ body: SealedBody?
    ) -> @Sendable (Int) -> Void {
        guard let range = body?.range else { return { transfer.add($0) } }
        let count = StoredCount()
        return { bytes in
            let (before, after) = count.add(bytes)
            let plain =
                SealedFormat.plainLength(inFirst: range.offset + after)
                - SealedFormat.plainLength(inFirst: range.offset + before)
            transfer.add(Int(plain))
        }
    }

    private final class StoredCount: Sendable {
        private let count = Mutex<Int64>(0)

        func add(_ bytes: Int) -> (before: Int64, after: Int64) {
            count.withLock { count in
                let before = count
                count += Int64(bytes)
                return (before, count)
            }
        }
    }
}
