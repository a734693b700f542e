package import SyncModel

struct DeletionRow: Row {
    static var table: Table { .plannedDeletion }

    let run: Int64
    let deletion: PlannedDeletion

    static func code(_ row: Self?, _ columns: inout RowCoder) throws(ManifestError) -> Self {
        let deletion = row?.deletion
        let run = try columns.count(row?.run, "its run")
        let name = try columns.text(
            deletion?.side.rawValue,
            "its side",
            limit: ManifestLimits.word
        )
        let key = try columns.key(deletion?.key, limit: ManifestLimits.path)
        guard let side = DeletionSide(rawValue: name) else {
            throw columns.failure("its side is '\(displayText(name.utf8))'")
        }
        return DeletionRow(
            run: run,
            deletion: PlannedDeletion(
                key: key,
                side: side,
                size: try columns.count(deletion?.size, "its size"),
                etag: try columns.optionalETag(deletion?.etag),
                identity: try columns.optionalIdentity(deletion?.identity, "its file")
            )
        )
    }
}

extension RowSelection<PlannedDeletion> {
    /// Deletions of one side in ascending key order, after `after`.
    package static func deletions(
        run: RunID,
        side: DeletionSide,
        after: ObjectKey? = nil
    ) -> Self {
        Self(.selectDeletionsFrom, run, side, from: after?.next ?? "", after: { $0.next })
    }

    /// Deletions of one side in descending key order, which is what a directory holds before the
    /// directory itself.
    package static func deletionsBackwards(run: RunID, side: DeletionSide) -> Self {
        Self(.selectDeletionsBefore, run, side, from: .endOfKeys, after: { $0 })
    }

    fileprivate static func deletion(run: RunID, side: DeletionSide, of key: ObjectKey) -> Self {
        Self(.selectDeletion, run, side, from: key, after: { $0.next })
    }

    private init(
        _ query: Query,
        _ run: RunID,
        _ side: DeletionSide,
        from start: ObjectKey,
        after next: @escaping @Sendable (ObjectKey) -> ObjectKey
    ) {
        self.init(
            query,
            [.integer(run.value), .text(side.rawValue)],
            from: .blob(start.bytes),
            after: { .blob(next($0.key).bytes) },
            { connection, query, values throws(ManifestError) in
                let rows: [DeletionRow] = try connection.rows(query, values)
                return rows.map(\.deletion)
            }
        )
    }
}

extension WriteStep {
    static func planDeletion(
        _ deletion: PlannedDeletion,
        _ run: RunID
    ) throws(ManifestError) -> WriteStep {
        try .upsert(DeletionRow(run: run.value, deletion: deletion))
    }
}

extension ManifestStore {
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
        try first(.deletion(run: run, side: side, of: key))
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
}
