internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// What pushes and syncs copied to a mirror's trash in the bucket, by run and key.
///
/// The names of runs begin with their times, so that a listing has the oldest first.
struct TrashedObjects: Sendable {
    /// One copy.
    struct Copy: Sendable {
        let object: RemoteObject
        let run: TrashOfRun
        /// What the object was called, without the remote's prefix.
        let key: ObjectKey
    }

    let store: LimitedStore
    /// That of the mirror.
    let prefix: ObjectKey

    private var place: ObjectKey { ObjectKey(prefix.bytes + RemoteTrash.keys.bytes) }

    /// The runs that left something, the oldest first.
    func runs() async throws -> [TrashOfRun] {
        var runs: [TrashOfRun] = []
        try await forEachPage(ListRequest(prefix: place, delimiter: "/", maximumKeys: 1_000)) {
            page in
            for name in page.commonPrefixes {
                runs.append(
                    .init(name: [UInt8](name.bytes.dropFirst(place.bytes.count).dropLast()))
                )
            }
            return true
        }
        return runs.sorted { $0.precedes($1) }
    }

    /// Hands all copies whose names of run and key begin with `beginning` to `body`, the oldest
    /// run's first, page by page, until that returns false.
    func forEachPage(
        _ beginning: [UInt8],
        _ body: ([Copy]) async throws -> Bool
    ) async throws {
        let start = ObjectKey(place.bytes + beginning)
        try await forEachPage(ListRequest(prefix: start, delimiter: nil, maximumKeys: 1_000)) {
            page in
            try await body(page.objects.compactMap(copy))
        }
    }

    /// The copy of one object that a run made; nil if there is none.
    func copy(of key: ObjectKey, in run: TrashOfRun) async throws -> Copy? {
        let whole = ObjectKey(place.bytes + run.name + [UInt8(ascii: "/")] + key.bytes)
        let page = try await store.list(
            ListRequest(prefix: whole, delimiter: nil, maximumKeys: 1)
        )
        return page.objects.first { $0.key == whole }.flatMap(copy)
    }

    /// Nil for what no run put there.
    private func copy(_ object: RemoteObject) -> Copy? {
        let rest = object.key.bytes.dropFirst(place.bytes.count)
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let run = TrashOfRun(name: [UInt8](rest[..<slash]))
        let key = ObjectKey(rest[slash...].dropFirst())
        let hasMark = run.name.count { $0 == UInt8(ascii: "~") } >= 2
        guard run.number != nil || run.isOfRestoration, hasMark, !key.isEmpty else { return nil }
        return Copy(object: object, run: run, key: key)
    }

    private func forEachPage(
        _ first: ListRequest,
        _ body: (ListPage) async throws -> Bool
    ) async throws {
        var validator = ListingValidator()
        var request = first
        while true {
            let page = try await store.list(request)
            try validator.accept(page, request: request)
            guard try await body(page), let next = page.next else { return }
            request.token = next
        }
    }

    /// Deletes the copies of runs that began before `limit`, of so many pages at most.
    func delete(
        before limit: Timestamp,
        pages: Int,
        of isMeant: (TrashOfRun) -> Bool = { _ in true }
    ) async throws -> TrashReport {
        var report = TrashReport()
        var rest = pages
        try await forEachPage([]) { copies in
            let old = copies.filter { $0.run.time.map { $0 < limit } ?? false }
            let meant = old.filter { isMeant($0.run) }
            if !meant.isEmpty {
                let failures = try await store.delete(meant.map(\.object.key))
                for copy in meant where failures[copy.object.key] == nil {
                    report.add(copy.object.size)
                }
                report.failures += failures.values.map(\.message)
            }
            rest -= 1
            return old.count == copies.count && rest > 0
        }
        return report
    }
}
