internal import SyncModel

/// What was received of each version of each object, to see what comes again.
struct ReceivedBytes {
    private struct Version: Hashable {
        let key: ObjectKey
        let tag: String
    }

    /// Received pieces of 64 bytes, by version.
    private var pieces: [Version: Set<Int>] = [:]
    /// Those of which alone it counts that they come again, and each once; nil for all.
    private var known: [Version: Set<Int>]?
    /// Bytes that had come before.
    private(set) var again: Int64 = 0

    static let pieceSize = 64

    mutating func add(_ key: ObjectKey, _ tag: String, _ range: Range<Int>) {
        let version = Version(key: key, tag: tag)
        var received = pieces[version] ?? []
        for piece in (range.lowerBound / Self.pieceSize)...((range.upperBound - 1) / Self.pieceSize)
        {
            let start = max(range.lowerBound, piece * Self.pieceSize)
            let end = min(range.upperBound, (piece + 1) * Self.pieceSize)
            let wasThere = !received.insert(piece).inserted
            let wasKnown = known?[version]?.remove(piece) != nil
            if known == nil ? wasThere : wasKnown { again += Int64(end - start) }
        }
        pieces[version] = received
    }

    /// What came of a version that was published or spoilt may come again.
    mutating func forget() {
        pieces = [:]
        known = nil
        again = 0
    }

    /// What others did to a file may cost what came of its object.
    mutating func forget(_ key: ObjectKey) {
        for version in pieces.keys where version.key == key {
            pieces[version] = nil
            known?[version] = nil
        }
    }

    mutating func beginCount() { again = 0 }

    /// From now on counts only what has come so far.
    ///
    /// An encrypted block comes as a whole with each range of it, also where nothing was lost.
    mutating func beginCountOfKnown() { known = pieces }
}
