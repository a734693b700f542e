internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

/// Brings the chosen version of each file back.
struct TrashRestorer: Sendable {
    let directory: MirrorDirectory
    /// The oldest first.
    let runs: [TrashOfRun]
    /// Whose trash takes what is in the way.
    let replacing: String
    /// What may be in the way and is replaced; nil for anything.
    let replaceable: [ObjectKey: FileIdentity]?
    let interruption: Interruption
    let request: RestoreRequest
    let onFile: @Sendable (RestoredFile) -> Void

    func restore(
        _ paths: [RelativePath?],
        to target: RelativePath?
    ) throws(LocalError) -> RestoreReport {
        var report = RestoreReport()
        for path in paths {
            var isFound = false
            let chosen = request.version.chosen(among: runs)
            if request.replacesFiles, request.version == .latest, let path,
                try restoreNewest(path, from: chosen, to: target, &report)
            {
                continue
            }
            for (index, run) in chosen.enumerated() {
                let better = chosen[(index + 1)...]
                try directory.trash.forEachFile(in: run, at: path) { key, file throws(LocalError) in
                    guard !interruption.isRaised else { throw .interrupted }
                    // A name that no mirrored file has was not put there by a run.
                    guard let source = try? RelativePath(path: key) else { return true }
                    if try isWorse(run, than: source) { return true }
                    for other in better where try directory.trash.holds(source, in: other) {
                        return true
                    }
                    let isSettled = request.isSettled(source)
                    if !isSettled, let latest = request.latest,
                        try isLater(source, file, run, than: latest)
                    {
                        leaveOut(source, file, run, &report)
                        return true
                    }
                    isFound = true
                    if isSettled { return true }
                    onFile(try restore(source, file, run, beneath: path, to: target, &report))
                    return true
                }
            }
            if !isFound {
                report.missing.append(path.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ".")
            }
        }
        if !request.isDryRun, request.outside == nil { try directory.disk.synchronize() }
        return report
    }

    /// Restores the newest version of one file that is not what is there; false if the path is no
    /// file in any trash.
    private func restoreNewest(
        _ path: RelativePath,
        from chosen: [TrashOfRun],
        to target: RelativePath?,
        _ report: inout RestoreReport
    ) throws(LocalError) -> Bool {
        guard !request.isSettled(path) else { return true }
        var unchanged: RestoreReport?
        for run in chosen.reversed() where try directory.trash.holds(path, in: run) {
            if try isWorse(run, than: path) { continue }
            guard !interruption.isRaised else { throw .interrupted }
            var one = RestoreReport()
            var said: [RestoredFile] = []
            try directory.trash.forEachFile(in: run, at: path) { key, file throws(LocalError) in
                guard let source = try? RelativePath(path: key) else { return true }
                said.append(
                    try restore(source, file, run, beneath: path, to: target, &one)
                )
                return true
            }
            if one.unchanged > 0 {
                unchanged = one
                continue
            }
            for file in said { onFile(file) }
            report.add(one)
            return true
        }
        if let unchanged { report.add(unchanged) }
        return unchanged != nil
    }

    /// True for a damaged version of what is there.
    private func isWorse(
        _ run: TrashOfRun,
        than path: RelativePath
    ) throws(LocalError) -> Bool {
        guard run.isOfDamage else { return false }
        return try directory.identity(of: path) != .absent
    }

    /// True if the file changed or came after `time`, as far as the disk knows that.
    ///
    /// One that a run downloaded has the time of its object, which is of no use here; what tells
    /// when this version came is when its inode was made. One that is not older than the run that
    /// moved it is a copy that this run made, because no rename led to the trash.
    private func isLater(
        _ source: RelativePath,
        _ file: FileIdentity,
        _ run: TrashOfRun,
        than time: StoreTime
    ) throws(LocalError) -> Bool {
        if file.modified.seconds > time.secondsSince1970 { return true }
        guard let born = try directory.trash.birth(of: source, in: run), let moved = run.time else {
            return false
        }
        return born.seconds > time.secondsSince1970 && born.seconds < moved.seconds
    }

    /// Copies the file to where it goes outside of the directory.
    private func copyOut(
        _ source: RelativePath,
        _ run: TrashOfRun,
        beneath path: RelativePath?,
        _ item: inout RestoredFile
    ) throws(LocalError) {
        do throws(LocalError) {
            let place = try request.checkedOutsidePath(of: source, beneath: path)
            guard let place else { return }
            item.target = place
            item.displayTarget = displayText(place.utf8)
            let isThere = GivenPath.isThere(place)
            guard !isThere || request.replaces else {
                let isSame = try directory.isCopy(
                    source,
                    from: run,
                    at: place,
                    unless: interruption
                )
                item.state = isSame ? .unchanged : .kept
                if !isSame { item.message = RestoredFile.outsideText }
                return
            }
            if !request.isDryRun {
                try directory.copyOut(
                    source,
                    from: run,
                    to: place,
                    in: request.outside(of: source, beneath: path),
                    unless: interruption
                )
            }
            item.state = isThere ? .replaced : .restored
        } catch {
            if case .interrupted = error { throw error }
            if error.isOpenForMore { throw error }
            item.message = TransferError(any: error).message
        }
    }

    private func leaveOut(
        _ source: RelativePath,
        _ file: FileIdentity,
        _ run: TrashOfRun,
        _ report: inout RestoreReport
    ) {
        var item = Self.item(source, file, run, .later)
        item.message = RestoredFile.laterText
        report.add(item)
        onFile(item)
    }

    /// Where the file goes: to `target`, or beneath it.
    static func place(
        of source: RelativePath,
        beneath path: RelativePath?,
        to target: RelativePath?
    ) throws(UnsafeKey) -> RelativePath {
        guard let target else { return source }
        let rest =
            path.map { [UInt8](source.bytes.dropFirst($0.bytes.count)) }
            ?? [UInt8(ascii: "/")] + source.bytes
        return try RelativePath(path: ObjectKey(target.bytes + rest))
    }

    private static func item(
        _ source: RelativePath,
        _ file: FileIdentity,
        _ run: TrashOfRun,
        _ state: RestoredFile.State
    ) -> RestoredFile {
        var item = RestoredFile(
            key: source.text,
            displayKey: source.display,
            target: source.text,
            displayTarget: source.display,
            size: file.size,
            run: run.number,
            state: state
        )
        item.place = .trash
        return item
    }

    private func restore(
        _ source: RelativePath,
        _ file: FileIdentity,
        _ run: TrashOfRun,
        beneath path: RelativePath?,
        to target: RelativePath?,
        _ report: inout RestoreReport
    ) throws(LocalError) -> RestoredFile {
        var item = Self.item(source, file, run, .failed)
        if request.outside != nil {
            try copyOut(source, run, beneath: path, &item)
            report.add(item)
            return item
        }
        let mayReplace =
            request.replacesFiles && source == path
            || replaceable.map { $0[source.key] != nil } ?? true
        do {
            var place = source
            if let target {
                place = try Self.place(of: source, beneath: path, to: target)
                item.target = place.text
                item.displayTarget = place.display
            }
            let outcome =
                request.isDryRun
                ? try directory.restorationOutcome(
                    of: source,
                    from: run,
                    to: place,
                    replaces: mayReplace,
                    replaceable?[source.key],
                    unless: interruption
                )
                : try directory.restore(
                    source,
                    from: run,
                    to: place,
                    replacing: mayReplace ? replacing : nil,
                    replaceable?[source.key],
                    unless: interruption
                )
            switch outcome {
            case .restored(let replaced):
                item.state = replaced ? .replaced : .restored
                if run.isOfDamage { item.message = RestoredFile.damagedText }
            case .alreadyThere: item.state = .unchanged
            case .occupied:
                item.state = .kept
                item.message = request.occupied(inBucket: false)
            }
        } catch LocalError.interrupted {
            throw .interrupted
        } catch let error as LocalError where error.endsRun {
            throw error
        } catch {
            item.message = TransferError(any: error).message
        }
        report.add(item)
        return item
    }
}

extension TrashVersion {
    /// True if of both runs, which may be meant, the first is rather.
    func prefers(
        _ run: TrashOfRun,
        to other: TrashOfRun
    ) -> Bool {
        guard let time = run.time, let otherTime = other.time, !run.isOfDamage else { return false }
        // Several runs may begin within a second.
        let one = (time, run.number ?? .max)
        let another = (otherTime, other.number ?? .max)
        if case .at = self { return one <= another }
        return one >= another
    }

    /// The run that is meant, with the time when it began if that is known; nil for others.
    var run: (number: Int64, time: Timestamp?)? {
        switch self {
        case .run(let number, _): (number, nil)
        case .runOf(let number, let time): (number, time.timestamp)
        case .latest, .lastRun, .at: nil
        }
    }

    /// True if a run of this mirror is meant.
    var isOfRun: Bool {
        switch self {
        case .run, .runOf: true
        case .latest, .lastRun, .at: false
        }
    }

    /// The runs whose trash may be meant, the best last: what it has is in none after it.
    ///
    /// `runs` have the oldest first.
    func chosen(
        among runs: [TrashOfRun]
    ) -> [TrashOfRun] {
        switch self {
        case .latest: runs.filter(\.isOfDamage) + runs.filter { !$0.isOfDamage }
        case .lastRun:
            runs.last { $0.number != nil }.map { last in
                runs.filter { $0.number == last.number && $0.time == last.time }
            } ?? []
        case .run(let number, let began):
            runs.filter { run in
                guard run.number == number else { return false }
                guard let began, let time = run.time else { return true }
                // By the later of two clocks.
                return time.seconds >= began.secondsSince1970
            }
        case .runOf(let number, let began):
            runs.filter { $0.number == number && $0.time?.seconds == began.secondsSince1970 }
        case .at(let time):
            runs.filter { run in
                !run.isOfDamage
                    && run.time.map { $0.seconds >= time.secondsSince1970 } ?? false
            }.reversed()
        }
    }
}
