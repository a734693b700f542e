internal import SyncEngine
internal import SyncModel

/// What must be true of whatever is deleted, at the moment when it is.
extension World {
    func judgeDeletion(_ key: ObjectKey, of previous: VirtualBucket.Object?) {
        guard let run, let previous else { return }
        judgeChange("deletes '\(key.display)'")
        guard let path = Self.relative(key) else {
            report(.outside, "deleted '\(key.display)', which is outside the prefix")
            return
        }
        if !isRenamed(previous, by: run) { run.deletions += 1 }
        run.written.insert(key)
        if !run.deletes { report(.noDeletionOnDoubt, "'\(path.display)' was deleted unasked") }
        if !isDirectory(path), !model.wasAbsent(path) {
            report(.noDeletionOnDoubt, "the object '\(path.display)' was deleted beside its file")
        }
        judgeReserved(path, "deleted")
        judgeWiderDeletion(run, path)
        judgeDeletionPolicy(run, path)
        judgeMoment(run, path)
        judgeLastCopy(of: previous, at: path, "deleted")
        judgeUnhidden(previous, at: path, run)
        judgeDeletionOfFreed(path, run)
        let mayBeExtra = run.options.deletesExtra && run.options.direction == .push
        if !mayBeExtra { judgeLoss(of: previous, at: path, "deleted") }
        model.deleted(path)
    }

    /// Files that were there before the last call and are not any more.
    func judgeRemovals(_ run: RunState) {
        for (path, entry) in model.tree where tree.entries[path] == nil {
            guard case .file(let content) = entry else { continue }
            // What the listing has gives way to its new version.
            if run.served.shows(path) { continue }
            let isSecondName = model.tree.keys.contains { Model.isNameOfConflict(path, of: $0) }
            let isElsewhere = tree.entries.values.contains(.file(content))
            if isSecondName, isElsewhere { continue }
            judgeRecheck(run, path)
            judgeMoment(run, path)
        }
    }

    /// Whether anything may be deleted by now.
    private func judgeMoment(_ run: RunState, _ path: ObjectKey) {
        let name = path.display
        if run.excludes(path) { report(.noDeletionOnDoubt, "'\(name)' is excluded and went") }
        if run.paths == nil, !run.sawAll(beneath: "") {
            report(.noDeletionOnDoubt, "'\(name)' went before every page of the listing was there")
        }
        // What has no room, or no name beside an old one, waits for what is deleted.
        let isShort = setup.capacity != nil || run.hadFullDisk
        let mayWait = setup.has(.tight) || setup.has(.folders) || isShort
        let others = run.underWay.filter { $0 != name && !mayBeBlocked($0, run) }
        if !mayWait, let other = others.min() {
            report(.noDeletionOnDoubt, "'\(name)' went while '\(other)' was under way")
        }
        if let recorded = run.recordedHost, recorded != host {
            report(.noDeletionOnDoubt, "'\(name)' went in the first run with another remote")
        }
        if run.paths != nil { return judgeLimitedMoment(run, path) }
        guard !run.options.allowsEmpty, !run.options.deletesExtra, !run.hadCompany else { return }
        if run.options.direction != .push, run.served.isEmpty {
            report(.noDeletionOnDoubt, "'\(name)' went after a listing of nothing")
        }
        if run.options.direction != .pull, run.isDirectoryEmpty {
            report(.noDeletionOnDoubt, "'\(name)' went after a walk that found nothing")
        }
    }

    /// An upload that fails waits for the deletion of what is above or beneath it.
    private func mayBeBlocked(_ name: String, _ run: RunState) -> Bool {
        run.serialsAtStart.keys.contains { key in
            key.display.hasPrefix(name + "/") || name.hasPrefix(key.display + "/")
        }
    }

    /// True if the run has put the content under another name: no limit counts what goes for that.
    private func isRenamed(_ previous: VirtualBucket.Object, by run: RunState) -> Bool {
        service.bucket.objects.contains { key, object in
            guard let path = Self.relative(key), run.serialsAtStart[path] != object.serial else {
                return false
            }
            return object.bytes == previous.bytes && run.written.contains(key)
        }
    }

    /// What must be true of any run that deletes anything.
    func judgeDeletionPolicy(_ run: RunState, _ path: ObjectKey) {
        let name = path.display
        let own = run.items.firstIndex { $0.action == .deleteLocal && $0.displayKey == name }
        let before = run.items.prefix(upTo: own ?? run.items.count)
        // One deletion that fails says nothing of the others, and nor does what has no room or lies
        // on a volume of its own.
        let failed = before.first { item in
            item.state == .failed && item.action != .deleteLocal && item.action != .deleteRemote
                && item.message?.hasPrefix("the disk is full") != true && !isOnAnotherMount(item)
        }
        if let failed, run.deletions == 1 {
            report(
                .noDeletionOnDoubt,
                "'\(path.display)' was deleted although '\(failed.displayKey)' had failed"
            )
        }
        if run.options.direction != .pull, run.hasMissedFiles {
            report(.noDeletionOnDoubt, "'\(path.display)' was deleted after a walk that failed")
        }
        if let limit = run.options.deletionLimit, run.deletions > limit {
            report(.noDeletionOnDoubt, "\(run.deletions) were deleted, and \(limit) allowed")
        }
    }

    /// The host of the remote as it is asked for now.
    var host: String { (isRenamed ? "other.test" : "store.test") + wide.port }

    /// Another remote than the manifest's is refused, unless it was said to be the new one.
    func judgeRemote(_ run: RunState) {
        let mayRebind = run.options.allowsRebinding && run.options.tool == nil && !run.isStatus
        guard let recorded = run.recordedHost, recorded != host, !mayRebind, run.failure == nil
        else { return }
        report(.noDeletionOnDoubt, "a run went on with another remote than the recorded one")
    }

    /// An upload that was completed is not called lost.
    func judgeLostAnswers(_ run: RunState) {
        guard !run.hadCompany else { return }
        for item in run.items where item.action == .upload && item.state == .failed {
            guard item.message?.contains("dropped the unfinished upload") == true else { continue }
            for key in run.written.sorted() {
                guard let path = Self.relative(key), path.display == item.displayKey,
                    let object = service.bucket.objects[key], object.author == .tool,
                    let content = model.contents.identify(object.bytes),
                    tree.entries[path] == .file(content)
                else { continue }
                report(.truthfulSummary, "'\(item.displayKey)' was uploaded, and called dropped")
            }
        }
    }
}
