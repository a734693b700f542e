internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// What is judged when a run has ended, by itself or not.
extension World {
    /// An event of the run; whatever a user is shown is looked at.
    func heard(_ event: SyncEvent, _ run: RunState) {
        guard !run.isDead else { return }
        switch event {
        case .item(let item):
            run.follow(item)
            scheduler.trace.say(
                "    \(item.action) \(item.state) \(item.displayKey) \(item.message ?? "")"
            )
            judgeText(item.displayKey)
            judgeText(item.message ?? "")
        case .retry, .excluded: break
        case .warning(let message):
            run.warnings.append(message)
            scheduler.trace.say("    warning: \(message)")
            if message.contains("set aside") {
                if !manifestWasLost, !mayLookDamaged, message.contains("set aside as"),
                    !message.contains("an earlier run found it damaged")
                {
                    report(.truthfulManifest, "a sound manifest was set aside: \(message)")
                }
                recordedHost = nil
                manifestWasLost = true
            }
            noteUploads(namedBy: message)
            judgeText(message)
        case .started(_, let directory, let remote):
            judgeText(directory)
            judgeText(remote)
        case .progress: break
        case .finished(let summary): judgeText(summary.deletionsHeldBack ?? "")
        }
    }

    func heard(_ file: FreedFile, _ run: RunState) {
        guard !run.isDead else { return }
        scheduler.trace.say("    free \(file.displayKey) \(file.reasonKept ?? "")")
        judgeText(file.displayKey)
        judgeText(file.reasonKept ?? "")
    }

    /// Notes the uploads that the service forbids to abort, or to look for: they are the user's.
    ///
    /// What is begun of the same key later is none of these.
    private func noteUploads(namedBy message: String) {
        guard message.contains("upload of") else { return }
        for upload in service.bucket.uploads.values {
            guard let path = Self.relative(upload.key),
                message.contains("upload of '\(path.display)' could not be aborted")
                    || message.contains("upload of '\(upload.key.display)' may have begun")
            else { continue }
            namedUploads.insert(upload.id)
        }
    }

    private func judgeText(_ text: String) {
        let isSafe = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: false
            default: true
            }
        }
        if !isSafe {
            report(.safeOutput, "a text has control characters: \(displayText(text.utf8))")
        }
        if text.contains(Self.canarySecret) { report(.safeOutput, "a text has the secret") }
    }

    // MARK: - A run that ended by itself

    func judgeEnd(of run: RunState) {
        judgeText(run.failure?.message ?? "")
        judgeVanished(run, isPowerCut: false)
        judgeOutside()
        judgeManifest()
        judgeLimits(run)
        judgeSummary(run)
        judgeRemote(run)
        judgeLostAnswers(run)
        judgeIdentity(run)
        judgeWide(run)
        if run.options.tool == .cancel { forgetWaste() }
        if run.writesFiles {
            judgeWaste(run)
            received.forget()
        }
        if run.writesObjects { judgeUploadWaste(run) }
    }

    /// Every file that was there is there, or its deletion was proven right.
    private func judgeVanished(_ run: RunState, isPowerCut: Bool) {
        var visible: Set<ContentID> = []
        for case .file(let content?) in tree.entries.values { visible.insert(content) }
        for (path, contents) in model.seenInRun.sorted(by: { $0.key < $1.key }) {
            if case .file? = tree.entries[path] { continue }
            guard !model.removedInRun.contains(path) else { continue }
            if !run.filesAtStart.contains(path) {
                // What a run published and did not yet make durable may be gone again.
                if isPowerCut { continue }
                // A second name that the run gave to a version, and took back.
                let isStillThere = contents.allSatisfy { visible.contains($0) }
                if isStillThere, isNameOfConflict(path) { continue }
            }
            // A file that got another name is still there.
            let renaming = "renamed from '\(path.display)'"
            if !run.items.contains(where: { $0.message == renaming }) { run.deletions += 1 }
            judgeLocalDeletion(path, run)
        }
    }

    private func isNameOfConflict(_ path: ObjectKey) -> Bool {
        model.seenInRun.keys.contains { Model.isNameOfConflict(path, of: $0) }
    }

    private func judgeLocalDeletion(_ path: ObjectKey, _ run: RunState) {
        if isFreed(path, by: run) { return }
        guard run.writesFiles else {
            report(.userData, "a run that writes no files removed '\(path.display)'")
            return
        }
        if run.excludes(path) {
            report(.noDeletionOnDoubt, "'\(path.display)' is excluded and was removed")
        }
        guard run.deletes else {
            report(.noDeletionOnDoubt, "the file '\(path.display)' was removed unasked")
            return
        }
        guard run.served.lacks(path) else {
            report(
                .noDeletionOnDoubt,
                "the file '\(path.display)' was removed, and no listing lacked its object"
            )
            return
        }
        if !run.hadCompany, service.bucket.resolved(Self.whole(path)) != nil {
            report(
                .noDeletionOnDoubt,
                "the file '\(path.display)' was removed, and its object is there"
            )
        }
        judgeDeletionPolicy(run, path)
        if let warning = run.warnings.first(where: { $0.contains("nothing is deleted") }) {
            report(
                .noDeletionOnDoubt,
                "the file '\(path.display)' was removed in spite of: \(warning)"
            )
        }
    }

    private func judgeOutside() {
        let canary = disk.unseen { DiskEdits.read([UInt8]((VirtualDisk.outside + "/canary").utf8)) }
        if canary != [UInt8]("untouched".utf8) {
            report(.outside, "the file beside the mirror was changed")
        }
        let beside = service.bucket.objects["mirror-beside"]
        if beside?.bytes != [1, 2, 3] {
            report(.outside, "the object beside the prefix was changed")
        }
    }

    /// A run that did all that it was asked for leaves its side as the other one, and one that says
    /// "in step" leaves both sides equal, but for what it named.
    private func judgeSummary(_ run: RunState) {
        if run.rootIsGone, run.summary?.isInStep == true {
            report(.truthfulSummary, "in step, and the directory is gone")
        }
        guard let summary = run.summary, summary.isComplete, !run.hadCompany,
            !run.options.isDryRun, run.dice.counts[.staleListing] == nil
        else { return }
        for problem in differences(run, bothWays: summary.isInStep) {
            report(.truthfulSummary, "\(summary.isInStep ? "in step" : "done"), but \(problem)")
        }
    }

    /// True for a link whose target this very run replaced or deleted: what is read at the link is
    /// something else since, and the next run finds it.
    private func leadsToWritten(_ path: ObjectKey, _ run: RunState) -> Bool {
        guard let target = service.bucket.objects[Self.whole(path)]?.target else { return false }
        return run.written.contains(target)
    }

    /// Keys that differ on the two sides without a word of the run about them.
    func differences(_ run: RunState, bothWays: Bool = false) -> [String] {
        let remote = effectiveRemote()
        var found: [String] = []
        if bothWays || run.options.direction != .push {
            for (path, content) in remote.sorted(by: { $0.key < $1.key }) {
                if case .file(content)? = tree.entries[path] { continue }
                if run.names(path) || run.excludes(path) || mayDiffer(path) { continue }
                if run.isOutside(path) || isRuledOut(path, run) { continue }
                if isSettled(path, run, hasObject: true) || leadsToWritten(path, run) { continue }
                let there = tree.entries[path].map { "\($0)" } ?? "nothing"
                found.append("'\(path.display)' is \(there) and not content \(content.number)")
            }
        }
        if bothWays || run.options.direction != .pull {
            for (path, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
                guard case .file(let content) = entry, isMirrored(path) else { continue }
                if let content, remote[path] == content { continue }
                if run.names(path) || run.excludes(path) || leadsToWritten(path, run) { continue }
                if mayDiffer(path) || run.isOutside(path) || isRuledOut(path, run) { continue }
                if isSettled(path, run, hasObject: remote[path] != nil) { continue }
                let there = remote[path].map { "content \($0.number)" } ?? "nothing"
                let mine = content.map { "content \($0.number)" } ?? "a mixture"
                found.append("the object '\(path.display)' is \(there) and the file \(mine)")
            }
        }
        return found
    }

    /// True where a sync that deletes nothing, or may not, leaves alone what one side lost.
    private func isSettled(_ path: ObjectKey, _ run: RunState, hasObject: Bool) -> Bool {
        guard run.options.direction == .sync,
            !run.deletes || run.summary?.deletionsHeldBack != nil
        else { return false }
        if case .file? = tree.entries[path], hasObject { return false }
        return model.hasBeenLocal(path)
    }

    /// True for a key that stands for a directory.
    func isDirectory(_ path: ObjectKey) -> Bool {
        setup.names == .escape ? RelativePath.isDirectory(path) : path.isDirectoryMarker
    }

    /// What a reader of each key gets, where one can be had: links lead to their targets.
    func effectiveRemote() -> [ObjectKey: ContentID] {
        var contents: [ObjectKey: ContentID] = [:]
        for key in service.bucket.keys {
            guard let path = Self.relative(key), !isDirectory(path), isMirrored(path),
                let object = service.bucket.resolved(key),
                let content = model.contents.identify(object.bytes)
            else { continue }
            contents[path] = content
        }
        return contents
    }

    /// False for what no run may touch, and for links that lead to what could not be mirrored.
    func isMirrored(_ path: ObjectKey) -> Bool {
        if path.hasNameOfOurOwn || path.hasPrefix(Self.ignoreDirectory) { return false }
        guard let target = service.bucket.objects[Self.whole(path)]?.target else { return true }
        guard isValidUTF8(target.bytes), let inside = Self.relative(target) else { return false }
        return (try? RelativePath(key: inside)) != nil
    }

    // MARK: - A run that was ended

    func judgeCrash(of run: RunState, isPowerCut: Bool) {
        if isPowerCut {
            disk.unseen { tree.scan(model.contents) }
            judgeAfterPowerCut(run)
        } else {
            look(run)
        }
        judgeVanished(run, isPowerCut: isPowerCut)
        noteRules(run)
        judgeOutside()
        judgeManifest()
        // What a power cut takes was not on the disk.
        if !isPowerCut { judgeLimits(run) }
        let isPlainKill = !isPowerCut && run.options.faults.isEmpty && !run.hadCompany
        countWaste(after: run, isPlainKill: isPlainKill)
    }

    /// Contents are whole and files of their own.
    private func judgeAfterPowerCut(_ run: RunState) {
        for (path, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
            guard case .file(let content) = entry else { continue }
            if let content, model.mayHold(path, content) { continue }
            let found =
                content.map { "content \($0.number) of elsewhere" }
                ?? model.contents.describe(tree.strangers[path] ?? [])
            report(.oldOrNew, "after a power cut '\(path.display)' holds \(found)")
        }
        noteFreed(run)
        judgeKept(run)
        model.look(tree)
    }
}
