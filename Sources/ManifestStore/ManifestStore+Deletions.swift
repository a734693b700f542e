package import SyncModel

extension ManifestStore {
    /// Notes deletions for the end of the run; the same key on the same side replaces itself.
    package nonisolated func planDeletions(
        _ deletions: [PlannedDeletion],
        run: RunID
    ) async throws(ManifestError) {
        for deletion in deletions { try DeletionRow.check(deletion) }
        try await write(deletions.map { .planDeletion($0, run) })
    }

    /// Up to `limit` deletions of one side in ascending key order, after `after`.
    package func plannedDeletions(
        run: RunID,
        side: DeletionSide,
        after: ObjectKey?,
        limit: Int
    ) throws(ManifestError) -> [PlannedDeletion] {
        try deletions(
            .selectDeletionsAfter,
            [
                .integer(run.value), .text(side.rawValue), .blob(after?.bytes ?? []),
                .integer(Int64(limit)),
            ]
        )
    }

    /// Up to `limit` deletions of one side in descending key order, before `before` (nil: from the
    /// last), which is what a directory holds before the directory itself.
    package func plannedDeletions(
        run: RunID,
        side: DeletionSide,
        before: ObjectKey?,
        limit: Int
    ) throws(ManifestError) -> [PlannedDeletion] {
        var values: [SQLValue] = [.integer(run.value), .text(side.rawValue)]
        guard let before else {
            values.append(.integer(Int64(limit)))
            return try deletions(.selectLastDeletions, values)
        }
        values.append(before)
        values.append(.integer(Int64(limit)))
        return try deletions(.selectDeletionsBefore, values)
    }

    package func plannedDeletionCount(run: RunID) throws(ManifestError) -> PlannedDeletionCount {
        try withConnection { connection throws(ManifestError) in
            func count(_ side: DeletionSide) throws(ManifestError) -> Int {
                try connection.count(
                    .countDeletions,
                    [.integer(run.value), .text(side.rawValue)]
                )
            }
            return PlannedDeletionCount(local: try count(.local), remote: try count(.remote))
        }
    }

    /// The planned deletion of a key; nil if there is none.
    package func plannedDeletion(
        run: RunID,
        side: DeletionSide,
        of key: ObjectKey
    ) throws(ManifestError) -> PlannedDeletion? {
        try deletions(
            .selectDeletion,
            [.integer(run.value), .text(side.rawValue), .blob(key.bytes)]
        ).first
    }

    /// Drops what is planned at or beneath each of `names`, which have no "/" at their ends.
    package func dropPlannedDeletions(
        run: RunID,
        atOrBeneath names: [ObjectKey]
    ) throws(ManifestError) {
        let slash = UInt8(ascii: "/")
        try transaction { connection throws(ManifestError) in
            for name in names {
                for side in [DeletionSide.local, .remote] {
                    let run = SQLValue.integer(run.value)
                    let side = SQLValue.text(side.rawValue)
                    try connection.run(.deleteDeletion, [run, side, .blob(name.bytes)])
                    try connection.run(
                        .deleteDeletionsBetween,
                        [run, side, .blob(name.bytes + [slash]), .blob(name.bytes + [slash + 1])]
                    )
                }
            }
        }
    }

    package func clearPlannedDeletions(run: RunID) throws(ManifestError) {
        try transaction { connection throws(ManifestError) in
            try connection.run(.deleteDeletions, [.integer(run.value)])
        }
    }

    /// The last run before `run` that left deletions which it did not come to; nil if none did.
    package func lastPlannedRun(before run: RunID) throws(ManifestError) -> RunID? {
        try withConnection { connection throws(ManifestError) in
            let found = try connection.firstValue(.selectLastPlannedRun, [.integer(run.value)])
            guard case .integer(let value)? = found else { return nil }
            return RunID(value)
        }
    }

    /// Drops what earlier runs than `run` have planned and not done.
    package func dropPlannedDeletions(before run: RunID) throws(ManifestError) {
        try transaction { connection throws(ManifestError) in
            try connection.run(.deleteEarlierDeletions, [.integer(run.value)])
        }
    }

    private func deletions(
        _ query: Query,
        _ values: [SQLValue]
    ) throws(ManifestError) -> [PlannedDeletion] {
        try withConnection { connection throws(ManifestError) in
            var deletions: [PlannedDeletion] = []
            try connection.forEachRow(query, values) { statement throws(ManifestError) in
                deletions.append(try DeletionRow.read(statement))
            }
            return deletions
        }
    }
}
