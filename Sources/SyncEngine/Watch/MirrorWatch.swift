internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// Pushes what changes in a mirrored directory, as it changes.
///
/// 1. Before each push of everything all directories are watched anew (`DirectoryChanges`), so that
///    what changes during the push is known after it.
/// 2. `PushSchedule` collects the changes and decides which are due.
/// 3. A round is an ordinary push, which the caller makes.
///
/// Not guaranteed: that a change is noticed at once. What is not reported is pushed with
/// everything, at the latest after the interval.
package struct MirrorWatch: Sendable {
    private static let ordinaryInterval = Duration.seconds(3_600)
    private static let pollingInterval = Duration.seconds(300)

    private let settings: LocalMirror
    private let options: WatchOptions
    private let onEvent: @Sendable (WatchEvent) -> Void
    private let push: @Sendable (WatchRound) async throws -> WatchOutcome
    private let shared: Shared

    /// What the thread that reads changes shares with the task that pushes.
    private final class Shared: Sendable {
        let schedule: Mutex<PushSchedule>
        let condition = Condition()

        init(_ schedule: PushSchedule) { self.schedule = Mutex(schedule) }
    }

    /// Makes one.
    ///
    /// - Parameters:
    ///   - settings: The directory.
    ///   - options: How it is watched.
    ///   - onEvent: Called with what is done beside the pushes.
    ///   - push: Makes one push, with `RunOptions.paths` and `RunOptions.allowsMissingPaths`.
    package init(
        _ settings: LocalMirror,
        _ options: WatchOptions,
        onEvent: @escaping @Sendable (WatchEvent) -> Void,
        push: @escaping @Sendable (WatchRound) async throws -> WatchOutcome
    ) {
        self.settings = settings
        self.options = options
        self.onEvent = onEvent
        self.push = push
        let now = settings.environment.monotonic()
        shared = Shared(PushSchedule(settling: options.settling, now: now))
    }

    /// Pushes everything, and then what changes, until a push throws or the task is cancelled.
    ///
    /// - Throws: What `push` throws; `TransferError` if the directory cannot be opened, and of code
    ///   `cancelled`.
    package func run() async throws {
        if let directory = try? settings.open(), let cutting = try Cutting.read(in: directory) {
            throw cutting.refusal(for: settings.directory)
        }
        do {
            try await pushAll()
        } catch let error as CancellationError {
            throw TransferError(any: error)
        }
    }

    private func pushAll() async throws {
        let clock = settings.environment.monotonic
        var changes: DirectoryChanges?
        // There is no state before the first push.
        var mark: WatchMark?
        while true {
            if mark == nil { mark = try? settings.open().state.watchMark() }
            try Task.checkCancellation()
            let version = shared.condition.version
            switch shared.schedule.withLock({ $0.next(at: clock()) }) {
            case .wait(let end):
                try await wait(end - clock(), after: version)
            case .push(let work):
                if case .everything = work {
                    let begun = try await begin(after: changes)
                    tell(begun, changes?.obstacle)
                    changes = begun
                }
                let began = clock()
                var round = WatchRound(work)
                round.deletes = round.paths.isEmpty || !shared.schedule.withLock(\.isWaiting)
                onEvent(.round(round))
                let outcome = try await push(round)
                let again = shared.schedule.withLock { schedule in
                    schedule.finish(work, outcome, began: began, at: clock())
                }
                if let again { onEvent(.waiting(max(again - clock(), .zero))) }
            }
        }
    }

    /// Waits for a time, or until a change is noted.
    private func wait(_ time: Duration, after version: Int) async throws {
        let (shared, sleep) = (shared, settings.environment.sleep)
        guard time > .zero else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sleep(time) }
            group.addTask { await shared.condition.wait(after: version) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func tell(_ changes: DirectoryChanges, _ said: DirectoryChanges.Obstacle?) {
        let obstacle = changes.obstacle
        let usual = obstacle == nil ? Self.ordinaryInterval : Self.pollingInterval
        let interval = options.interval ?? usual
        shared.schedule.withLock { $0.setInterval(interval) }
        if changes.count > 0 { onEvent(.watching(directories: changes.count)) }
        if let obstacle, obstacle != said {
            onEvent(.polling(cause: obstacle.message, interval: interval))
        }
    }

    private func begin(after previous: DirectoryChanges?) async throws -> DirectoryChanges {
        let queue = BlockingQueue(
            label: "osssync.watch",
            width: 1,
            threads: settings.environment.threads
        )
        let (settings, options, shared) = (settings, options, shared)
        let clock = settings.environment.monotonic
        return try await queue.run { () throws(TransferError) in
            // There may not be enough watches for both.
            previous?.stop()
            let directory = try settings.open()
            let cursor = FilterCursor(Self.filter(directory, options))
            return DirectoryChanges(
                in: directory,
                rules: .init(
                    shared: IgnoreFile.name,
                    own: LocalRules.fileName,
                    tags: options.filter.tags
                ),
                names: options.names,
                leavingOut: { path, isDirectory in
                    let key = ObjectKey(isDirectory ? path + [UInt8(ascii: "/")] : path)
                    return cursor.classify(key) != .included
                }
            ) { change in
                let isFirst = shared.schedule.withLock { schedule in
                    schedule.note(change, options, at: clock())
                }
                if isFirst { shared.condition.raise() }
            }
        }
    }

    /// What pushes leave out; with rules that cannot be used nothing, and the push says why.
    private static func filter(
        _ directory: MirrorDirectory,
        _ options: WatchOptions
    ) -> FileFilter {
        let texts = [
            try? IgnoreFile.text(in: directory),
            try? directory.sharedState.read(LocalRules.fileName),
        ]
        let own = texts.compactMap { text in text.flatMap { try? FileFilter(ignoreFile: $0) } }
        return own.reduce(FileFilter()) { $0.followed(by: $1) }.followed(by: options.filter)
    }
}

extension WatchRound {
    fileprivate init(_ work: PushSchedule.Work) {
        switch work {
        case .everything(let reason): self.init(paths: [], reason: reason)
        case .paths(let paths):
            self.init(paths: paths.map { String(decoding: $0, as: UTF8.self) }, reason: nil)
        }
    }
}

extension PushSchedule {
    /// True if a task that waits may have to wait less.
    fileprivate mutating func note(
        _ change: DirectoryChanges.Change,
        _ options: WatchOptions,
        at now: Duration
    ) -> Bool {
        switch change {
        case .changed(let path): return note(path, at: now)
        case .removedDirectory(let path) where !options.deletesKnown: return note(path, at: now)
        // The guard against an empty directory would refuse it alone.
        case .removedDirectory: noteLoss(.moved, at: now)
        case .loss(.overflow): noteLoss(.overflow, at: now)
        case .loss(.rules): noteLoss(.rules, at: now)
        case .loss(.moved): noteLoss(.moved, at: now)
        case .loss(.obstacle): noteLoss(.obstacle, at: now)
        }
        return true
    }
}

extension DirectoryChanges.Obstacle {
    /// Why not all changes are reported, and what can be done about it.
    fileprivate var message: String {
        switch self {
        case .limit(let name):
            "the system's limit of watches is reached; raise it with: sysctl \(name)=1048576"
        case .network(let path):
            (path.isEmpty ? "the directory" : "'\(displayText(path))'")
                + " is on a network or FUSE file system, which does not report changes"
        case .unsupported(let error):
            "changes are not reported on this system: \(error.message)"
        }
    }
}
