extension ManifestStore {
    /// Makes all of `changes` or none: hands in one call and returns when its transaction is
    /// committed.
    ///
    /// - Throws: ``ManifestError/checkpointGone(_:)`` for progress of a download or an upload that
    ///   the key has no longer: what comes late of one version must not count for the next.
    package nonisolated func record(_ changes: [ManifestChange]) async throws(ManifestError) {
        guard !changes.isEmpty else { return }
        var steps: [WriteStep] = []
        steps.reserveCapacity(changes.count)
        for change in changes {
            try steps.append(change, smallestSearchable: smallestSearchable)
        }
        let call = PendingCall(steps)
        pending.append(call)
        while true {
            // Another call may have taken this one into its own transaction already.
            if let result = call.result { return try result.get() }
            await commitPending()
        }
    }

    package nonisolated func record(_ change: ManifestChange) async throws(ManifestError) {
        try await record([change])
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
            for step in call.steps { try connection.apply(step) }
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
    fileprivate func apply(_ step: WriteStep) throws(ManifestError) {
        switch step {
        case .upsert(let table, let values): try upsert(values, into: table)
        case .run(let query, let values): try run(query, values)
        case .perform(let body): try body(self)
        }
    }
}
