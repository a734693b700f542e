internal import CSystem
internal import CVirtualFiles
internal import Glibc
internal import ObjectStorage
internal import SyncEngine
internal import SyncModel

/// What is looked at from outside while a run goes on, and after the last one.
extension World {
    // MARK: - One run at a time

    /// While a run asks for anything, nobody else could begin one.
    func judgeLock(_ run: RunState) {
        guard !run.isLooking, run.failure == nil, run.summary == nil, !run.isFinished
        else { return }
        let path = [UInt8]((disk.stateDirectory + "/lock").utf8)
        let isFree = disk.unseen {
            let descriptor = unsafe DiskEdits.withPath(path) { unsafe open($0, O_RDWR) }
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return flock(descriptor, LOCK_EX | LOCK_NB) == 0
        }
        if isFree { report(.singleWriter, "another run could begin while this one goes on") }
    }

    // MARK: - Secrets

    /// The secret signs requests and stands in none.
    func judgeSecrets(in request: HTTPRequest) {
        let texts = [request.url] + request.headers.map(\.value) + request.headers.map(\.name)
        for text in texts where text.utf8.count >= Self.canarySecret.utf8.count {
            if text.contains(Self.canarySecret) { report(.safeOutput, "a request has the secret") }
        }
    }

    /// No file that a run leaves has the secret, and no name.
    func judgeSecretsOnDisk() {
        disk.unseen { judgeSecrets(below: [UInt8](disk.stateDirectory.utf8)) }
    }

    private func judgeSecrets(below directory: [UInt8]) {
        let secret = [UInt8](Self.canarySecret.utf8)
        for name in DiskTree.names(in: directory) {
            let path = directory + [UInt8(ascii: "/")] + name
            let isDirectory = DiskTree.status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
            if isDirectory {
                judgeSecrets(below: path)
            } else if Self.contains(DiskEdits.read(path) ?? [], secret)
                || Self.contains(name, secret)
            {
                report(.safeOutput, "'\(displayText(path))' has the secret")
            }
        }
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        var rest = bytes[...]
        while let start = rest.firstIndex(of: part[0]) {
            if rest[start...].starts(with: part) { return true }
            rest = rest[(start + 1)...]
        }
        return false
    }

    // MARK: - What need not be moved

    /// The keys whose file and object are equal when a run begins: nothing of them may move, also
    /// where an earlier run was killed or lost its power before it could record them.
    ///
    /// Only OSS tells of every object what is in it.
    func equalKeys(_ run: RunState) -> [ObjectKey: Int] {
        guard service.isOSS, !setup.has(.emptyHeads), run.options.faults.isEmpty,
            run.options.meanwhile.isEmpty
        else {
            return [:]
        }
        var keys: [ObjectKey: Int] = [:]
        for (key, object) in service.bucket.objects where object.target == nil {
            guard let path = Self.relative(key), !object.bytes.isEmpty,
                let content = model.contents.identify(object.bytes),
                tree.entries[path] == .file(content)
            else { continue }
            keys[key] = object.serial
        }
        return keys
    }

    func judgeNeed(of call: ServiceCall) {
        // What is encrypted tells its nonce and whose it is before anything is compared.
        if setup.isEncrypted == true, call.operation == .get { return }
        guard let run, run.equalAtStart[call.key] != nil,
            service.bucket.objects[call.key]?.serial == run.equalAtStart[call.key],
            model.tree[Self.relative(call.key) ?? call.key] == run.treeAtStart[call.key]
        else { return }
        run.equalAtStart[call.key] = nil
        report(
            .boundedWaste,
            "\(call.operation.rawValue) of '\(call.key.display)', whose file was equal already"
        )
    }

    /// Every read names the version that it wants.
    func judgeCondition(of call: ServiceCall) {
        guard call.operation == .get, call.headers["if-match"] == nil else { return }
        // One byte proves that an object is not empty, whatever its version is.
        let first = setup.isEncrypted == true ? SealedFormat.storedSize(of: 65_536) : 1
        if call.headers["range"] == "bytes=0-\(first - 1)" { return }
        report(.oldOrNew, "a read of '\(call.key.display)' takes any version")
    }

    // MARK: - Status

    func endingWork(_ report: StatusReport) -> PlannedWork {
        switch history.ending {
        case .pull: report.pull
        case .push: report.push
        case .sync: report.sync
        }
    }

    /// Looks, and returns what it was told; nil if it could not be told.
    func lookAtStatus() -> StatusReport? {
        var options = quietOptions(isForced: false)
        options.isDryRun = true
        carryOut(options, isStatus: true)
        return lastRun?.report
    }

    /// What a status says of two sides that the last run left equal.
    func judgeStatusAtEnd(_ last: RunState) {
        guard last.summary?.isInStep == true, last.summary?.deletionsHeldBack == nil,
            let report = lookAtStatus()
        else { return }
        let work = endingWork(report)
        if work.transfers + work.deletions + work.conflicts > 0 {
            self.report(.truthfulSummary, "all is in step, and a status says \(work)")
        }
    }
}
