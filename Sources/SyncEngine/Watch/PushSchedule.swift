/// Decides when a watch pushes what: a value without a clock, given what happened and when.
///
/// A path is due when it was quiet for a while, or has changed for so long that waiting would mean
/// never. All that is due together is one round. Of what cannot be told in a few paths, the
/// directories above are, and in the end everything: memory does not grow with the changes.
struct PushSchedule: Sendable {
    /// More paths than this are told by their directories.
    static let maximumPaths = 1_000
    /// How often the settling time a path that is never quiet waits.
    private static let patience = 12
    /// With what is due comes what would be after this part of the settling time.
    private static let slack = 5
    private static let shortestPause = Duration.seconds(5)
    private static let never = Duration.seconds(Int64.max)
    private static let doublings = 20

    private struct Waiting: Sendable {
        var due: Duration
        /// Changes do not put it off beyond this.
        var latest: Duration
        /// How many rounds with this path did not complete.
        var attempts: Int
    }

    /// What to push.
    enum Work: Sendable, Hashable {
        case everything(WatchReason)
        /// In order.
        case paths([[UInt8]])
    }

    enum Next: Sendable, Hashable {
        case push(Work)
        case wait(until: Duration)
    }

    private let settling: Duration
    private var interval: Duration
    private var paths: [[UInt8]: Waiting] = [:]
    private var everything: (due: Duration, reason: WatchReason)
    /// How many rounds of everything did not complete, without one between them that did.
    private var attempts = 0
    /// How many rounds did nothing, for a reason that concerns all.
    private var failures = 0
    /// Nothing is pushed before.
    private var heldUntil = Duration.zero
    /// When the work that is due first was, as far as it was said.
    private var waitsUntil = Self.never
    /// What the round under way has, with the number of attempts before.
    private var current: [[UInt8]: Int] = [:]

    /// Everything is due at first: also what changed while nothing watched.
    init(settling: Duration, now: Duration) {
        self.settling = settling
        interval = settling
        everything = (now, .start)
    }

    /// How much time passes between two rounds of everything.
    mutating func setInterval(_ interval: Duration) { self.interval = interval }

    /// Something at or beneath the path changed; true if it is due before all that was waited for.
    mutating func note(_ path: [UInt8], at now: Duration) -> Bool {
        var path = path[...]
        // A directory that waits has it already.
        for end in path.indices.reversed() where path[end] == UInt8(ascii: "/") {
            if paths[[UInt8](path[..<end])] != nil { path = path[..<end] }
        }
        let known = paths[[UInt8](path)]
        let latest = min(known?.latest ?? .seconds(Int64.max), now + settling * Self.patience)
        let due = min(now + settling, latest)
        paths[[UInt8](path)] = Waiting(
            due: due,
            latest: latest,
            attempts: known?.attempts ?? 0
        )
        if paths.count > Self.maximumPaths { shorten(at: now) }
        let time = max(due, heldUntil)
        guard time < waitsUntil else { return false }
        waitsUntil = time
        return true
    }

    /// There are changes that are not known by their paths.
    mutating func noteLoss(_ reason: WatchReason, at now: Duration) {
        guard now + settling < everything.due else { return }
        everything = (now + settling, reason)
    }

    /// Adds what waits for a path to what waits for the directory that stands for it.
    private mutating func merge(_ waiting: Waiting, into path: [UInt8]) {
        guard let known = paths[path] else {
            paths[path] = waiting
            return
        }
        let latest = min(waiting.latest, known.latest)
        paths[path] = Waiting(
            due: min(max(waiting.due, known.due), latest),
            latest: latest,
            attempts: max(waiting.attempts, known.attempts)
        )
    }

    /// Replaces the deepest paths by their directories until half the room is free.
    private mutating func shorten(at now: Duration) {
        func depth(_ path: [UInt8]) -> Int { path.count { $0 == UInt8(ascii: "/") } }
        while paths.count > Self.maximumPaths / 2 {
            let deepest = paths.keys.map(depth).max() ?? 0
            guard deepest > 0 else {
                paths = [:]
                return noteLoss(.changes, at: now)
            }
            for (path, waiting) in paths where depth(path) == deepest {
                let end = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
                paths[path] = nil
                merge(waiting, into: [UInt8](path[..<end]))
            }
        }
    }

    /// What to do now.
    ///
    /// Work that is returned is under way until ``finish(_:began:at:)``.
    mutating func next(at now: Duration) -> Next {
        let next = due(at: now)
        if case .wait(let until) = next { waitsUntil = until }
        return next
    }

    private mutating func due(at now: Duration) -> Next {
        guard heldUntil <= now else { return .wait(until: heldUntil) }
        if everything.due <= now {
            paths = [:]
            let reason = everything.reason
            // Its end says when the next one is; what is lost before is due before.
            everything = (Self.never, .interval)
            return .push(.everything(reason))
        }
        let first = paths.values.map(\.due).min() ?? everything.due
        guard first <= now else { return .wait(until: min(first, everything.due)) }
        // What changed together is pushed together.
        let due = paths.filter { $0.value.due <= now + settling / Self.slack }
        for path in due.keys { paths[path] = nil }
        current = due.mapValues(\.attempts)
        return .push(.paths(due.keys.sorted { $0.lexicographicallyPrecedes($1) }))
    }

    /// True if paths wait that the round under way does not have.
    var isWaiting: Bool { !paths.isEmpty }

    /// Notes how a round ended, and returns when the rest of it is tried again; nil if there is
    /// none.
    mutating func finish(
        _ work: Work,
        _ outcome: WatchOutcome,
        began: Duration,
        at now: Duration
    ) -> Duration? {
        defer { current = [:] }
        failures = outcome == .unavailable ? failures + 1 : 0
        if case .everything(let reason) = work {
            attempts = outcome == .complete ? 0 : attempts + 1
            let isDone = outcome == .complete
            let due = now + (isDone ? interval : pause(attempts, began: began, now))
            // A loss meanwhile may make it due before.
            if everything.reason == .interval || due < everything.due {
                everything = (due, isDone ? .interval : reason)
            }
            if outcome == .unavailable { heldUntil = due }
            return isDone ? nil : due
        }
        switch outcome {
        case .complete: return nil
        case .refused:
            everything = (now, .refused)
            return nil
        case .unavailable:
            heldUntil = now + pause(failures, began: began, now)
            retry(at: heldUntil, attempts: 0)
            return heldUntil
        case .incomplete:
            let attempts = (current.values.max() ?? 0) + 1
            let due = now + pause(attempts, began: began, now)
            retry(at: due, attempts: attempts)
            return due
        }
    }

    /// Lets the round's paths wait again; those that changed meanwhile do already.
    private mutating func retry(at due: Duration, attempts: Int) {
        for (path, before) in current {
            let attempts = max(attempts, before)
            let waiting = Waiting(due: due, latest: due, attempts: attempts)
            paths[path, default: waiting].attempts = attempts
        }
    }

    /// Grows with each attempt; no shorter than the round, so that a large one does not fill all
    /// the time.
    private func pause(_ attempt: Int, began: Duration, _ now: Duration) -> Duration {
        let grown = Self.shortestPause * (1 << min(attempt - 1, Self.doublings))
        return max(Self.shortestPause, min(max(grown, now - began), interval))
    }
}
