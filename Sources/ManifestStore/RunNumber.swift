/// The number of the last run that changed an entry, as the manifest and the directory's marker
/// both have it.
///
/// The one that is behind was restored from a backup or rolled back. A run has an odd number while
/// it goes on and the even one after it once it has ended: a copy made meanwhile is behind, too.
package struct RunNumber: Sendable, Hashable {
    private static let limit: Int64 = 1 << 62

    /// Nil if the manifest has never written one.
    package let current: Int64?
    /// What a run that was cut off was about to write; nil if none was.
    package let pending: Int64?

    /// True if the marker with this number belongs to this state of the manifest.
    package func accepts(_ marked: Int64?) -> Bool {
        guard current != nil || pending != nil else { return true }
        guard let marked else { return false }
        return marked == current || marked == pending
    }

    /// True if the last run that changed an entry was cut off.
    var isOpen: Bool { (current ?? 0) % 2 != 0 }

    /// An odd number that neither the manifest nor the marker has had.
    package func next(after marked: Int64?) -> Int64 {
        min(max(current ?? 0, pending ?? 0, marked ?? 0), Self.limit) + 1 | 1
    }
}

/// Gives a run its number before its first change of an entry.
enum RunNumbering: Sendable {
    typealias Mark = @Sendable (Int64) throws(ManifestError) -> Void

    /// No marker is kept, or this run has ended.
    case none
    case waiting(next: Int64, Mark)
    /// The marker has the number, and the manifest is to learn that it is the current one.
    case marked(Int64, Mark)
    /// This run has its number.
    case settled(Int64, Mark)

    /// Once the manifest has the number.
    var settled: RunNumbering {
        if case .marked(let number, let mark) = self { .settled(number, mark) } else { self }
    }
}
