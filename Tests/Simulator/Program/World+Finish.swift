internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// The end of a history: nothing fails any more, nobody changes anything, and a few runs must leave
/// both sides equal.
extension World {
    func finish() {
        DiskSettings.liftLimits()
        wallOffset = .zero
        isRenamed = false
        fixRules()
        disk.unseen { mountAll() }
        finishWide()
        lookAround()
        staleBucket = service.bucket
        trace("quiet")
        finishTight()
        guard violations.isEmpty else { return }
        let status = history.seed % 4 == 1 ? lookAtStatus() : nil
        guard violations.isEmpty, let first = quietRun(isForced: false) else { return }
        judge(status, by: first)
        // A file that is to give way may first have to be fetched, and then to be known.
        var before = first
        for _ in 0..<2 where needsAnother(before) {
            guard let next = quietRun(isForced: false) else { return }
            before = next
        }
        guard let second = quietRun(isForced: false), violations.isEmpty else { return }
        judgeIdle(second)
        for problem in differences(second) { report(.convergence, problem) }
        guard violations.isEmpty, let forced = quietRun(isForced: true) else { return }
        // What a link leads to may have been replaced by the run itself, and rules that it brought
        // or deleted hide other names than those of its beginning.
        let hasOtherRules = forced.items.contains { $0.displayKey == Self.ignoreFile.display }
        if forced.summary?.isComplete == false || hasOtherRules {
            guard violations.isEmpty, quietRun(isForced: true) != nil else { return }
        }
        // A directory that filters left out is known again before it gives way to a file.
        let isInTheWay = forced.items.contains { item in
            item.message?.contains("has keys beneath this name") == true
        }
        for _ in 0..<(isInTheWay ? 2 : 0) {
            guard violations.isEmpty, quietRun(isForced: true) != nil else { return }
        }
        guard violations.isEmpty, let last = quietRun(isForced: true), violations.isEmpty else {
            return
        }
        judgeIdle(last)
        judgeEquality(forced)
        judgeLeftovers(last)
        judgeSecretsOnDisk()
        if history.seed % 4 == 3 { judgeStatusAtEnd(last) }
        bringFreedBack()
    }

    /// Rules that no program understands fail in each run until their writer puts them right.
    private func fixRules() {
        guard let object = service.bucket.objects[Self.whole(Self.ignoreFile)],
            !object.bytes.starts(with: Self.ignoreHead)
        else { return }
        apply(.remote(.ignore(["zzz"])))
    }

    /// A status that sees nothing to do is right.
    private func judge(_ status: StatusReport?, by run: RunState) {
        guard let work = status.map(endingWork), let summary = run.summary, work.isEmpty,
            status?.issues.isEmpty == true, status?.warnings.isEmpty == true
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
        // A directory at which a volume is mounted can go neither there nor here.
        if setup.has(.mounts) { return true }
        // Two names that were one for this run are told apart by the next.
        if run.items.contains(where: { $0.message?.hasSuffix("run again") == true }) { return true }
        // What looks like a damaged file waits for the run after that was found whole.
        let isInDoubt = run.items.contains { item in
            item.message?.hasPrefix("damaged: it has the size") == true
        }
        if isInDoubt { return true }
        // A touched file gives way to a directory only once it is known to be unchanged, and one
        // whose object is there not at all.
        let isBlocked = run.items.contains { item in
            item.message?.contains("is where a directory is needed") == true
        }
        if isBlocked { return true }
        // What the rules that it brought do not hide is for the next one.
        if run.items.contains(where: { $0.displayKey == Self.ignoreFile.display }) { return true }
        // A version that was put aside is a new file, which goes to the remote.
        if run.options.direction == .sync, let summary = run.summary,
            summary.conflicts + summary.skipped > 0
        {
            return true
        }
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
        if message.contains("the next run sets the manifest aside") { return true }
        // Deletions in a directory that was replaced, or beside a manifest of another time, are
        // refused once.
        if directoryWasReplaced || manifestIsOld,
            message.contains("does not match the last run")
        {
            return true
        }
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
        options.partSize = setup.has(.tight) ? 32_768 : 1_024
        if isForced {
            options.deletesExtra = true
            options.replacesLocalChanges = true
            options.conflicts = history.ending == .push ? .local : .remote
        }
        return options
    }

    /// True for what failed because it lies on a volume of its own, which is sent only.
    func isOnAnotherMount(_ item: ItemEvent) -> Bool {
        setup.has(.mounts) && item.state == .failed
            && item.message?.contains("on a different disk or mount") == true
    }

    /// A second run finds nothing to do.
    private func judgeIdle(_ run: RunState) {
        guard let summary = run.summary else { return }
        // What lies on a volume of its own is sent only.
        if run.items.contains(where: isOnAnotherMount) { return }
        // A file that rules hid here once stays in the place of a directory.
        let isObstructed = run.items.contains { item in
            item.state == .failed && item.message?.contains("is not a directory") == true
        }
        if isObstructed, !onceHiddenNames.isEmpty { return }
        if run.items.contains(where: { isShutOut($0, run) }) { return }
        let changes = [
            ("transferred", summary.transferred), ("deleted", summary.deleted),
            ("renamed", summary.renamed), ("adopted", summary.adopted),
            ("failed", summary.failed), ("bytes", Int(summary.bytes)),
        ]
        for (name, count) in changes where count != 0 {
            let items = run.items.filter { $0.state != .skipped }.prefix(3).map { item in
                "\(item.action) \(item.displayKey) \(item.state) \(item.message ?? "")"
            }
            report(.convergence, "a second quiet run has \(name) \(count): \(items)")
        }
    }

    private func isShutOut(_ key: ObjectKey, _ run: RunState) -> Bool {
        let name = Self.relative(key)?.display
        return run.items.contains { $0.displayKey == name && isShutOut($0, run) }
    }

    /// True if an object that no run deletes unasked keeps another from a store that is directories
    /// beneath.
    func isShutOut(_ item: ItemEvent, _ run: RunState) -> Bool {
        guard item.state == .failed, item.message?.contains("ParentOrChildIsObject") == true else {
            return false
        }
        let path = [UInt8](item.displayKey.utf8)
        let slash = UInt8(ascii: "/")
        return service.bucket.objects.contains { key, object in
            guard let other = Self.relative(key) else { return false }
            // What vanished while it was left out stays there, too, and what is damaged here.
            let isToGo = rows[other].map { row in
                row.etag.text == object.etag && !row.isLeftOut && !row.isDamaged
            }
            let isHeldBack = manifestIsOld || run.summary?.deletionsHeldBack != nil
            if isToGo == true, !isHeldBack { return false }
            let name = [UInt8](other.display.utf8)
            return name.starts(with: path + [slash]) || path.starts(with: name + [slash])
        }
    }

    private func judgeLeftovers(_ run: RunState) {
        if history.ending != .pull, volumes.isEmpty {
            // Only a manifest knows whose an upload is.
            for upload in service.bucket.uploads.values
            where !manifestWasLost && !clockWasWrong && !foreignUploads.contains(upload.id)
                && !namedUploads.contains(upload.id) && !isShutOut(upload.key, run)
            {
                report(.remoteSide, "an upload of '\(upload.key.display)' was left behind")
            }
        }
        // What waits for a volume of its own, or behind what is hidden, keeps its partial file.
        if history.ending != .push, tree.partials > 0, volumes.isEmpty, onceHiddenNames.isEmpty {
            report(.convergence, "\(tree.partials) partial files are left after a quiet pull")
        }
    }
}
