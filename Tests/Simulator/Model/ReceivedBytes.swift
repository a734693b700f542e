internal import SyncModel

/// What was received of each version of each object, to see what comes again.
struct ReceivedBytes {
    private struct Version: Hashable {
        let key: ObjectKey
        let tag: String
    }

    /// Received pieces of 64 bytes, by version.
    private var pieces: [Version: Set<Int>] = [:]
    /// Bytes that had come before.
    private(set) var again: Int64 = 0

    static let pieceSize = 64

    mutating func add(_ key: ObjectKey, _ tag: String, _ range: Range<Int>) {
        let version = Version(key: key, tag: tag)
        var known = pieces[version] ?? []
        for piece in (range.lowerBound / Self.pieceSize)...((range.upperBound - 1) / Self.pieceSize)
        {
            let start = max(range.lowerBound, piece * Self.pieceSize)
            let end = min(range.upperBound, (piece + 1) * Self.pieceSize)
            if !known.insert(piece).inserted { again += Int64(end - start) }
        }
        pieces[version] = known
    }

    /// What came of a version that was published or spoilt may come again.
    mutating func forget() {
        pieces = [:]
        again = 0
    }

    /// What others did to a file may cost what came of its object.
    mutating func forget(_ key: ObjectKey) {
        for version in pieces.keys where version.key == key { pieces[version] = nil }
    }

    mutating func beginCount() { again = 0 }
}
