internal import LocalStorage
package import ObjectStorage
internal import ObjectTransfer
package import SyncModel

/// How a mirror is cut: the key ranges of its shards, which together are every key.
///
/// It is kept in one small file of the state. That file decides where the manifests are: without
/// it, one for the whole mirror; with it, one for each shard beneath `shards/NAME`.
package struct Cutting: Sendable, Hashable {
    static let fileName = "cuts"
    /// The directory of all cuttings.
    static let folder = "shards"
    package static let maximumCount = 1_000
    private static let nameLength = 26
    /// Of a shard, so that names sort as numbers do.
    private static let digits = 4

    /// A random name, which no other cutting of any mirror has.
    package let name: String
    /// The first key of every range but the first one, ascending.
    package let bounds: [ObjectKey]

    static func randomName(_ environment: EngineEnvironment) -> String {
        environment.randomName(nameLength)
    }

    package var count: Int { bounds.count + 1 }

    /// In key order.
    package var ranges: [KeyRange] {
        zip([ObjectKey("")] + bounds, bounds.map { $0 } + [nil]).map {
            KeyRange(from: $0, before: $1)
        }
    }

    /// The number of each range, in key order.
    ///
    /// They are dealt in such an order that shards of consecutive numbers, which run at the same
    /// time, lie far apart in the key space: a bucket is served by ranges of keys, too.
    package var numbers: [Int] {
        let width = Int.bitWidth - max(0, count - 1).leadingZeroBitCount
        let order = (0..<count).sorted { Self.reversed($0, width) < Self.reversed($1, width) }
        var numbers = [Int](repeating: 0, count: count)
        for (number, index) in order.enumerated() { numbers[index] = number }
        return numbers
    }

    private static func reversed(_ value: Int, _ width: Int) -> Int {
        (0..<width).reduce(0) { $0 << 1 | (value >> $1) & 1 }
    }

    /// The range of each shard, by its number.
    package var rangesByNumber: [KeyRange] {
        var found = ranges
        for (index, number) in numbers.enumerated() { found[number] = ranges[index] }
        return found
    }

    /// The number of the shard that a key is in.
    func number(of key: ObjectKey) -> Int {
        numbers[bounds.count { $0 <= key }]
    }

    /// The names of the directories that lead from the mirror's state to a shard's.
    func folder(_ number: Int) -> [String] {
        let text = String(number)
        let zeros = String(repeating: "0", count: max(0, Self.digits - text.utf8.count))
        return [Self.folder, name, zeros + text]
    }
}

extension Cutting {
    /// Nil if the mirror is not cut.
    ///
    /// - Throws: `localState` if the file was cut short or altered.
    static func read(in directory: MirrorDirectory) throws(TransferError) -> Cutting? {
        try read(fileName) { () throws(LocalError) in try directory.sharedState.read(fileName) }
    }

    /// Why something that needs one manifest cannot be done.
    func refusal(for directory: String) -> TransferError {
        TransferError(
            code: .configuration,
            message: "'\(displayText(directory.utf8))' is a sharded mirror with \(count) "
                + (count == 1 ? "manifest" : "manifests") + ", and this command needs a single "
                + "one; 'osssync shard --count 1' joins the shards. pull, push, sync, finish and "
                + "status work on a sharded mirror"
        )
    }

    /// Removes what a process left that was killed while it cut or joined: of a mirror that is not
    /// cut, no shard is of use.
    ///
    /// The caller holds the lock of the mirror.
    static func removeLeftShards(
        in directory: MirrorDirectory,
        except kept: String? = nil
    ) throws(LocalError) {
        guard let shards = try directory.state.folder([folder], makes: false) else { return }
        for name in try shards.names() where name != kept {
            try directory.removeShards([folder, name])
        }
    }

    /// Whether the file of the cuts is still this, and the shards are there: it may have come from
    /// an old backup.
    func isPresent(in directory: MirrorDirectory) throws -> Bool {
        guard try Cutting.read(in: directory) == self else { return false }
        return try directory.state.folder([Self.folder, name], makes: false) != nil
    }
}

extension Cutting: StateFile {
    package static let heading = "osssync-cuts 1"

    package static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
    {
        let cutting = Self(
            name: try fields("cutting", value?.name),
            bounds: try fields("from", value?.bounds)
        )
        let bounds = cutting.bounds
        let isAscending = zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
        guard !cutting.name.isEmpty, isAscending, bounds.first != "", bounds.count < maximumCount
        else { throw .unexpectedType(member: "from") }
        return cutting
    }
}

extension MirrorDirectory {
    /// Takes the lock of the mirror as a whole.
    ///
    /// - Throws: `lockHeld` with the process that works on a shard, if one does: the last holder of
    ///   the whole, which its lock names, has ended by then. `interrupted`.
    func lockWhole(
        unless interruption: Interruption? = nil,
        onWait: (@Sendable (String) -> Void)? = nil
    ) throws(LocalError) -> DirectoryLock {
        do throws(LocalError) {
            return try lock(unless: interruption, onWait: onWait)
        } catch {
            guard case .lockHeld = error, let cutting = try? Cutting.read(in: self) else {
                throw error
            }
            for number in 0..<cutting.count {
                guard let holder = try? holder(ofShard: cutting.folder(number)) else { continue }
                throw .lockHeld(by: holder)
            }
            throw error
        }
    }
}
