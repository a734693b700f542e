internal import CVirtualFiles
internal import SyncEngine
internal import SyncModel

/// What must hold in wide worlds.
extension World {
    /// The end of a run of its own.
    func judgeWide(_ run: RunState) {
        guard setup.wide != nil else { return }
        noteTold(run)
        judgeInStep(run)
        judgeLocalDoubt(run)
        judgeGrown(run)
        noteRules(run)
    }

    /// Also of a run that was killed.
    func noteRules(_ run: RunState) {
        guard setup.wide != nil else { return }
        wide.acceptedRules.names.formUnion(run.ignored)
        guard run.options.tool == nil, !run.options.isDryRun, run.paths == nil,
            !run.isStatus, run.summary?.stopped == nil, run.summary != nil
        else {
            let mayRecord = run.options.tool == nil && !run.options.isDryRun && !run.isStatus
            if mayRecord { wide.rulesSince.append(run.rules) }
            return
        }
        (wide.lastRules, wide.rulesSince) = (run.rules, [])
    }

    // MARK: - Damage

    private func noteTold(_ run: RunState) {
        if manifestWasLost { wide.damages = [] }
        for index in wide.damages.indices {
            let name = wide.damages[index].path.display
            let isSkipped = run.items.contains { item in
                item.displayKey == name && item.state == .skipped
                    && item.message?.hasPrefix("damaged") == true
            }
            // A dry run records nothing.
            let isRecorded = !run.options.isDryRun
            if isRecorded, isSkipped || run.foundDamaged.contains(name) {
                wide.damages[index].isTold = true
            }
        }
        // What was brought back is not damaged any more.
        wide.damages.removeAll { tree.entries[$0.path] == .file($0.good) }
    }

    /// The good content of a file that is known to be damaged, or that nobody touched since, stays
    /// in the bucket, here or in the trash.
    func judgeDamage(after effect: ServiceEffect) {
        guard !wide.damages.isEmpty, let run, !run.options.replacesLocalChanges else { return }
        let before: VirtualBucket.Object?
        switch effect {
        case .wrote(_, let previous), .deleted(_, let previous): before = previous
        case .began, .aborted, .read: return
        }
        guard let before, let lost = model.contents.identify(before.bytes) else { return }
        for damage in wide.damages where damage.good == lost {
            let isTouched =
                damage.changed == nil || run.changedAtStart[damage.path] != damage.changed
            if isTouched, !damage.isTold { continue }
            let bytes = model.contents[lost]
            if service.bucket.objects.values.contains(where: { $0.bytes == bytes }) { return }
            if tree.trash.contains(lost) || tree.entries.values.contains(.file(lost)) { return }
            let how = damage.isTold ? "which was told" : "which nobody touched"
            report(
                .damage,
                "content \(lost.number) is gone; its file '\(damage.path.display)' is damaged, "
                    + how
            )
        }
    }

    // MARK: - In step

    /// Both sides are equal but for what users' own rules hide, whatever else was said.
    private func judgeInStep(_ run: RunState) {
        guard run.summary?.isInStep == true, !run.hadCompany, !run.options.isDryRun,
            run.dice.counts[.staleListing] == nil
        else { return }
        let remote = effectiveRemote()
        var paths = Set(remote.keys)
        for (path, entry) in tree.entries { if case .file = entry { paths.insert(path) } }
        for path in paths.sorted() {
            var here: ContentID?
            if case .file(let content)? = tree.entries[path] { here = content }
            guard here != remote[path], isMirrored(path), !run.excludes(path),
                !run.isOutside(path), (try? RelativePath(key: path)) != nil,
                isValidUTF8(path.bytes)
            else { continue }
            if isRuledOut(path, run) || isOnlyThere(path) { continue }
            // Nobody has seen it yet.
            if let here, wide.spoiled.contains(here) { continue }
            if service.bucket.objects[Self.whole(path)]?.target != nil { continue }
            if path.bytes.count + Self.prefix.bytes.count > 1_023 { continue }
            let other = tree.entries[path]?.word ?? "nothing"
            let mine = here.map { "content \($0.number)" } ?? other
            let there = remote[path].map { "content \($0.number)" } ?? "nothing"
            report(
                .truthfulSummary,
                "in step, but '\(path.display)' is \(mine) here and \(there) there"
            )
        }
    }

    /// True if users' own rules hide either side.
    func isRuledOut(_ path: ObjectKey, _ run: RunState) -> Bool {
        guard setup.wide != nil else { return false }
        var largest = service.bucket.resolved(Self.whole(path))?.bytes.count ?? 0
        if case .file(let content?)? = tree.entries[path] {
            largest = max(largest, model.contents[content].count)
        }
        let size = Int64(largest)
        if run.rules.hides(path, size: size) { return true }
        return run.options.direction == .pull && wide.acceptedRules.hides(path, size: size)
    }

    // MARK: - What was hidden

    /// What went while it was hidden is not known to be deleted.
    func judgeUnhidden(_ object: VirtualBucket.Object, at path: ObjectKey, _ run: RunState) {
        guard setup.wide != nil, let rules = wide.lastRules, !run.options.deletesExtra,
            !run.hadCompany, !isDirectory(path)
        else { return }
        let size = Int64(object.bytes.count)
        guard rules.hides(path, size: size), !run.rules.hides(path, size: size),
            wide.rulesSince.allSatisfy({ $0.hides(path, size: size) })
        else { return }
        report(.noDeletionOnDoubt, "'\(path.display)' was deleted, and went while it was hidden")
    }

    // MARK: - Doubt about one name

    /// What cannot be read, or changes, holds back the deletions at its own name and beneath only.
    private func judgeLocalDoubt(_ run: RunState) {
        guard setup.has(.unreadable) || setup.has(.growing), isPlain(run), run.deletes,
            run.options.direction != .pull
        else { return }
        let doubts = run.items.filter { $0.state == .failed || $0.state == .skipped }
        guard run.summary?.deletionsHeldBack != nil, isLocal(doubts, run) else { return }
        for (path, row) in rows.sorted(by: { $0.key < $1.key }) {
            guard tree.entries[path] == nil, !run.filesAtStart.contains(path), !isDirectory(path),
                !run.excludes(path), !run.rules.hides(path, size: row.size),
                wide.lastRules?.hides(path, size: row.size) != true,
                !wide.rulesSince.contains(where: { $0.hides(path, size: row.size) }),
                let object = service.bucket.objects[Self.whole(path)], object.etag == row.etag.text,
                run.serialsAtStart[path] == object.serial, !run.names(path),
                model.removedByUser.contains(path), !isBeneathUnreadable(path)
            else { continue }
            report(
                .convergence,
                "'\(path.display)' was not deleted because of \(doubts.map(\.displayKey))"
            )
        }
    }

    /// A run in which nothing happened but what its world is about.
    private func isPlain(_ run: RunState) -> Bool {
        run.options.faults.isEmpty && run.options.interruption == nil && run.failure == nil
            && run.options.tool == nil && !run.options.isDryRun && run.options.rival == nil
            && run.paths == nil && run.options.deletionPercent == 100
            && run.options.deletionLimit == nil && !manifestIsOld && !manifestWasLost
            && !run.hadFullDisk && setup.capacity == nil && run.recordedHost == host
            && !run.warnings.contains { $0.contains("nothing is deleted") }
            && run.options.meanwhile.allSatisfy { event in
                if case .wide(.grow) = event.change { true } else { false }
            }
    }

    /// True if all that was not done is so because of rights, or because a file grew.
    private func isLocal(_ doubts: [ItemEvent], _ run: RunState) -> Bool {
        doubts.allSatisfy { item in
            run.grown.contains { $0.display == item.displayKey }
                || item.message?.contains("ermission") == true
                || item.message?.contains("not permitted") == true
        }
    }

    private func isBeneathUnreadable(_ path: ObjectKey) -> Bool {
        for index in path.bytes.indices where path.bytes[index] == UInt8(ascii: "/") {
            let directory = full(ObjectKey([UInt8](path.bytes[..<index])))
            let text = String(decoding: directory, as: UTF8.self)
            let bits = unsafe virtual_files_granted(text, WideState.user, WideState.group)
            if bits & 5 != 5 { return true }
        }
        return false
    }

    /// A file that only grew was sent as it was.
    private func judgeGrown(_ run: RunState) {
        guard isPlain(run) else { return }
        for path in run.grown.sorted() {
            let item = run.items.last { item in
                item.displayKey == path.display && item.action == .upload
                    && (item.state == .failed || item.state == .skipped)
            }
            guard let item, !isShutOut(item, run) else { continue }
            report(.convergence, "'\(path.display)' grew and was not sent: \(item.message ?? "")")
        }
    }

    // MARK: - Rights

    /// True if another user's file has another name now, as in a conflict: it was not replaced.
    private func isOthers(_ file: WideState.Readers) -> Bool {
        file.owner != WideState.user && wide.readers.values.contains { $0.inode == file.inode }
    }

    /// A file that a run put in place is readable for no more people than the one of this user
    /// before it, and than a file that the user makes there.
    func judgeRights(_ run: RunState) {
        guard setup.has(.rights), run.writesFiles else { return }
        let before = wide.readers
        let known = wide.knownInodes
        noteReaders()
        for (path, found) in wide.readers.sorted(by: { $0.key < $1.key }) {
            if before[path]?.inode == found.inode || known.contains(found.inode) { continue }
            guard let slash = full(path).lastIndex(of: UInt8(ascii: "/")) else { continue }
            let directory = String(decoding: full(path)[..<slash], as: UTF8.self)
            for (index, other) in WideState.others.enumerated() {
                // An owner gives himself whatever rights he likes.
                if before[path]?.owner == other.user { continue }
                let fresh = unsafe virtual_files_granted_new(directory, other.user, other.group)
                let most = before[path].map { isOthers($0) ? fresh : $0.bits[index] } ?? fresh
                guard found.bits[index] & ~most != 0 else { continue }
                report(
                    .rights,
                    "user \(other.user) of group \(other.group) has \(found.bits[index]) of "
                        + "'\(path.display)' and had \(most)"
                        + (before[path] == nil ? " of new files" : "")
                )
            }
        }
    }
}

extension DiskEntry {
    fileprivate var word: String {
        switch self {
        case .file: "a file"
        case .directory: "a directory"
        case .link: "a link"
        case .other: "a special file"
        }
    }
}
