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
        private let unmounted: [ObjectKey]
        private let folder: StateFolder?

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
            self.folder = folder
        }

        /// The same by the objects of its remote: it may have been elsewhere when it freed them.
        ///
        /// Nil if it has freed nothing, or nothing of this remote.
        func named(by remote: RemoteIdentity) -> OtherMirror? {
            guard freed?.isEmpty != true,
                let content = try? folder?.read(StateIdentity.fileName),
                let other = StateIdentity(content: content)?.remote,
                other.isOfSameBucket(as: remote)
            else { return nil }
            let (mine, its) = ([UInt8](remote.prefix.utf8), [UInt8](other.prefix.utf8))
            guard its.starts(with: mine) || mine.starts(with: its) else { return nil }
            var mirror = self
            mirror.above = [UInt8](its.dropFirst(mine.count))
            mirror.below = [UInt8](mine.dropFirst(its.count))
            return mirror
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
            let listed = ObjectKey(below + key.bytes.dropFirst(above.count))
            if freed.contains(listed) { return .freed(path: path, at: freedAt) }
            let disk = unmounted.first { mount in
                listed == mount || listed.hasPrefix(ObjectKey(mount.bytes + [UInt8(ascii: "/")]))
            }
            return disk.map { mount in
                .unmounted(
                    "kept: '\(mount.display)' was a mount point in a run of '\(name)', and is not "
                        + "mounted now; mount it, or use --rebind if it was removed on purpose"
                )
            }
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
        /// Of the directories above the last key.
        var above: [ObjectKey: OtherMirror] = [:]
    }

    private let path: String
    private let remote: RemoteIdentity
    private let nested: Set<ObjectKey>
    private let acceptsMounts: Bool
    let knowsOwn: Bool
    private let found = Mutex(Found())

    /// `nested` are the mirrors within the directory, as the walk found them; with
    /// `acceptsMounts`, the user says that all disks are there, and with `knowsOwn`, the rows of
    /// this state tell what was freed here.
    init(
        _ settings: MirrorSettings,
        nested: Set<ObjectKey> = [],
        acceptsMounts: Bool = false,
        knowsOwn: Bool = false
    ) {
        (path, remote, self.nested) = (settings.directory, settings.identity, nested)
        (self.acceptsMounts, self.knowsOwn) = (acceptsMounts, knowsOwn)
    }

    /// What another mirror or state says of a key; nil if none knows it.
    ///
    /// With `isMirror`, of the directories above it only those are looked at that are mirrors.
    func word(on key: ObjectKey, isMirror: (ObjectKey) -> Bool = { _ in true }) -> Word? {
        let directories = key.directoriesAbove.filter(isMirror)
        return found.withLock { found in
            let known = found.known ?? mirrorsAround + mirrorsWithin
            found.known = known
            var doubt: Word?
            for mirror in known + mirrors(in: directories, &found.above) {
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
        let around = (own + GivenPath.around(path)).map {
            OtherMirror(at: $0.path, below: $0.prefix)
        }
        return around + around.compactMap { $0.named(by: remote) }
    }

    private var mirrorsWithin: [OtherMirror] {
        nested.compactMap { OtherMirror(at: place($0)).named(by: remote) }
    }

    private func place(_ directory: ObjectKey) -> String {
        path + "/" + String(decoding: directory.bytes.dropLast(), as: UTF8.self)
    }

    /// Makes `known` those of these directories: of all others, nothing is kept.
    private func mirrors(
        in directories: [ObjectKey],
        _ known: inout [ObjectKey: OtherMirror]
    ) -> [OtherMirror] {
        let mirrors = directories.map { directory in
            known[directory]
                ?? OtherMirror(at: place(directory), above: [UInt8](directory.bytes))
        }
        if directories.count != known.count || directories.contains(where: { known[$0] == nil }) {
            known = Dictionary(uniqueKeysWithValues: zip(directories, mirrors))
        }
        return mirrors
    }
}
