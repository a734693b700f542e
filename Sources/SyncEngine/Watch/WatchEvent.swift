package import SyncModel

/// How a directory is watched.
package struct WatchOptions: Sendable, Hashable {
    /// How long a path must be quiet before it is pushed.
    package var settling: Duration
    /// The time between two pushes of everything; nil: an hour, or 5 minutes where changes are not
    /// reported.
    package var interval: Duration?
    /// What the pushes skip, in addition to the mirror's own rules.
    package var filter: FileFilter
    /// True if the pushes delete: what a removed directory had is then compared with all the rest.
    package var deletesKnown: Bool
    /// What the pushes do with keys that fit no file name; they skip them unless set.
    package var names = NamePolicy.skip

    /// Creates the options; all are required.
    package init(
        settling: Duration,
        interval: Duration?,
        filter: FileFilter,
        deletesKnown: Bool
    ) {
        self.settling = settling
        self.interval = interval
        self.filter = filter
        self.deletesKnown = deletesKnown
    }
}

/// Why everything is pushed, and not only what changed.
package enum WatchReason: String, Sendable, Hashable {
    /// The watch begins.
    case start
    /// It is time again.
    case interval
    /// Changes were lost.
    case overflow
    /// An ignore file changed.
    case rules
    /// The directory was moved, replaced or unmounted, or a directory beneath it was removed.
    case moved
    /// A new directory cannot be watched.
    case obstacle
    /// More changed than single pushes are worth.
    case changes
    /// A push of some paths was refused, which one of everything may not be.
    case refused
}

/// One push of a watch.
package struct WatchRound: Sendable, Hashable {
    /// What the push is limited to; empty for everything.
    package var paths: [String]
    /// Why everything is pushed; nil with paths.
    package var reason: WatchReason?
    /// False while other paths wait: what is gone here may be among them under another name, and
    /// the next push of everything deletes its object.
    package var deletes = true
}

/// How the push of one round ended.
package enum WatchOutcome: Sendable, Hashable {
    /// All is done.
    case complete
    /// Some items failed: they are tried again later, and other changes need not wait for them.
    case incomplete
    /// Nothing could be done at the moment.
    case unavailable
    /// The push cannot be limited to these paths; everything is pushed next.
    case refused
}

/// What a watch reports beside its pushes.
package enum WatchEvent: Sendable, Hashable {
    /// This many directories are watched from now on.
    case watching(directories: Int)
    /// Everything is pushed this often, because not all changes are reported.
    case polling(cause: String, interval: Duration)
    /// A push begins.
    case round(WatchRound)
    /// What the last push left is tried again after this time.
    case waiting(Duration)
}
