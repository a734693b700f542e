package import SyncModel

/// The modification time that the manifest records of a file.
///
/// A change right after the file was read can leave its size and its time as they were, where the
/// file system's clock has not moved on. Such a file is recorded with a time that no file has, so
/// that the next run compares its content: once, because by then its time is old.
package enum RecordedTime {
    /// Of file systems with whole seconds, FAT counts in twos.
    private static let wholeSeconds = Duration.seconds(2)
    /// The clock of other file systems goes by ticks of the kernel, of 10 ms at most.
    private static let ticks = Duration.milliseconds(50)

    /// True if the file may have changed after `start` and kept its size and its times.
    package static func mayHide(
        aChangeOf file: FileIdentity,
        since start: Timestamp,
        now: Timestamp
    ) -> Bool {
        of(file, since: start, now: now) != file.modified
    }

    /// What is recorded at `now` of a file whose content was read or written after `start`, or of
    /// which nothing was read if that is nil.
    ///
    /// `comparesChange` is false where the ctime is not compared, and of a file that osssync has
    /// just published, which says all there is to its ctime.
    package static func of(
        _ file: FileIdentity,
        since start: Timestamp?,
        now: Timestamp,
        comparesChange: Bool = true
    ) -> Timestamp {
        let modified = file.modified
        guard let start else { return modified }
        // The time of the last change is always the file system's own, never one that was set.
        let isCoarse = file.changed.nanoseconds == 0
        // A whole second that was set: no change gets that time from a finer clock.
        guard isCoarse || modified.nanoseconds != 0 else { return modified }
        let granularity = isCoarse ? wholeSeconds : ticks
        // A change gets the time of its moment, and so never one that lies in the future.
        func isRecent(_ time: Timestamp) -> Bool {
            time > start - granularity && time - granularity <= now
        }
        // In whole seconds, a change may keep the ctime, too, and have its old mtime set back.
        let mayKeepChange = isCoarse && comparesChange && isRecent(file.changed)
        return isRecent(modified) || mayKeepChange ? modified - .nanoseconds(1) : modified
    }
}
