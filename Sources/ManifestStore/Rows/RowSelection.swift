internal import SyncModel

/// Rows of one kind in an order in which reading can go on after each of them.
package struct RowSelection<Value: Sendable>: Sendable {
    private let query: Query
    /// What comes before the place where a page begins.
    private let values: [SQLValue]
    /// Where a page begins; nil where the statement has no such place.
    private var start: SQLValue?
    /// Where the page after a row begins.
    private let startAfter: @Sendable (Value) -> SQLValue
    private let read: @Sendable (Connection, Query, [SQLValue]) throws(ManifestError) -> [Value]

    init(
        _ query: Query,
        _ values: [SQLValue],
        from start: SQLValue?,
        after startAfter: @escaping @Sendable (Value) -> SQLValue,
        _ read:
            @escaping @Sendable (Connection, Query, [SQLValue]) throws(ManifestError) -> [Value]
    ) {
        self.query = query
        self.values = values
        self.start = start
        self.startAfter = startAfter
        self.read = read
    }

    /// Reads up to `limit` rows.
    func page(_ connection: Connection, limit: Int) throws(ManifestError) -> [Value] {
        var values = values
        if let start { values.append(start) }
        values.append(.integer(Int64(limit)))
        return try read(connection, query, values)
    }

    /// What comes after a row; nil where that cannot be asked for.
    func after(_ row: Value) -> Self? {
        guard start != nil else { return nil }
        var rest = self
        rest.start = startAfter(row)
        return rest
    }
}

extension ObjectKey {
    /// Behind every key.
    static let endOfKeys = ObjectKey([UInt8](repeating: 0xFF, count: 2_048))
}

extension RowSelection {
    /// Rows in the order of their keys, if any, from `start` on.
    init(
        _ query: Query,
        _ values: [SQLValue],
        from start: ObjectKey?,
        key: @escaping @Sendable (Value) -> ObjectKey,
        _ read:
            @escaping @Sendable (Connection, Query, [SQLValue]) throws(ManifestError) -> [Value]
    ) {
        let start = start.map { SQLValue.blob($0.bytes) }
        self.init(query, values, from: start, after: { .blob(key($0).next.bytes) }, read)
    }
}

extension RowSelection where Value: Row {
    /// `complete` adds what other tables have of a row.
    init(
        _ query: Query,
        _ values: [SQLValue] = [],
        from start: ObjectKey? = nil,
        key: @escaping @Sendable (Value) -> ObjectKey,
        _ complete:
            (@Sendable (Connection, inout Value) throws(ManifestError) -> Void)? = nil
    ) {
        self.init(query, values, from: start, key: key) {
            connection,
            query,
            values throws(ManifestError) in
            var rows: [Value] = try connection.rows(query, values)
            if let complete {
                for index in rows.indices { try complete(connection, &rows[index]) }
            }
            return rows
        }
    }
}

/// The pages of a selection, each read when it is asked for: rows may be written and dropped
/// meanwhile.
package struct RowPages<Value: Sendable>: AsyncSequence, AsyncIteratorProtocol {
    private let store: ManifestStore
    private var rest: RowSelection<Value>?
    private let limit: Int

    init(_ store: ManifestStore, _ selection: RowSelection<Value>, limit: Int) {
        self.store = store
        rest = selection
        self.limit = limit
    }

    package func makeAsyncIterator() -> Self { self }

    /// The next rows, one at least; nil if there are no more.
    package mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(ManifestError) -> [Value]? {
        guard let selection = rest else { return nil }
        let page = try await store.rows(selection, limit: limit)
        guard let last = page.last else { return nil }
        rest = selection.after(last)
        return page
    }
}

extension ManifestStore {
    /// Up to `limit` rows, the first ones.
    package func rows<Value>(
        _ selection: RowSelection<Value>,
        limit: Int
    ) throws(ManifestError) -> [Value] {
        try withConnection { connection throws(ManifestError) in
            try selection.page(connection, limit: limit)
        }
    }

    package func first<Value>(_ selection: RowSelection<Value>) throws(ManifestError) -> Value? {
        try rows(selection, limit: 1).first
    }

    /// All rows, up to `limit` at once.
    package nonisolated func pages<Value>(
        _ selection: RowSelection<Value>,
        limit: Int
    ) -> RowPages<Value> {
        RowPages(self, selection, limit: limit)
    }
}
