internal import SyncModel
internal import Synchronization

/// Which uploads of S3 have a CRC-32C of each part, and whether that proves what arrived.
///
/// 1. An upload is `added` if its beginning or the list of its parts says so.
/// 2. In the first upload of the run, a wrong CRC-32C is tried (`beginTrial`): a store that refuses
///    it compares. Some only repeat what they are told, which proves nothing; that upload is begun
///    again without.
/// 3. Until a trial has succeeded, and after any answer without the CRC-32C, MD5 is the proof.
final class PartChecksums: Sendable {
    private enum Trust {
        case unknown
        case onTrial
        case proven
        case refuted
    }

    private struct State {
        var trust = Trust.unknown
        var uploads: Set<UploadID> = []
    }

    private let state = Mutex(State())

    /// True if the store was seen to refuse a wrong one.
    var areProof: Bool { state.withLock { $0.trust == .proven } }

    func contains(_ upload: UploadID) -> Bool { state.withLock { $0.uploads.contains(upload) } }

    func add(_ upload: UploadID) { state.withLock { _ = $0.uploads.insert(upload) } }

    /// The upload has ended.
    func remove(_ upload: UploadID) { state.withLock { _ = $0.uploads.remove(upload) } }

    /// True for the one caller that is to try the store.
    func beginTrial() -> Bool {
        state.withLock { state in
            guard state.trust == .unknown else { return false }
            state.trust = .onTrial
            return true
        }
    }

    /// The trial could not be made; another one may be.
    func cancelTrial() { state.withLock { if $0.trust == .onTrial { $0.trust = .unknown } } }

    func endTrial(isProof: Bool) { state.withLock { $0.trust = isProof ? .proven : .refuted } }

    /// Answers of this store have no checksum, or none that proves anything.
    func distrust() { state.withLock { $0.trust = .refuted } }
}

/// A CRC-32C as the wire has it: Base64 of four bytes, the highest first.
func checksumText(_ value: UInt32) -> String {
    Base64.encode([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) })
}

/// Nil for anything but Base64 of four bytes.
func checksumValue(_ text: some Collection<UInt8>) -> UInt32? {
    guard let bytes = Base64.decode(text), bytes.count == 4 else { return nil }
    return bytes.reduce(0) { $0 << 8 | UInt32($1) }
}
