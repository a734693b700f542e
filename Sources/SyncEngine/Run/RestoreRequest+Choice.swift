internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

extension RestoreRequest {
    /// - Throws: `configuration` if everything of a run is meant and it was one of a shard: each
    ///   shard has such a run, and one of them is a part of what `pull --delete` or `finish` did.
    func requireWhole(
        of chosen: [TrashOfRun]
    ) throws(TransferError) {
        guard version == .lastRun || version.isOfRun, paths.contains(where: Self.isAll),
            let run = chosen.first(where: \.isOfShard)
        else { return }
        throw TransferError(
            code: .configuration,
            message: "run \(run.number ?? 0) did one shard's part of a round, and restoring that "
                + "part alone was refused; 'osssync restore --at TIME DIR .' restores what all "
                + "shards had at TIME, before the round began"
        )
    }

    /// Where a copy goes that leads outside of the directory; nil if it stays in it.
    ///
    /// - Throws: `symlinkInPath` for a link on the way, which a copy may have made.
    func checkedOutsidePath(
        of path: RelativePath,
        beneath asked: RelativePath?
    ) throws(LocalError) -> String? {
        guard let outside,
            let place = outsidePath(
                of: path,
                beneath: asked,
                isDirectory: { GivenPath.isDirectory($0) }
            )
        else { return nil }
        try GivenPath.requireNoLink(beneath: outside, above: place)
        return place
    }

    /// The place of a copy of what is in a directory; nil for a file that was asked for, which may
    /// go to any directory.
    func outside(of path: RelativePath, beneath asked: RelativePath?) -> String? {
        guard let asked, !path.isDirectory else { return outside }
        return path.bytes.count > asked.bytes.count ? outside : nil
    }

    /// The time after which nothing that comes back may have changed; nil for no such time.
    var latest: StoreTime? {
        guard !replaces, case .at(let time) = version else { return nil }
        return time
    }

    /// True if what has this key goes to the trash for what comes back.
    func mayReplace(_ key: ObjectKey) -> Bool {
        replaces || replacesFiles && paths.contains { (try? LocalMirror.path($0))?.key == key }
    }

    /// True for a file or link that comes from elsewhere; the reports of some places have its key.
    func isSettled(_ path: RelativePath) -> Bool {
        guard !settledKeys.isEmpty else { return false }
        let names = [path.text, path.key.text, path.key.ofLink.text]
        return names.contains(where: settledKeys.contains)
    }

    /// Why a file or an object that is there stays, and what to do.
    func occupied(inBucket: Bool) -> String {
        if isUndo {
            return "it has changed since that run; --force moves it to the trash and replaces it"
        }
        return
            (inBucket
            ? "another version is in the bucket"
            : "another file is there")
            + "; --force moves that one to the trash, --to PATH restores beside it"
    }

    /// True for a path that means everything.
    package static func isAll(_ text: String) -> Bool { text == "." || text == "./" }

    /// The paths, nil for everything, and where they go.
    func places() throws(TransferError) -> (paths: [RelativePath?], target: RelativePath?) {
        var found: [RelativePath?] = []
        for text in paths {
            found.append(Self.isAll(text) ? nil : try LocalMirror.path(text))
        }
        return (found, try target.map(LocalMirror.path))
    }
}
