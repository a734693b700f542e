internal import SyncModel

extension ManifestStore {
    /// Changes entries and checkpoints: all of `changes` or nothing.
    package nonisolated func record(_ changes: [ManifestChange]) async throws(ManifestError) {
        for case .upsert(let entry) in changes { try EntryRow.check(entry) }
        try await write(changes.map { .change($0) })
    }

    /// Hands in one call and returns when its transaction is committed.
    nonisolated func write(_ writes: [ManifestWrite]) async throws(ManifestError) {
        guard !writes.isEmpty else { return }
        let call = PendingCall(writes)
        pending.append(call)
        while true {
            // Another call may have taken this one into its own transaction already.
            if let result = call.result { return try result.get() }
            await commitPending()
        }
    }

    /// The number of calls that wait for a transaction.
    nonisolated var waitingCallCount: Int { pending.count }

    private func commitPending() {
        let group = pending.take(rowLimit: ManifestLimits.rowsPerTransaction)
        guard !group.isEmpty else { return }
        var results: [Result<Void, ManifestError>] = []
        do throws(ManifestError) {
            let number = group.contains { $0.changesEntries } ? try beginNumber() : nil
            try transaction { connection throws(ManifestError) in
                if let number { try connection.set(currentNumber(number)) }
                for call in group { results.append(try apply(call, to: connection)) }
            }
            if number != nil { numbering = numbering.settled }
        } catch {
            results = group.map { _ in .failure(error) }
        }
        for (call, result) in zip(group, results) { call.finish(result) }
    }

    /// All steps of one call, or none if it is refused; throws what ends the whole transaction.
    private func apply(
        _ call: PendingCall,
        to connection: Connection
    ) throws(ManifestError) -> Result<Void, ManifestError> {
        try connection.run(.beginCall)
        do {
            for write in call.writes {
                try connection.apply(write, smallestSearchable: smallestSearchable)
            }
            try connection.run(.endCall)
            return .success(())
        } catch {
            guard error.concernsOneCall else { throw error }
            try connection.run(.undoCall)
            try connection.run(.endCall)
            return .failure(error)
        }
    }
}

extension Connection {
    fileprivate func apply(
        _ write: ManifestWrite,
        smallestSearchable: Int64
    ) throws(ManifestError) {
        switch write {
        case .change(.upsert(let entry)):
            let values = EntryRow.values(of: entry, smallestSearchable: smallestSearchable)
            try run(.upsertEntry, values)
        case .change(.forget(let key)): try run(.deleteEntry, [.blob(key.bytes)])
        case .change(.finishDownload(let key)): try run(.deleteDownload, [.blob(key.bytes)])
        case .change(.finishUpload(let key)): try run(.deleteUpload, [.blob(key.bytes)])
        case .beginDownload(let checkpoint): try begin(checkpoint)
        case .saveRange(let key, let range, let name): try save(range, of: key, partialName: name)
        case .sealDownload(let key, let seal, let name):
            try self.seal(key, seal, partialName: name)
        case .beginUpload(let checkpoint): try begin(checkpoint)
        case .setUploadID(let key, let uploadID, let token):
            try set(uploadID, of: key, token: token)
        case .savePart(let key, let part, let uploadID): try save(part, of: key, uploadID: uploadID)
        case .planDeletion(let deletion, let run):
            try self.run(.upsertDeletion, DeletionRow.values(of: deletion, run: run))
        case .addItem(let item, let run):
            let last = try firstValue(.selectLastItemNumber, [.integer(run.value)])
            var number: Int64 = 1
            if case .integer(let value)? = last { number = value + 1 }
            try self.run(.insertItem, RunItemRow.values(of: item, run: run, number: number))
        }
    }
}
