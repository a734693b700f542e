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
        let status = history.seed % 4 == 1 ? lookAtStatus() : nil
        guard violations.isEmpty, let first = quietRun(isForced: false) else { return }
        judge(status, by: first)
        if needsAnother(first) {
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
        judgeSecretsOnDisk()
        if history.seed % 4 == 3 { judgeStatusAtEnd(last) }
    }

    /// A status that sees nothing to do is right.
    private func judge(_ status: StatusReport?, by run: RunState) {
        let work = history.ending == .push ? status?.push : status?.pull
        guard let work, let summary = run.summary, work.isEmpty, status?.issues.isEmpty == true
        else { return }
        if summary.transferred + summary.deleted + summary.conflicts > 0 {
            report(
                .truthfulSummary,
                "a status saw nothing to do, and the next run \(summary.transferred) transfers, "
                    + "\(summary.deleted) deletions and \(summary.conflicts) conflicts"
            )
        }
    }

    /// True if a run says or shows that the next one finds something to do.
    private func needsAnother(_ run: RunState) -> Bool {
        // A rebuilt manifest holds deletions back once.
        if run.warnings.contains(where: { $0.contains("nothing is deleted") }) { return true }
        // A touched file gives way to a directory only once it is known to be unchanged.
        let isBlocked = run.items.contains { item in
            item.message?.contains("stands where a directory is needed") == true
        }
        if isBlocked { return true }
        // What a link leads to was replaced by the run itself.
        return service.bucket.objects.values.contains { object in
            object.target.map { run.written.contains($0) } ?? false
        }
    }

    /// Nil, and a violation, if it does not succeed.
    private func quietRun(isForced: Bool) -> RunState? {
        let options = quietOptions(isForced: isForced)
        carryOut(options)
        guard var run = lastRun else { return nil }
        if mayTryAgain(after: run) {
            carryOut(options)
            guard let next = lastRun else { return nil }
            run = next
        }
        if let failure = run.failure {
            report(.convergence, "a quiet run failed: \(failure.message)")
            return nil
        }
        return run
    }

    /// True if what kept a quiet run from its end is as it should be, and is gone for the next one.
    private func mayTryAgain(after run: RunState) -> Bool {
        guard let message = run.failure?.message else { return false }
        // Damage that a run finds in its middle is the next one's to mend.
        if message.contains("The next run sets the manifest aside") { return true }
        // A flipped byte can make the version a newer one's, whose file is the user's to remove.
        guard manifestWasLost, message.contains("was written by a newer osssync") else {
            return false
        }
        disk.unseen { apply(StateChange.deleteManifest) }
        return true
    }

    func quietOptions(isForced: Bool) -> ToolRun {
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
        return options
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
        let link = service.bucket.objects[Self.whole(path)]
        if object?.storageClass != "Standard" || link?.storageClass != "Standard" { return true }
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
