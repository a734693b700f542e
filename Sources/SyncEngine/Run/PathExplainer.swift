internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Looks at one path as a run does, and applies the rules of each direction to it.
struct PathExplainer: Sendable {
    let settings: MirrorSettings

    func explain(
        _ path: RelativePath,
        namesDirectory: Bool,
        _ session: MirrorSession,
        _ directions: [SyncDirection: RunOptions]
    ) async throws -> Explanation {
        let setups = try SyncDirection.allCases.map { direction in
            var options = directions[direction] ?? .standard
            options.isDryRun = true
            return try RunSetup(settings, session, direction, options)
        }
        let store = setups[0].store
        let found = try await look(at: path, session, setups)
        let row = try await session.manifest.entry(path.beneath)
        let mayBeDirectory =
            !path.isEscaped && (namesDirectory || found.local?.isDirectory == true || row != nil)
        let fileRow = try await session.manifest.entry(path.key)
        var (object, crc64) = try await object(path.key, store)
        // A file that was there, and is a directory now, is what its name stands for in a plan.
        let isDirectory = mayBeDirectory && (namesDirectory || fileRow == nil && object == nil)
        let key = isDirectory ? path.beneath : path.key
        if isDirectory { (object, crc64) = try await self.object(key, store) }
        let joined = JoinedEntry(
            key: key,
            base: isDirectory ? row : fileRow,
            local: isDirectory == (found.local?.isDirectory == true) ? found.local : nil,
            remote: object
        )
        let around = PathNeighbours(
            session: session,
            store: store,
            prefix: settings.prefix,
            object: { try await self.object($0, $1).0 }
        )
        let neighbours = try await around.entries(of: path, isDirectory: isDirectory, found.local)
        var leftOut = LeftOutRows(
            session.manifest,
            after: try await .recorded(in: session.manifest),
            records: false
        )
        let entry = try await session.damaged.marking(leftOut.marking(joined), records: false)
        guard entry.base != nil || entry.local != nil || object != nil || !found.issues.isEmpty
        else {
            throw try await nothing(of: path, key, session)
        }
        let freed = FreedScope(session.freed)
        let place = try await freed.obstacle(of: entry, in: session.manifest)
        let issues = found.issues + [place].compactMap(\.self)
        var outlooks: [SyncDirection: Explanation.Outlook] = [:]
        for setup in setups {
            if let refused = refused(setup) {
                outlooks[setup.direction] = refused
                continue
            }
            let freed = PlanScope.freed(setup, setup.freed)
            let marked = freed.marking(entry)
            let (outlook, item) = outlook(marked, neighbours, setup, issues)
            outlooks[setup.direction] = await looking(item, setup, outlook)
        }
        let judgesInodes = setups[0].policy.judgesInodes
        var explanation = Explanation(entry, crc64, outlooks, judgesInodes: judgesInodes)
        explanation.issues = issues.map(\.message)
        return explanation
    }

    /// What is said of a direction in which nothing runs; nil for any other.
    private func refused(_ setup: RunSetup) -> Explanation.Outlook? {
        setup.session.refusal(of: setup.direction, settings).map { reason in
            Explanation.Outlook(
                action: nil,
                reason: "it is refused: " + reason,
                rule: nil,
                isExcluded: false
            )
        }
    }

    /// What is said of a path of which neither side has anything by its own name.
    private func nothing(
        of path: RelativePath,
        _ key: ObjectKey,
        _ session: MirrorSession
    ) async throws -> TransferError {
        let rows = RowSelection.entries(in: KeyRange(path.beneath))
        let beneath = try await session.manifest.rows(rows, limit: 1)
        return TransferError(
            code: .configuration,
            message: beneath.isEmpty
                ? "'\(key.display)' is neither in the directory nor in the manifest, and there is "
                    + "no such object in the bucket; check its spelling: it is a path beneath "
                    + "DIR. If it was removed, 'osssync restore DIR \(path.display)' looks in the "
                    + "trash and the versions"
                : "'\(path.display)' is not here; it is a directory of recorded files, of which "
                    + "'osssync status DIR \(path.display)' tells"
        )
    }

    /// What the walk of a run has of one path.
    private func look(
        at path: RelativePath,
        _ session: MirrorSession,
        _ setups: [RunSetup]
    ) async throws -> (local: LocalEntry?, issues: [WalkIssue]) {
        let queue = BlockingQueue(
            label: "osssync.walk",
            width: 1,
            threads: settings.environment.threads
        )
        // What is in the place of a directory above hides it.
        let above = path.parents.map { ObjectKey($0.bytes) }
        let ranges = KeyRanges(
            [KeyRange(path.key), KeyRange(path.beneath)] + above.map { KeyRange($0) }
        )
        let walk = session.directory.walk(
            within: ranges,
            tags: setups[0].filter.tags,
            asksOfTags: true,
            links: setups.map(\.options.links).first { $0 != .skip } ?? .skip,
            names: path.isEscaped ? .escape : .skip,
            leavingOut: { _, _ in false }
        )
        var (entries, issues): ([LocalEntry], [WalkIssue]) = ([], [])
        while true {
            let batch = try await queue.run { () throws(LocalError) in try walk.next(limit: 16) }
            entries += batch.entries.filter { !above.contains($0.path) }
            issues += batch.issues
            if let question = walk.question {
                walk.answer(try await OwnTags(setups[0]).reason(of: question, isNew: false))
            }
            if batch.isFinished { break }
        }
        let unmounted = session.known.unmounted.filter { path.bytes.starts(with: $0) }
        issues += unmounted.map { WalkIssue(path: $0, reason: .notMounted) }
        // A walk does not enter a directory with a tag; the file is there all the same.
        if entries.isEmpty, issues.contains(where: \.isOfTag),
            case .file(let file) = try session.directory.identity(of: path)
        {
            entries = [LocalEntry(path: path.key, kind: .file(file))]
        }
        return (entries.first, issues)
    }

    /// The object as a listing would tell it, and its CRC-64 if the store tells it.
    private func object(
        _ key: ObjectKey,
        _ store: LimitedStore
    ) async throws -> (RemoteObject?, UInt64?) {
        let whole = ObjectKey(settings.prefix.bytes + key.bytes)
        let head: ObjectMetadata
        do throws(StorageError) {
            head = try await store.head(whole, versionID: nil)
        } catch {
            // A run goes by its listing, and skips it.
            if case .integrity(.sealed(.notEncrypted)) = error.kind {
                let request = ListRequest(prefix: whole, delimiter: nil, maximumKeys: 1)
                let found = try await store.list(request).objects.first { $0.key == whole }
                return (found?.beneath(settings.prefix), nil)
            }
            guard error.isNotFound else { throw error }
            return (nil, nil)
        }
        func object(_ key: ObjectKey, _ told: ObjectMetadata, isTarget: Bool) -> RemoteObject {
            RemoteObject(
                key: key,
                size: told.size,
                etag: told.etag ?? ETag(wire: ""),
                lastModified: head.lastModified,
                storageClass: told.storageClass,
                kind: isTarget ? .normal : told.kind,
                restoreState: told.restoreState,
                isThroughLink: isTarget
            )
        }
        let listed = object(whole, head, isTarget: false)
        let target = try await LinkTargets(store: store, prefix: settings.prefix)
            .targets(of: [listed])[0]
        let told = target ?? head
        return (object(key, told, isTarget: target != nil), told.crc64?.value)
    }

    /// The same outlook, or what a run makes of a transfer: a skip, or a copy of what is there.
    private func looking(
        _ item: PlannedItem?,
        _ setup: RunSetup,
        _ outlook: Explanation.Outlook
    ) async -> Explanation.Outlook {
        guard let planned = item else { return outlook }
        let executor = ItemExecutor(ItemParts(setup))
        let item = await executor.settling(planned)
        var outlook = outlook
        if item != planned {
            let outline = PlanOutline(item, setup.policy)
            (outlook.action, outlook.reason) = (outline.action, outline.reason)
        }
        if let refusal = await executor.refusal(of: item) {
            (outlook.action, outlook.reason) = (.skip, refusal)
        } else if let source = await executor.sources.probableSource(item.decision, item.entry) {
            outlook.action = item.entry.remote == nil ? .copyRemote : .copyLocal
            outlook.reason = "'\(source.key.display)' has the same content"
        } else if item.decision.sendsFile {
            let copied = await executor.uploads.copied(item.entry)
            outlook.bytesCopied = copied.bytes
            if let reason = copied.reasonToSendAll {
                outlook.reason += "; an upload sends all of it: " + reason
            }
        }
        return outlook
    }

    /// What one direction makes of the entry: first its filters, then its plan.
    ///
    /// `neighbours` are what may be in its way.
    private func outlook(
        _ entry: JoinedEntry,
        _ neighbours: [JoinedEntry],
        _ setup: RunSetup,
        _ issues: [WalkIssue]
    ) -> (Explanation.Outlook, PlannedItem?) {
        let left = Mutex<String?>(nil)
        let hidden = ScanIssues { _ in }
        for issue in issues {
            hidden.report(issue)
            if case .tagged(let tag) = issue.reason {
                left.withLock { $0 = displayText((issue.path + [UInt8(ascii: "/")] + tag.utf8)) }
            }
        }
        let policy = setup.policy
        let scope = PlanScope(
            setup,
            onCostly: { _ in left.withLock { $0 = "the patterns take too long to match" } },
            onExcluded: { _, rule in left.withLock { $0 = rule } }
        )
        guard let chosen = scope.choose(entry, hidden) else {
            let seen = scope.freed.seen
            let rule = seen.count + seen.lost.count > 0 ? nil : left.withLock(\.self)
            let outlook = Explanation.Outlook(
                action: nil,
                reason: rule == nil ? scope.heldReason ?? "it is left out" : "excluded",
                rule: rule,
                isExcluded: true
            )
            return (outlook, nil)
        }
        let others = neighbours.compactMap { scope.choose($0, hidden) }
        let plan = RunPlan(policy, hidden)
        let found = Self.item(of: chosen, among: others, plan, policy.ordinaryDirectory)
        let ruling = setup.filter.ruling(on: entry.key)
        let isNothing = entry.base == nil && entry.local == nil && entry.remote == nil
        guard !isNothing, let item = found else {
            // What is in the place of a file is never mirrored.
            let issue = isNothing ? issues.first?.message : nil
            let outlook = Explanation.Outlook(
                action: issue == nil ? nil : .skip,
                reason: issue ?? QuietReason.unchanged.message,
                rule: ruling?.rule,
                isExcluded: false
            )
            return (outlook, nil)
        }
        let outline = PlanOutline(item, policy)
        let isExcluded = setup.options.deletesExcluded && ruling?.excludes == true
        let outlook = Explanation.Outlook(
            action: outline.action,
            reason: isExcluded ? "excluded" : outline.reason,
            rule: ruling?.rule,
            isExcluded: isExcluded
        )
        return (outlook, item)
    }

    private static func item(
        of entry: JoinedEntry,
        among others: [JoinedEntry],
        _ empty: RunPlan,
        _ ordinary: UInt32?
    ) -> PlannedItem? {
        var (plan, markers) = (empty, HeldMarkers(ordinary: ordinary))
        for entry in (others + [entry]).sorted(by: { $0.key < $1.key }) { plan.add(entry) }
        plan.finish()
        var (found, outcomes): ([PlannedItem], [HeldMarkers.Outcome]) = ([], [])
        while let item = plan.next() {
            if !markers.take(item, &outcomes) { found.append(item) }
        }
        markers.finish(&outcomes)
        return (found + outcomes.map(\.item)).first { $0.entry.key == entry.key }
    }
}

extension Explanation {
    fileprivate init(
        _ entry: JoinedEntry,
        _ crc64: UInt64?,
        _ outlooks: [SyncDirection: Outlook],
        judgesInodes: Bool
    ) {
        self.init(
            key: entry.key.text,
            displayKey: entry.key.display,
            issues: [],
            outlooks: outlooks
        )
        let isDirectory = RelativePath.isDirectory(entry.key)
        if let base = entry.base {
            recorded = Version(
                size: isDirectory ? nil : base.size,
                time: isDirectory ? nil : StoreTime(secondsSince1970: base.localModified.seconds),
                etag: base.etag.description,
                crc64: isDirectory ? nil : base.crc64?.value,
                isDamaged: base.isDamaged
            )
        }
        if let local = entry.local {
            let file = local.identity
            self.local = Version(
                size: file?.size,
                time: file.map { StoreTime(secondsSince1970: $0.modified.seconds) }
            )
            self.local?.change = entry.base.flatMap { base in
                Change(LocalChange(of: local, since: base, judgesInodes: judgesInodes))
            }
        }
        if let object = entry.remote {
            remote = Version(
                size: isDirectory ? nil : object.size,
                time: object.lastModified.map { StoreTime(secondsSince1970: $0.seconds) },
                etag: object.etag.description,
                crc64: isDirectory ? nil : crc64
            )
            remote?.change = entry.base.map { base in
                RemoteChange(of: object, since: base) == .same ? .same : .changed
            }
        }
    }
}

extension Explanation.Change {
    fileprivate init?(_ change: LocalChange) {
        switch change {
        case .absent: return nil
        case .same: self = .same
        case .touched: self = .touched
        case .changed, .shortened: self = .changed
        }
    }
}
