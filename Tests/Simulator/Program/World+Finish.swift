internal import SyncEngine
internal import SyncModel

/// The end of a history: nothing fails any more, nobody changes anything, and a few runs must leave
/// both sides equal.
extension World {
    func finish() {
        DiskSettings.liftLimits()
        wallOffset = .zero
        isRenamed = false
        staleBucket = service.bucket
        trace("quiet")
        guard let first = quietRun(isForced: false) else { return }
        // A rebuilt manifest holds deletions back once.
        if first.warnings.contains(where: { $0.contains("nothing is deleted") }) {
            guard quietRun(isForced: false) != nil else { return }
        }
        guard let second = quietRun(isForced: false), violations.isEmpty else { return }
        judgeIdle(second)
        for problem in differences(second) { report(.convergence, problem) }
        guard violations.isEmpty, let forced = quietRun(isForced: true) else { return }
        // What a link leads to may have been replaced by the run itself.
        if forced.summary?.isInStep == false {
            guard violations.isEmpty, quietRun(isForced: true) != nil else { return }
        }
        guard violations.isEmpty, let last = quietRun(isForced: true), violations.isEmpty else {
            return
        }
        judgeIdle(last)
        judgeEquality(forced)
        judgeLeftovers()
    }

    /// Nil, and a violation, if it does not succeed.
    private func quietRun(isForced: Bool) -> RunState? {
        var options = ToolRun(direction: history.ending, seed: history.seed, faults: .none)
        options.deletesKnown = true
        options.allowsEmpty = true
        options.allowsRebinding = true
        options.deletionPercent = 100
        options.connections = 3
        options.partSize = 1_024
        if isForced {
            options.deletesExtra = true
            options.replacesLocalChanges = true
            options.conflicts = history.ending == .push ? .local : .remote
        }
        carryOut(options)
        guard let run = lastRun else { return nil }
        if let failure = run.failure {
            report(.convergence, "a quiet run failed: \(failure.message)")
            return nil
        }
        return run
    }

    /// A second run finds nothing to do.
    private func judgeIdle(_ run: RunState) {
        guard let summary = run.summary else { return }
        let changes = [
            ("transferred", summary.transferred), ("deleted", summary.deleted),
            ("renamed", summary.renamed), ("adopted", summary.adopted),
            ("failed", summary.failed), ("bytes", Int(summary.bytes)),
        ]
        for (name, count) in changes where count != 0 {
            let items = run.items.filter { $0.state != .skipped }.prefix(3).map { item in
                "\(item.action) \(item.key) \(item.state) \(item.message ?? "")"
            }
            report(.convergence, "a second quiet run has \(name) \(count): \(items)")
        }
    }

    private func judgeEquality(_ run: RunState) {
        if history.ending == .push { judgeBucket(run) } else { judgeDirectory(run) }
    }

    private func judgeDirectory(_ run: RunState) {
        let remote = effectiveRemote()
        for (path, content) in remote.sorted(by: { $0.key < $1.key }) {
            guard tree.entries[path] != .file(content), !isBlocked(path, run) else { continue }
            let there = tree.entries[path].map { "\($0)" } ?? "nothing"
            report(
                .convergence,
                "'\(path.display)' is \(there) after a forced pull, not content \(content.number)"
            )
        }
        guard run.summary?.deletionsHeldBack == nil else { return }
        for (path, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
            guard case .file = entry, service.bucket.objects[Self.whole(path)] == nil,
                isValidUTF8(path.bytes)
            else { continue }
            report(.convergence, "'\(path.display)' is still there after a forced pull")
        }
    }

    /// True if the object has no place here, for one of the reasons that are written down.
    private func isBlocked(_ path: ObjectKey, _ run: RunState) -> Bool {
        guard let place = try? RelativePath(key: path), isValidUTF8(path.bytes) else { return true }
        let object = service.bucket.resolved(Self.whole(path))
        if object?.storageClass != "Standard" { return true }
        if isUnderLink(place) { return true }
        // A file that nobody recorded keeps its name from becoming a directory's, and says so.
        if isUnderFile(place), run.hasItem(path, where: { $0.state == .skipped }) { return true }
        let beneath = ObjectKey(path.bytes + [UInt8(ascii: "/")])
        let isShadowed = service.bucket.keys.compactMap(Self.relative).contains { key in
            key.hasPrefix(beneath) && (try? RelativePath(key: key)) != nil
        }
        if isShadowed { return true }
        // What stays in a directory of this name keeps it.
        if tree.entries[path] == .directory, run.summary?.deletionsHeldBack != nil { return true }
        return tree.entries.contains { $0.key.hasPrefix(beneath) }
    }

    private func isUnder(_ place: RelativePath, _ isMeant: (DiskEntry?) -> Bool) -> Bool {
        var parent = place.parent
        while let directory = parent {
            if isMeant(tree.entries[ObjectKey(directory.bytes)]) { return true }
            parent = directory.parent
        }
        return false
    }

    private func isUnderLink(_ place: RelativePath) -> Bool {
        let links: [DiskEntry?] = [.link, .other]
        return links.contains(tree.entries[ObjectKey(place.bytes)])
            || isUnder(place) { links.contains($0) }
    }

    private func isUnderFile(_ place: RelativePath) -> Bool {
        isUnder(place) { if case .file? = $0 { true } else { false } }
    }

    private func judgeBucket(_ run: RunState) {
        let remote = effectiveRemote()
        for (path, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
            guard case .file(let content?) = entry, remote[path] != content else { continue }
            guard path.bytes.count + Self.prefix.bytes.count <= 1_023, isValidUTF8(path.bytes)
            else { continue }
            // A link without a target is left alone.
            let object = service.bucket.objects[Self.whole(path)]
            if object?.target != nil, remote[path] == nil { continue }
            let there = remote[path].map { "content \($0.number)" } ?? "nothing"
            report(.convergence, "the object '\(path.display)' is \(there) after a forced push")
        }
        guard run.summary?.deletionsHeldBack == nil else { return }
        for path in remote.keys.sorted() {
            if case .file? = tree.entries[path] { continue }
            guard let place = try? RelativePath(key: path), isValidUTF8(path.bytes),
                !isUnderLink(place)
            else { continue }
            report(.convergence, "the object '\(path.display)' is still there after a forced push")
        }
    }

    private func judgeLeftovers() {
        if history.ending == .push {
            // Only a manifest knows whose an upload is.
            guard !manifestWasLost else { return }
            for upload in service.bucket.uploads.values where !foreignUploads.contains(upload.id) {
                report(.remoteSide, "an upload of '\(upload.key.display)' was left behind")
            }
        } else if tree.partials > 0 {
            report(.convergence, "\(tree.partials) partial files are left after a quiet pull")
        }
    }
}
