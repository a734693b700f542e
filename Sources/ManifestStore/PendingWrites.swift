internal import SyncModel
internal import Synchronization

/// One step of a call that writes, made of a change before its transaction begins.
enum WriteStep: Sendable {
    /// Writes a row, in place of an earlier one.
    case upsert(Table, [SQLValue])
    case run(Query, [SQLValue])
    case addItems([RunItem], RunID)
    /// What depends on the rows that there are by then.
    case perform(@Sendable (Connection) throws(ManifestError) -> Void)

    static func upsert(_ row: some Row) throws(ManifestError) -> WriteStep {
        .upsert(type(of: row).table, try row.values)
    }
}

extension [WriteStep] {
    /// Entries of `smallestSearchable` bytes and more are found by what they contain.
    ///
    /// - Throws: ``ManifestError/invalidValue(_:)`` for what cannot be recorded.
    mutating func append(
        _ change: ManifestChange,
        smallestSearchable: Int64
    ) throws(ManifestError) {
        switch change {
        case .upsert(let entry):
            let values = try entry.allValues(smallestSearchable: smallestSearchable)
            append(.upsert(.entry, values))
        case .forget(let key): append(.run(.deleteEntry, [.blob(key.bytes)]))
        case .keepParts(let parts): append(try .upsert(parts))
        case .beginDownload(let download): try append(beginning: download)
        case .saveRange(let key, let range, let name): try append(range, of: key, name)
        case .sealDownload(let key, let seal, let name): try append(seal, of: key, name)
        case .finishDownload(let key): append(.run(.deleteDownload, [.blob(key.bytes)]))
        case .beginUpload(let upload): try append(beginning: upload)
        case .setUploadID(let key, let uploadID, let token):
            append(uploadID, of: key, token: token)
        case .savePart(let key, let part, let uploadID): try append(part, of: key, uploadID)
        case .finishUpload(let key): append(.run(.deleteUpload, [.blob(key.bytes)]))
        case .note(let content): append(try .upsert(content))
        case .planDeletion(let deletion, let run): append(try .planDeletion(deletion, run))
        case .addItems(let items, let run): append(.addItems(items, run))
        }
    }
}

/// A call that waits for its transaction, or has been through it.
final class PendingCall: Sendable {
    let steps: [WriteStep]
    private let outcome = Mutex<Result<Void, ManifestError>?>(nil)

    init(_ steps: [WriteStep]) { self.steps = steps }

    func finish(_ result: Result<Void, ManifestError>) {
        outcome.withLock { $0 = result }
    }

    /// Nil while it waits.
    var result: Result<Void, ManifestError>? { outcome.withLock { $0 } }

    var changesEntries: Bool {
        steps.contains { step in
            switch step {
            case .upsert(.entry, _), .run(.deleteEntry, _): true
            default: false
            }
        }
    }
}

/// The calls that wait for the next transaction, in the order in which they came.
final class PendingWrites: Sendable {
    private let waiting = Mutex<[PendingCall]>([])

    var count: Int { waiting.withLock { $0.count } }

    func append(_ call: PendingCall) {
        waiting.withLock { $0.append(call) }
    }

    /// Takes the oldest calls: one, and those after it that fit into `rowLimit` rows with it.
    func take(rowLimit: Int) -> [PendingCall] {
        waiting.withLock { waiting in
            var rows = 0
            var count = 0
            for call in waiting {
                rows += call.steps.count
                guard count == 0 || rows <= rowLimit else { break }
                count += 1
            }
            let taken = Array(waiting.prefix(count))
            waiting.removeFirst(count)
            return taken
        }
    }
}
