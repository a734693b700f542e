internal import CVirtualFiles
internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// What must hold in a wider world.
extension World {
    /// An object of the same bucket that is no business of the mirror.
    static let secret = ObjectKey("secret")

    func beginWider() {
        disk.stateDirectory =
            setup.keepsStateElsewhere == true ? VirtualDisk.otherState : VirtualDisk.ownState
        tree.stateDirectory = disk.stateDirectory
        tree.believesTimes = setup.timeStep ?? 1 <= 1
        service.bucket.hasWeakTags = setup.hasWeakTags ?? false
        if setup.stateIsMounted == true { disk.unseen { mountState() } }
        beginWide()
        guard setup.has(.hostile) else { return }
        let content = model.contents.make(size: 200)
        service.bucket.put(
            Self.secret,
            bytes: model.contents[content],
            metadata: [:],
            now: now,
            author: .world
        )
    }

    /// Puts the state on a volume of the same device, as containers do.
    private func mountState() {
        let source = VirtualDisk.volumes + "/state"
        DiskEdits.makeDirectory([UInt8](VirtualDisk.volumes.utf8))
        DiskEdits.makeDirectory([UInt8](source.utf8))
        DiskEdits.makeDirectory([UInt8](VirtualDisk.otherState.utf8))
        DiskEdits.setMode([UInt8](source.utf8), 0o700)
        _ = unsafe virtual_files_mount(source, VirtualDisk.otherState, false)
        DiskEdits.synchronizeAll(VIRTUAL_FILES_ROOT)
    }

    func beginWider(_ run: RunState) {
        beginWide(run)
        run.ignored = disk.unseen { ignoredNames() }
        if ignoreFileIsUsers { hiddenNames = run.ignored }
        run.hidden = hiddenNames.union(run.ignored)
        onceHiddenNames.formUnion(run.hidden)
        if run.writesFiles || run.writesObjects { hiddenNames = run.hidden }
        if run.options.allowsRebinding, run.options.tool == nil { acceptUnmounted() }
        trashedAt = trashedAt.filter { tree.trash.contains($0.key) }
    }

    /// What users removed or replaced here, and this machine sent, is nobody else's version.
    func judgeOwnVersion(_ held: Model.Held, _ run: RunState) {
        guard setup.has(.writers), !setup.has(.restored), !manifestWasLost,
            run.options.faults.isEmpty,
            let object = service.bucket.objects[Self.whole(held.path)], object.author == .tool,
            let content = model.contents.identify(object.bytes), content != Contents.empty,
            model.superseded.contains(Model.Held(path: held.path, content: content))
        else { return }
        report(
            .boundedWaste,
            "'\(held.path.display)' lost its name to content \(content.number), its own older one"
        )
    }

    // MARK: - A small disk

    /// A disk that holds what the bucket has, but not twice, is enough.
    func finishTight() {
        guard setup.has(.tight), history.ending == .pull else { return }
        disk.unseen { tree.scan(model.contents) }
        let page = 4_096
        let pages = { (bytes: Int) in (bytes + page - 1) / page * page }
        var (here, there) = (0, 0)
        for case .file(let content?) in tree.entries.values {
            here += pages(model.contents[content].count)
        }
        for content in effectiveRemote().values { there += pages(model.contents[content].count) }
        let used = Int(virtual_files_used_bytes())
        let room = max(used, used - here + there) + 160 << 10
        virtual_files_set_capacity(Int64(room), -1)
        defer { DiskSettings.liftLimits() }
        var options = quietOptions(isForced: false)
        options.trashDays = 0
        for _ in 0..<3 {
            carryOut(options)
            guard violations.isEmpty else { return }
        }
        for item in lastRun?.items ?? [] where item.state == .failed {
            guard item.message?.contains("o space left") == true else { continue }
            report(.convergence, "'\(item.displayKey)' has no room: \(item.message ?? "")")
        }
    }

    // MARK: - Names

    /// What belongs to a mirror, this one or one beneath it, is no run's business.
    func judgeReserved(_ path: ObjectKey, _ what: @autoclosure () -> String) {
        guard path.hasNameOfOurOwn else { return }
        report(.outside, "'\(path.display)' is osssync's own name and was \(what())")
    }

    func judgeHidden(_ path: ObjectKey, _ run: RunState) {
        guard setup.has(.hostile) else { return }
        let isHidden = path.bytes.split(separator: UInt8(ascii: "/")).contains { segment in
            run.hidden.contains { segment.elementsEqual($0.utf8) }
        }
        guard isHidden else { return }
        report(.hidden, "'\(path.display)' is hidden by users and was sent")
    }

    // MARK: - Deletions and replacements

    /// What goes from the bucket is here, or a user let it go here.
    func judgeLastCopy(of object: VirtualBucket.Object, at path: ObjectKey, _ what: String) {
        guard let run, setup.has(.restored) || setup.has(.secondRemote) || setup.has(.mounts),
            object.target == nil,
            run.options.conflicts != .local, !run.options.deletesExtra,
            !run.options.replacesLocalChanges,
            let content = model.contents.identify(object.bytes), content != Contents.empty,
            run.serialsAtStart[path] == object.serial
        else { return }
        if what == "deleted", run.hadStaleListing { return }
        if tree.trash.contains(content) || tree.entries.values.contains(.file(content)) { return }
        if model.superseded.contains(Model.Held(path: path, content: content)) { return }
        report(
            .userData,
            "\(what) the object '\(path.display)', the last copy of content \(content.number)"
        )
    }

    func judgeWiderDeletion(_ run: RunState, _ path: ObjectKey) {
        if let last = run.lastRequestWithRoot, run.answering > last {
            report(.noDeletionOnDoubt, "'\(path.display)' was deleted, and the directory is gone")
        }
        let mayBeAsIs = run.options.allowsRebinding || run.options.deletesExtra
        if isUnmounted(path), !mayBeAsIs {
            report(.noDeletionOnDoubt, "'\(path.display)' was deleted, and is only not mounted")
        }
    }

    /// Before a file goes, its object is asked for once more, whatever a listing said.
    func judgeRecheck(_ run: RunState, _ path: ObjectKey) {
        guard setup.has(.lagging), !run.hadCompany,
            service.bucket.objects[Self.whole(path)] != nil
        else { return }
        report(.noDeletionOnDoubt, "the file '\(path.display)' went, and its object is there")
    }

    /// True if what is about to go was looked at before, and was another version then.
    func wasLookedAt(
        _ object: VirtualBucket.Object,
        at path: ObjectKey,
        _ run: RunState,
        _ what: String
    ) -> Bool {
        !setup.has(.writers) || sawAnother(than: object, at: path, run, what)
    }

    /// True if the run has asked for what is about to go, and was told of another version.
    func sawAnother(
        than object: VirtualBucket.Object,
        at path: ObjectKey,
        _ run: RunState,
        _ what: String
    ) -> Bool {
        let listed = what == "deleted" ? run.lastListed[path] : nil
        return (run.lastSeen[path] ?? listed).map { $0 != object.serial } ?? false
    }

    // MARK: - The trash

    /// What went to the trash stays there for the days that were asked for.
    func judgeTrash(_ run: RunState) {
        // Where there is no room, the trash goes for what is fetched; a directory takes it along.
        guard setup.has(.clocks), !setup.has(.tight), !setup.has(.vanishing) else { return }
        for content in tree.trash where trashedAt[content] == nil {
            trashedAt[content] = scheduler.elapsed
        }
        for (content, time) in trashedAt.sorted(by: { $0.key < $1.key })
        where !tree.trash.contains(content) {
            trashedAt[content] = nil
            // A second name in the trash goes if the file could not be replaced.
            if tree.entries.values.contains(.file(content)) { continue }
            let age = scheduler.elapsed - time
            guard age < .seconds(run.options.trashDays * 86_400) else { continue }
            report(.trash, "content \(content.number) left the trash after \(age)")
        }
    }

    // MARK: - Which directory

    /// A directory that nobody replaced is the one that it was.
    func judgeIdentity(_ run: RunState) {
        guard setup.has(.secondRemote), !directoryWasReplaced, !manifestWasLost, !isRenamed,
            run.options.faults.isEmpty
        else { return }
        let texts = run.warnings + [run.failure?.message ?? ""]
        for text in texts
        where text.contains("is not the")
            && text.contains(
                "manifest was "
                    + "created"
            )
        {
            report(.convergence, "the directory is said to be another one: \(text)")
        }
    }
}
