internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// What mirrors around the directory, and within it, have freed, and other states of it.
///
/// The objects may be the only copies, whichever of the mirrors deletes them. So may be those of
/// what lies on a disk that one of them has seen, and that is not mounted.
///
/// A file is named in such a list before it goes. So a list that is read when an object is to be
/// deleted has every file that was freed before the walk missed it.
final class FreedElsewhere: Sendable {
    private struct OtherMirror {
        let path: String
        /// What comes off a key for the names in its list: `e/` for a mirror in `e`.
        var above: [UInt8] = []
        /// What comes before it: `d/` for a mirror around, if this one is in its directory `d`.
        var below: [UInt8] = []
        /// Nil for a list that is damaged or cannot be read, and may name anything.
        let freed: FreedPaths?
        /// When the list was written last.
        private(set) var freedAt: Timestamp?
        /// Where something was mounted, and is not now.
        let unmounted: [ObjectKey]

        init(at path: String, above: [UInt8] = [], below: [UInt8] = []) {
            (self.path, self.above, self.below) = (path, above, below)
            var folder: StateFolder?
            do throws(LocalError) {
                folder = try StateFolder.ofDirectory(at: path)
                let list = try folder?
                    .content(FreedPaths.fileName, limit: FreedPaths.maximumSize)
                freed = list.map { FreedPaths(content: $0.text) } ?? FreedPaths()
                freedAt = list?.identity.modified
            } catch {
                freed = error.refusesReading ? FreedPaths() : nil
            }
            unmounted = MountList.unmounted(at: path, folder)
        }

        /// One that may have been elsewhere when it freed anything, whose remote tells the objects.
        ///
        /// Nil if it has freed nothing, or nothing of this remote.
        init?(at path: String, within remote: RemoteIdentity) {
            let identity = (try? StateFolder.ofDirectory(at: path))?
                .flatMap { try? $0.read(StateIdentity.fileName) }
                .flatMap { StateIdentity(content: $0) }
            guard let other = identity?.remote, other.isOfSameBucket(as: remote) else { return nil }
            let (mine, its) = ([UInt8](remote.prefix.utf8), [UInt8](other.prefix.utf8))
            if its.starts(with: mine) {
                self.init(at: path, above: [UInt8](its.dropFirst(mine.count)))
            } else if mine.starts(with: its) {
                self.init(at: path, below: [UInt8](mine.dropFirst(its.count)))
            } else {
                return nil
            }
            if freed?.isEmpty == true { return nil }
        }

        /// What it says of a key; nil if it does not know it.
        func word(on key: ObjectKey) -> Word? {
            guard key.bytes.starts(with: above) else { return nil }
            let name = displayText(path.utf8)
            guard let freed else {
                return .doubtful(
                    "kept: what the mirror '\(name)' has freed cannot be read from its '.osssync', "
                        + "so that the object may be the only copy; check that disk"
                )
            }
            if freed.contains(inList(key)) {
                return .freed(path: path, at: freedAt)
            }
            let (place, bytes) = (inList(key), inList(key).bytes)
            let disk = unmounted.first { mount in
                place.hasPrefix(mount)
                    && (bytes.count == mount.bytes.count
                        || [UInt8](bytes)[mount.bytes.count] == UInt8(ascii: "/"))
            }
            return disk.map { mount in
                .unmounted(
                    "kept: '\(mount.display)' was a mount point in a run of '\(name)', and is not "
                        + "mounted now; mount it, or use --rebind if it was removed on purpose"
                )
            }
        }

        private func inList(_ key: ObjectKey) -> ObjectKey {
            ObjectKey(below + key.bytes.dropFirst(above.count))
        }
    }

    /// What another mirror says of a key.
    enum Word {
        /// By which mirror, and when its list was written last.
        case freed(path: String, at: Timestamp?)
        /// Why it cannot be known.
        case doubtful(String)
        /// What is missing may be on a disk that is not mounted.
        case unmounted(String)
    }

    private struct Found {
        /// Those around the directory, and those within it that have freed anything.
        var known: [OtherMirror]?
        /// Of the directories above the last key, the outermost first.
        var within: [OtherMirror] = []
        /// Of directories that are mirrors.
        var nested: [[UInt8]: OtherMirror] = [:]
    }

    private let path: String
    private let remote: RemoteIdentity
    private let nested: [[UInt8]]
    private let acceptsMounts: Bool
    let knowsOwn: Bool
    private let found = Mutex(Found())

    /// `nested` are the states of mirrors within the directory, as the walk found them; with
    /// `acceptsMounts`, the user says that all disks are there, and with `knowsOwn`, the rows of
    /// this state tell what was freed here.
    init(
        _ settings: MirrorSettings,
        nested: [[UInt8]] = [],
        acceptsMounts: Bool = false,
        knowsOwn: Bool = false
    ) {
        (path, remote, self.nested) = (settings.directory, settings.identity, nested)
        (self.acceptsMounts, self.knowsOwn) = (acceptsMounts, knowsOwn)
    }

    /// What another mirror or state says of a key; nil if none knows it.
    ///
    /// With `isMirror`, of the directories above it only those are looked at that are mirrors.
    func word(on key: ObjectKey, isMirror: (([UInt8]) -> Bool)? = nil) -> Word? {
        found.withLock { found in
            let known = found.known ?? mirrorsAround + mirrorsWithin
            found.known = known
            if isMirror == nil { descend(to: key.bytes, &found.within) }
            let nested = isMirror.map { mirrors(above: [UInt8](key.bytes), &found.nested, $0) }
            var doubt: Word?
            for mirror in known + (nested ?? found.within) {
                let word = mirror.word(on: key)
                if case .freed? = word { return word }
                if case .unmounted? = word, acceptsMounts { continue }
                doubt = doubt ?? word
            }
            return doubt
        }
    }

    /// With the one of the directory itself; the innermost first.
    private var mirrorsAround: [OtherMirror] {
        let own = knowsOwn ? [] : [(path: path, prefix: [UInt8]())]
        let places = own + GivenPath.around(path)
        return places.map { OtherMirror(at: $0.path, below: $0.prefix) }
            + places.compactMap { OtherMirror(at: $0.path, within: remote) }
    }

    private var mirrorsWithin: [OtherMirror] {
        nested.compactMap { state in
            let name = state.dropLast(RelativePath.stateDirectoryName.utf8.count + 1)
            return OtherMirror(
                at: path + "/" + String(decoding: name, as: UTF8.self),
                within: remote
            )
        }
    }

    private func mirrors(
        above key: [UInt8],
        _ known: inout [[UInt8]: OtherMirror],
        _ isMirror: ([UInt8]) -> Bool
    ) -> [OtherMirror] {
        var mirrors: [OtherMirror] = []
        for step in key.indices.dropLast() where key[step] == UInt8(ascii: "/") {
            let place = [UInt8](key[..<step])
            guard isMirror(place) else { continue }
            let mirror =
                known[place]
                ?? OtherMirror(
                    at: path + "/" + String(decoding: place, as: UTF8.self),
                    above: [UInt8](key[...step])
                )
            known[place] = mirror
            mirrors.append(mirror)
        }
        return mirrors
    }

    /// Makes `mirrors` those of the directories above a key: of all others, nothing is kept.
    private func descend(to key: [UInt8], _ mirrors: inout [OtherMirror]) {
        while let last = mirrors.last, !key.starts(with: last.above) { mirrors.removeLast() }
        let known = mirrors.last?.above.count ?? 0
        for step in key.indices.dropFirst(known).dropLast() where key[step] == UInt8(ascii: "/") {
            let place = path + "/" + String(decoding: key[..<step], as: UTF8.self)
            mirrors.append(OtherMirror(at: place, above: [UInt8](key[...step])))
        }
    }
}
