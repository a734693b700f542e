internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// `freed` in `.osssync` of a mirrored directory, wherever its state is: what the user has only in
/// the bucket.
///
/// A file that is not here, and is named there or lies in a directory that is, was not deleted: no
/// run fetches it or deletes its object. It outlives the manifest.
struct FreedPaths: Sendable, Hashable {
    static let fileName = "freed"
    /// The setting of a state that has ever freed something itself.
    static let ownSetting = "freed.own"
    /// Some 900,000 files; whole directories take a line each.
    static let maximumSize = 64 << 20

    /// Files, and directories with a "/" at the end, in key order.
    private(set) var keys: [ObjectKey] = []

    var isEmpty: Bool { keys.isEmpty }

    static func read(in directory: MirrorDirectory) throws(TransferError) -> FreedPaths {
        let advice =
            "Restore it from a backup, or remove it and pull with each state of the directory "
            + "before the next push: that fetches again what was freed"
        return try read(fileName, advice: advice) { () throws(LocalError) in
            try directory.markerFile.folder(makes: false)?.read(fileName, limit: maximumSize)
        } ?? FreedPaths()
    }

    /// Refuses a list that no run could read.
    func check() throws(TransferError) {
        guard content.count > Self.maximumSize else { return }
        throw TransferError(
            code: .configuration,
            message: "the list of freed files would be larger than \(Self.maximumSize >> 20) MiB; "
                + "nothing was freed. Free whole directories, which take a line each"
        )
    }

    /// Makes it what the state says; durably.
    func write(to directory: MirrorDirectory) throws(TransferError) {
        do throws(LocalError) {
            let folder = try directory.markerFile.folder(makes: true)
            if isEmpty {
                try folder?.remove(Self.fileName)
            } else {
                try folder?.write(Self.fileName, content)
            }
        } catch {
            throw TransferError(error)
        }
    }

    /// True for a named file, and for what is a named directory or lies beneath it.
    func contains(_ key: ObjectKey) -> Bool {
        !isEmpty && (names(key) || directory(of: key) != nil)
    }

    /// Where the named directory is that holds a key; nil if none does.
    ///
    /// It is the last one before the key: what lies in a named directory is not named itself.
    func directory(of key: ObjectKey) -> Int? {
        let last = place(of: key) - 1
        guard last >= 0, keys[last].isDirectoryMarker, key.hasPrefix(keys[last]) else {
            return nil
        }
        return last
    }

    /// Those of the named directories that hold any of `keys`.
    func directories(holding keys: [ObjectKey]) -> FreedPaths {
        FreedPaths(keys: Set(keys.compactMap { directory(of: $0) }).sorted().map { self.keys[$0] })
    }

    /// True for what is named itself.
    func names(_ key: ObjectKey) -> Bool { index(of: key) != nil }

    /// Where a key is named itself.
    func index(of key: ObjectKey) -> Int? {
        let index = place(of: key)
        return index < keys.count && keys[index] == key ? index : nil
    }

    /// True if something beneath a directory is named, or all of it is.
    func concerns(_ directory: ObjectKey) -> Bool {
        let index = place(of: directory)
        return index < keys.count && keys[index].hasPrefix(directory) || contains(directory)
    }

    /// The index of the first one that is not before `key`.
    private func place(of key: ObjectKey) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// With these as well, and without what lies in directories that are named.
    func adding(_ more: [ObjectKey]) -> FreedPaths {
        var all = FreedPaths()
        for key in Set(keys).union(more).sorted() where !all.contains(key) { all.keys.append(key) }
        return all
    }

    func removing(where isRemoved: (ObjectKey) -> Bool) -> FreedPaths {
        FreedPaths(keys: keys.filter { !isRemoved($0) })
    }
}

extension FreedPaths: StateFile {
    static let heading = "osssync-freed 1"

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        Self(keys: try fields("paths", value?.keys))
    }
}
