internal import SyncModel

/// Some of the keys of a mirror, with the exact sums of what lies before each: where it can be cut.
///
/// Keys are taken in order, however many there are, in a bounded amount of memory: a key is in the
/// sample if its checksum is small, and the more keys there are, the smaller it has to be.
struct KeySample: Sendable {
    struct Point: Sendable, Hashable {
        let key: ObjectKey
        /// What lies before the key.
        let objects: Int
        let bytes: Int64
    }

    static let limit = 262_144
    /// What an object costs apart from its content, in bytes that would take as long.
    static let bytesOfObject: Int64 = 512 << 10

    private let limit: Int
    private var largest = UInt64.max
    private(set) var points: [Point] = []
    private(set) var objects = 0
    private(set) var bytes: Int64 = 0

    init(limit: Int = limit) {
        self.limit = limit
    }

    /// Adds the next key; they ascend.
    mutating func add(_ key: ObjectKey, size: Int64) {
        if CRC64(of: key.bytes).value <= largest, largest > 0 || points.count < limit {
            points.append(Point(key: key, objects: objects, bytes: bytes))
            while points.count > limit, largest > 0 {
                largest /= 2
                points.removeAll { CRC64(of: $0.key.bytes).value > largest }
            }
        }
        objects += 1
        bytes = bytes.addingClamped(size)
    }

    static func weight(objects: Int, bytes: Int64) -> Double {
        Double(objects) * Double(bytesOfObject) + Double(bytes)
    }

    /// How many shards there are unless a user says: one for a million objects or a terabyte.
    var defaultCount: Int {
        let byObjects = (objects + 999_999) / 1_000_000
        let byBytes = Int(clamping: bytes >> 40) + (bytes & ((1 << 40) - 1) == 0 ? 0 : 1)
        return min(max(byObjects, byBytes, 1), Cutting.maximumCount)
    }

    /// Where the keys are cut into `count` ranges of about the same weight, fewer if there are not
    /// so many places.
    ///
    /// A place for which `isSplit` returns true is passed over for the next one.
    func bounds(
        count: Int,
        isSplit: (ObjectKey) async throws -> Bool
    ) async throws -> [Point] {
        let whole = Self.weight(objects: objects, bytes: bytes)
        var found: [Point] = []
        var index = points.startIndex
        for part in 1..<max(count, 1) {
            let goal = whole * Double(part) / Double(count)
            while index < points.endIndex {
                let point = points[index]
                index += 1
                guard point.objects > 0,
                    Self.weight(objects: point.objects, bytes: point.bytes) >= goal
                else { continue }
                if try await isSplit(point.key) { continue }
                found.append(point)
                break
            }
        }
        return found
    }
}
