package import SyncModel
internal import Synchronization

/// Parts of an upload that the store copies from the version which the upload replaces.
///
/// 1. A part of the file that has the content of the recorded part is not sent: the store is asked
///    to copy it from that version, which its tag names.
/// 2. What the store says of the copy must be the MD5 of the file's part. Before the object is made
///    of the parts, a store that knows their CRC-64 is asked for those of the copies, too.
/// 3. Any other part is sent. So are all that follow on some copies in a row that failed.
///
/// Not guaranteed: anything for content that moved within the file, which is sent.
package final class PartCopies: Sendable {
    /// Copies in a row of one file, and then files in a row, that may fail.
    private static let failures = 3

    let source: SentParts
    private let refused: RefusedCopies
    private let made = Mutex<Set<PartNumber>>([])
    private let failed = Atomic(0)
    /// Those of them that say something of the store.
    private let refusals = Atomic(0)

    package init(_ source: SentParts, _ refused: RefusedCopies) {
        self.source = source
        self.refused = refused
    }

    /// False once it is of no use to ask for more.
    var areMade: Bool {
        failed.load(ordering: .relaxed) < Self.failures
            && refused.files.load(ordering: .relaxed) < Self.failures
    }

    /// True for a store that makes no such copies, whatever is asked of it.
    package var areRefused: Bool { refusals.load(ordering: .relaxed) >= Self.failures }

    /// No other part is copied.
    func end() { failed.store(Self.failures, ordering: .relaxed) }

    /// True for the failure that ends the copies; `isRefusal` is false for one that a missing right
    /// or another version explains.
    func countFailure(isRefusal: Bool) -> Bool {
        if isRefusal {
            refusals.add(1, ordering: .relaxed)
        } else {
            refusals.store(0, ordering: .relaxed)
        }
        guard failed.add(1, ordering: .relaxed).newValue == Self.failures else { return false }
        refused.files.add(1, ordering: .relaxed)
        return true
    }

    func countMade(_ number: PartNumber) {
        made.withLock { _ = $0.insert(number) }
        failed.store(0, ordering: .relaxed)
        refusals.store(0, ordering: .relaxed)
        refused.files.store(0, ordering: .relaxed)
    }

    /// The copies that were made since the last call.
    func takeMade() -> Set<PartNumber> {
        made.withLock { made in
            defer { made = [] }
            return made
        }
    }
}

/// How many files one after the other had copies refused in a run.
package final class RefusedCopies: Sendable {
    fileprivate let files = Atomic(0)

    package init() {}
}
