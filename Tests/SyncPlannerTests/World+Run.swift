import SyncModel
import SyncPlanner

/// What one run of the model did and left.
struct RunResult {
    var items: [PlannedItem] = []
    /// Keys left alone for a stated reason: skips, conflicts, kept local changes.
    var leftAlone: Set<ObjectKey> = []
    /// True if anything on either side or in the manifest was to change.
    var didSomething = false
    var wasStopped = false
    var refreshedRows = 0
    /// Local versions kept beside remote ones, which are new files to the next run.
    var copiesKept = 0
}

extension World {
    /// Plans and carries out one run, deletions last, as an engine would with every guard content.
    mutating func run(_ policy: DecisionPolicy) throws(PlanError) -> RunResult {
        var result = RunResult()
        result.items = try plan(
            policy,
            remote: remoteStream,
            base: baseStream,
            local: localStream,
            batch: 3
        )
        var shell = Shell(policy: policy)
        for item in result.items where !shell.result.wasStopped {
            carryOut(item.decision, item, &shell)
        }
        if !shell.result.wasStopped { finish(&shell) }
        shell.result.items = result.items
        return shell.result
    }

    fileprivate struct Shell {
        let policy: DecisionPolicy
        var result = RunResult()
        var deletions: [(key: ObjectKey, isLocal: Bool, entry: JoinedEntry)] = []
        var postponed: [PlannedItem] = []
        var depth = 0
    }

    private mutating func carryOut(
        _ decision: Decision,
        _ item: PlannedItem,
        _ shell: inout Shell
    ) {
        let key = item.entry.key
        switch decision {
        case .nothing:
            return
        case .skip, .keepLocalChange:
            shell.result.leftAlone.insert(key)
            return
        case .compare(let comparison, let same, let different):
            shell.depth += 1
            if shell.depth > 2 { violations.append("\(key): comparisons nested too deep") }
            let next = isSame(comparison, item.entry) ? same : different
            carryOut(next, item, &shell)
            shell.depth -= 1
            return
        case .conflict(_, .leaveBoth):
            shell.result.leftAlone.insert(key)
            return
        case .conflict(_, .stopRun):
            shell.result.leftAlone.insert(key)
            shell.result.wasStopped = true
            return
        case .conflict(_, let resolution):
            settle(resolution, item, &shell)
        case .download: download(key, &shell)
        case .upload: upload(key, shell)
        case .adopt: adopt(key)
        case .refresh:
            refresh(key)
            shell.result.refreshedRows += 1
        case .carryMode: refresh(key)
        case .makeDirectory:
            makeDirectory(key)
        case .uploadMarker:
            objects[key] = Stored(content: Content(id: 0, size: 0), etag: tag(fresh()))
            record(key, Content(id: 0, size: 0), objects[key]?.etag ?? tag(0), nil)
        case .deleteLocal: shell.deletions.append((key, true, item.entry))
        case .deleteRemote: shell.deletions.append((key, false, item.entry))
        case .forget: rows[key] = nil
        case .downloadAfterDeletions:
            shell.postponed.append(item)
            return
        }
        shell.result.didSomething = true
    }

    private mutating func settle(
        _ resolution: ConflictResolution,
        _ item: PlannedItem,
        _ shell: inout Shell
    ) {
        let key = item.entry.key
        switch resolution {
        case .downloadKeepingLocal:
            let name = ObjectKey(key.bytes + Array(".conflict-\(fresh())".utf8))
            shell.result.copiesKept += 1
            files[name] = files[key]
            files[key] = nil
            download(key, &shell)
        case .download: download(key, &shell)
        case .upload: upload(key, shell)
        case .deleteLocal: shell.deletions.append((key, true, item.entry))
        case .deleteRemote: shell.deletions.append((key, false, item.entry))
        case .leaveBoth, .stopRun: break
        }
    }

    private func isSame(_ comparison: Comparison, _ entry: JoinedEntry) -> Bool {
        let key = entry.key
        return switch comparison {
        case .fileWithRow(let recorded): files[key]?.content.crc64 == recorded
        case .fileWithObject: files[key]?.content == objects[key]?.content
        case .objectWithRow(let recorded): objects[key]?.content.crc64 == recorded
        }
    }

    private mutating func makeDirectory(_ key: ObjectKey) {
        checkRoom(key)
        directories.insert(key)
        record(key, Content(id: 0, size: 0), objects[key]?.etag ?? tag(0), nil)
    }

    /// Whatever is in the way is a mistake of the plan.
    private mutating func checkRoom(_ key: ObjectKey) {
        for ancestor in Self.ancestors(of: key) + (key.isDirectoryMarker ? [key] : []) {
            let name = Self.asFile(ancestor)
            if files[name] != nil { violations.append("\(name): a file is in the way of \(key)") }
        }
        if !key.isDirectoryMarker, !canHold(key) {
            violations.append("\(key): a directory is in the way")
        }
    }

    private mutating func download(_ key: ObjectKey, _ shell: inout Shell) {
        guard let stored = objects[key] else {
            violations.append("\(key): downloaded, but the remote has it not")
            return
        }
        if stored.storageClass.isArchived { violations.append("\(key): archived, but downloaded") }
        if shell.policy.direction == .push { violations.append("\(key): downloaded by a push") }
        checkRoom(key)
        let file = newFile(stored.content)
        files[key] = file
        record(key, stored.content, stored.etag, file)
    }

    private mutating func upload(_ key: ObjectKey, _ shell: Shell) {
        guard let file = files[key] else {
            violations.append("\(key): uploaded, but the directory has it not")
            return
        }
        if shell.policy.direction == .pull { violations.append("\(key): uploaded by a pull") }
        let etag = tag(fresh())
        objects[key] = Stored(content: file.content, etag: etag)
        record(key, file.content, etag, file)
    }

    private mutating func adopt(_ key: ObjectKey) {
        guard let stored = objects[key] else {
            violations.append("\(key): adopted without an object")
            return
        }
        if !key.isDirectoryMarker, files[key]?.content != stored.content {
            violations.append("\(key): adopted with different content")
        }
        record(key, stored.content, stored.etag, files[key])
    }

    private mutating func refresh(_ key: ObjectKey) {
        guard let row = rows[key], let file = files[key] else { return }
        // A row without a checksum was compared with the object.
        let recorded = row.size == 0 ? CRC64() : row.crc64 ?? objects[key]?.content.crc64
        if file.content.crc64 != recorded {
            violations.append("\(key): refreshed with different content")
        }
        record(key, file.content, row.etag, file)
    }

    private mutating func finish(_ shell: inout Shell) {
        for deletion in shell.deletions.reversed() {
            if deletion.isLocal {
                deleteLocal(deletion.key)
            } else {
                objects[deletion.key] = nil
                rows[deletion.key] = nil
            }
        }
        for item in shell.postponed {
            let key = item.entry.key
            if canHold(key) {
                if key.isDirectoryMarker { makeDirectory(key) } else { download(key, &shell) }
                shell.result.didSomething = true
            } else {
                shell.result.leftAlone.insert(key)
            }
        }
    }

    private mutating func deleteLocal(_ key: ObjectKey) {
        if key.isDirectoryMarker {
            rows[key] = nil
            guard !impliedDirectories.contains(key) else { return }
            directories.remove(key)
        } else {
            files[key] = nil
            rows[key] = nil
        }
        // Whatever this leaves empty goes too, unless a marker stands for it.
        for ancestor in Self.ancestors(of: key).reversed() {
            if rows[ancestor] != nil {
                directories.insert(ancestor)
            } else if !impliedDirectories.contains(ancestor) {
                directories.remove(ancestor)
            }
        }
    }
}
