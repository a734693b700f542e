internal import Glibc
internal import SyncModel

/// What the engine does to the disk, call by call.
extension World {
    /// Judges a call before it happens, and what the one before it did.
    func judge(_ call: VirtualDisk.Call) -> Int32 {
        guard let run, !run.isDead else { return 0 }
        if run.treeNeedsLook { look(run) }
        run.calls += 1
        if call.changes { run.changes += 1 }
        scheduler.trace.note(call.number)
        scheduler.trace.say("  \(call.name) \(call.place) \(call.bytes)")
        let place = call.changes ? call.place : ""
        if call.changes, !isOwnPlace(place, run) {
            report(.outside, "\(call.name) of '\(place)'")
        }
        if let point = run.isDyingAt, let interruption = run.options.interruption {
            interrupt(interruption, at: point)
            if run.isDead { return EIO }
        }
        if hits(call, run) { return EIO }
        if let part = torn(call, run) { return part }
        if let code = fault(call, run, place) {
            scheduler.trace.say(code > 0 ? "    fails with \(code)" : "    moves \(-code)")
            if call.kind == .read, code == EIO { run.readFailures += 1 }
            if code == ENOSPC || code == EDQUOT { run.hadFullDisk = true }
            if call.kind == .sync, code > 0 { failedToSynchronize(call) }
            return code
        }
        judgeName(call, run)
        if call.name == "fdopendir" { run.readings[call.place, default: 0] += 1 }
        if call.changes, concernsMirror(call, place) { run.treeNeedsLook = true }
        return 0
    }

    /// True for what a run may change: the mirror and the state.
    private func isOwnPlace(_ place: String, _ run: RunState) -> Bool {
        let isOwn = place.hasPrefix(VirtualDisk.mirror) || place.hasPrefix(disk.stateDirectory)
        if isOwn { return true }
        // A directory that went, or is elsewhere, is still open.
        return run.rootIsGone
            && (place.hasPrefix(VirtualDisk.moved) || !place.hasPrefix("/virtual"))
    }

    /// True if the process or the machine dies before this call.
    private func hits(_ call: VirtualDisk.Call, _ run: RunState) -> Bool {
        guard let interruption = run.options.interruption else { return false }
        let count: Int
        switch interruption.place {
        case .call: count = run.calls
        case .change:
            guard call.changes else { return false }
            count = run.changes
        case .name:
            guard call.changes, call.kind == .name else { return false }
            run.names += 1
            count = run.names
        case .write, .request, .answer, .step: return false
        }
        guard count == interruption.number else { return false }
        interrupt(interruption, at: "\(call.name) \(area(call.place))")
        return run.isDead
    }

    /// Of the write at which the process dies a part is done: minus how many bytes.
    private func torn(_ call: VirtualDisk.Call, _ run: RunState) -> Int32? {
        guard let interruption = run.options.interruption, interruption.place == .write,
            call.kind == .write, call.bytes > 1
        else { return nil }
        run.writes += 1
        guard run.writes == interruption.number else { return nil }
        run.isDyingAt = "within \(call.name) \(area(call.place))"
        return -Int32(clamping: 1 + interruption.seed % UInt64(call.bytes - 1))
    }

    /// The part of the mirror that a path is in, for the names of crash points.
    private func area(_ place: String) -> String {
        let state =
            place.hasPrefix(VirtualDisk.ownState) ? VirtualDisk.ownState : disk.stateDirectory
        guard place.hasPrefix(state) else { return "tree" }
        let rest = place.dropFirst(state.count).split(separator: "/")
        let name = rest.first.map(String.init) ?? "state"
        return name.hasPrefix("manifest.corrupt") ? "manifest.corrupt" : name
    }

    private func fault(_ call: VirtualDisk.Call, _ run: RunState, _ place: String) -> Int32? {
        let dice = run.dice
        guard dice.isOn, !run.options.faults.isEmpty else { return nil }
        if run.options.faults.mayConcern(.manifestError),
            [.read, .write, .sync, .resize, .open].contains(call.kind),
            call.place.hasPrefix(disk.stateDirectory + "/manifest"),
            dice.rolls(.manifestError)
        {
            return [EIO, ENOSPC, EMFILE][Int(dice.choice(.manifestError) % 3)]
        }
        switch call.kind {
        case .open where dice.rolls(.openError): return pick([EMFILE, EACCES, EIO], .openError)
        case .read where dice.rolls(.readError): return EIO
        case .write where dice.rolls(.writeError): return pick([EIO, ENOSPC, EDQUOT], .writeError)
        case .resize where dice.rolls(.resizeError): return pick([ENOSPC, EIO], .resizeError)
        case .sync where dice.rolls(.syncError): return pick([EIO, ENOSPC], .syncError)
        case .name where dice.rolls(.nameError):
            return pick([EIO, ENOSPC, EACCES, EINTR], .nameError)
        case .status where dice.rolls(.statusError): return pick([EIO, EACCES], .statusError)
        case .walk where dice.rolls(.walkError):
            if isOfWalk(call, run), concernsMirror(call, call.place) { run.hasMissedFiles = true }
            return EIO
        case .read where call.bytes > 1 && dice.rolls(.shortTransfer),
            .write where call.bytes > 1 && dice.rolls(.shortTransfer):
            let most = UInt64(min(call.bytes, 4_096) - 1)
            return -Int32(1 + dice.choice(.shortTransfer) % most)
        default: return nil
        }
    }

    /// True unless the walk is beyond it: it reads each directory once, and first, but for the
    /// uppermost one, which it has read before it comes to any other.
    private func isOfWalk(_ call: VirtualDisk.Call, _ run: RunState) -> Bool {
        guard call.place == VirtualDisk.mirror else {
            return run.readings[call.place, default: 0] < 2
        }
        return !run.readings.keys.contains { place in
            place.hasPrefix(VirtualDisk.mirror + "/") && !place.hasPrefix(VirtualDisk.ownState)
        }
    }

    private func pick(_ codes: [Int32], _ kind: FaultKind) -> Int32 {
        codes[Int((run?.dice.choice(kind) ?? 0) % UInt64(codes.count))]
    }

    /// True if it may change what a user sees.
    private func concernsMirror(_ call: VirtualDisk.Call, _ place: String) -> Bool {
        // A rename can lead out of the state.
        if call.name.hasPrefix("rename") || call.name.hasPrefix("link") { return true }
        return !place.hasPrefix(disk.stateDirectory) && !place.hasPrefix(VirtualDisk.ownState)
    }

    // MARK: - Interruptions

    func interrupt(at place: ToolRun.Interruption.Place, _ number: Int, _ point: String) {
        guard let run, let interruption = run.options.interruption, interruption.place == place,
            interruption.number == number
        else { return }
        interrupt(interruption, at: point)
    }

    func interrupt(_ interruption: ToolRun.Interruption, at point: String) {
        guard let run, !run.isDead, run.cancelledAt == nil else { return }
        run.isDyingAt = nil
        run.crashPoint = "\(run.options.direction.rawValue) \(point)"
        switch interruption.kind {
        case .kill, .powerCut:
            run.isDead = true
            disk.freeze()
        case .cancel:
            run.cancelledAt = scheduler.elapsed
            run.wantsCancel = true
        }
    }

    // MARK: - The tree

    /// Looks at the directory as it is between two calls.
    func look(_ run: RunState) {
        run.treeNeedsLook = false
        disk.unseen { tree.scan(model.contents) }
        for (path, bytes) in tree.strangers.sorted(by: { $0.key < $1.key }) {
            report(.oldOrNew, "'\(path.display)' holds \(model.contents.describe(bytes))")
        }
        for (path, entry) in tree.entries {
            guard model.tree[path] != entry else { continue }
            judgeAppearance(of: entry, at: path, run)
        }
        noteFreed(run)
        judgeKept(run)
        judgeRemovals(run)
        judgeTrash(run)
        judgeRights(run)
        model.look(tree)
    }

    private func judgeAppearance(of entry: DiskEntry, at path: ObjectKey, _ run: RunState) {
        if !run.writesFiles {
            report(.userData, "a run that writes no files changed '\(path.display)'")
        }
        if run.excludes(path), entry != .directory {
            report(.userData, "'\(path.display)' is excluded and was changed")
        }
        judgeReserved(path, "made or changed here")
        if case .file = entry { judgeReturnOfFreed(path, run) }
        if path == Self.ignoreFile { ignoreFileIsUsers = false }
        switch entry {
        case .file(let content?):
            guard model.mayHold(path, content) else {
                report(
                    .oldOrNew,
                    "'\(path.display)' holds content \(content.number), which never was there"
                )
                return
            }
            model.allow(path, content)
        case .file(nil), .directory: break
        case .link, .other: report(.outside, "'\(path.display)' became a link or a device")
        }
    }

    /// The second name under which a run put a user's version aside.
    private func placeBeside(_ held: Model.Held) -> ObjectKey? {
        tree.entries.keys.sorted().first { path in
            model.tree[path] == nil && tree.entries[path] == .file(held.content)
                && Model.isNameOfConflict(path, of: held.path)
        }
    }

    /// What the user changed is there, or where a flag allowed it to go.
    func judgeKept(_ run: RunState) {
        var visible: Set<ContentID> = []
        for case .file(let content?) in tree.entries.values { visible.insert(content) }
        for held in model.kept.sorted(by: { ($0.path, $0.content) < ($1.path, $1.content) }) {
            if tree.entries[held.path] == .file(held.content) { continue }
            if let beside = placeBeside(held) {
                judgeOwnVersion(held, run)
                model.moveKept(held, to: beside)
                continue
            }
            let isInTrash = tree.trash.contains(held.content) || run.options.trashDays == 0
            // What was written over a file that is known to be damaged goes to the trash, too.
            let isTold = rows[held.path]?.isDamaged == true && isInTrash
            let isRepaired =
                run.options.tool == .repair && (wide.spoiled.contains(held.content) || isTold)
            if visible.contains(held.content) || run.mayTakeUserData && isInTrash || isRepaired {
                model.giveUp(held)
                continue
            }
            report(
                .userData,
                "the user's content \(held.content.number) of '\(held.path.display)' is gone"
            )
            model.giveUp(held)
        }
        for path in model.keptOthers.sorted() where tree.entries[path] != .link {
            guard tree.entries[path] != .other else { continue }
            report(.userData, "the link or special file '\(path.display)' was replaced")
        }
    }
}
