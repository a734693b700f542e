internal import ManifestStore
internal import SyncModel
internal import Synchronization

/// What a run did that is worth keeping: items that failed, were skipped, deleted or replaced, and,
/// as far as they leave room, what was transferred.
///
/// Gathered here without waiting. The first kind is written in batches; the second at the end,
/// because deletions come last. A run in which everything goes wrong keeps only the first of them:
/// items that are skipped in each run would fill the manifest.
final class RunJournal: Sendable {
    private static let limit = 5_000
    /// Of keys and messages.
    private static let byteLimit = 1 << 20

    private struct State {
        var waiting: [RunItem] = []
        var transfers: [RunItem] = []
        var count = 0
        var bytes = 0
        var transferBytes = 0
    }

    private let state = Mutex(State())

    func add(_ action: ItemAction, _ itemState: ItemState, _ key: ObjectKey, _ message: String?) {
        guard let item = RunItem(action, itemState, key, message) else { return }
        state.withLock { state in
            guard state.count < Self.limit, state.bytes < Self.byteLimit else { return }
            state.count += 1
            state.bytes += item.journalBytes
            state.waiting.append(item)
        }
    }

    /// Adds what was transferred, or made of what was there; with a copy of what it replaced as
    /// what is worth keeping.
    func addTransfer(_ action: ItemAction, _ key: ObjectKey, _ replaced: LostVersion?) {
        if let replaced, replaced.hasCopy { return add(action, .done, key, replaced.rawValue) }
        guard let item = RunItem(action, .done, key, replaced?.rawValue) else { return }
        state.withLock { state in
            guard state.transfers.count < Self.limit, state.transferBytes < Self.byteLimit else {
                return
            }
            state.transferBytes += item.journalBytes
            state.transfers.append(item)
        }
    }

    /// Writes what was gathered, and at the end also what was transferred.
    func flush(
        to manifest: ManifestStore,
        run: RunID,
        isEnd: Bool = false
    ) async throws(ManifestError) {
        let items = state.withLock { state in
            var items = state.waiting
            state.waiting = []
            guard isEnd else { return items }
            for item in state.transfers.prefix(Self.limit - state.count) {
                state.bytes += item.journalBytes
                guard state.bytes < Self.byteLimit else { break }
                items.append(item)
            }
            state.transfers = []
            return items
        }
        if !items.isEmpty { try await manifest.record(.addItems(items, run)) }
    }
}

/// What became of a version that a run deleted or replaced, as the journal stores it in the place
/// of a message.
enum LostVersion: String, Sendable, CaseIterable {
    case file = "file-replaced"
    case fileKept = "file-replaced-kept"
    /// Which no undo brings back.
    case damagedKept = "damaged-file-replaced-kept"
    case object = "object-replaced"
    case objectKept = "object-replaced-kept"
    case deleted = "deleted"

    var hasCopy: Bool { ![.file, .object, .deleted].contains(self) }

    var sentence: String {
        switch self {
        case .file: "replaced the file that was here, without a copy"
        case .fileKept: "replaced the file that was here, and kept it"
        case .damagedKept: "replaced the damaged file that was here, which is in the trash"
        case .object: "replaced the object, without a copy"
        case .objectKept: "replaced the object, and kept a copy"
        case .deleted: "no copy is kept"
        }
    }

    /// Nil for an item that lost nothing.
    init?(_ item: RunItem) {
        guard item.state == ItemState.done.rawValue, let message = item.message else { return nil }
        self.init(rawValue: message)
    }
}

/// The other name of what a run renamed, as the journal stores it in the place of a message: that
/// which a file had, or that which the content of a deleted object has now.
struct OtherName: Sendable, Hashable {
    enum Kind: String, Sendable, CaseIterable {
        case former = "renamed-from "
        case next = "renamed-to "

        var action: ItemAction { self == .former ? .copyLocal : .deleteRemote }
        fileprivate var words: String { self == .former ? "renamed from" : "renamed to" }
    }

    let kind: Kind
    let key: ObjectKey

    init(_ kind: Kind, _ key: ObjectKey) { (self.kind, self.key) = (kind, key) }

    /// Nil for an item that is none.
    init?(_ item: RunItem) {
        guard item.state == ItemState.done.rawValue, let message = item.message,
            let kind = Kind.allCases.first(where: { kind in
                item.action == kind.action.rawValue
                    && message.utf8.starts(with: kind.rawValue.utf8)
            })
        else { return nil }
        self.init(kind, ObjectKey([UInt8](message.utf8.dropFirst(kind.rawValue.utf8.count))))
    }

    var message: String { kind.rawValue + key.text }

    var sentence: String { "\(kind.words) '\(key.display)'" }
}

extension RunItem {
    /// Its message as a person reads it.
    var sentence: String? { LostVersion(self)?.sentence ?? OtherName(self)?.sentence ?? message }
}

extension RunItem {
    fileprivate init?(
        _ action: ItemAction,
        _ state: ItemState,
        _ key: ObjectKey,
        _ message: String?
    ) {
        guard !key.isEmpty else { return nil }
        self.init(key: key, action: action.rawValue, state: state.rawValue, message: message)
    }

    fileprivate var journalBytes: Int { key.bytes.count + (message?.utf8.count ?? 0) }
}
