/// Runs `body` for each item that `next` yields, at most `limit` at once, and waits for all.
///
/// `next` is asked only when a place is free. When `next` or a body throws, the other bodies are
/// cancelled and awaited, then the first error is thrown. The only place that starts child tasks
/// of unknown number, but for `TransferManager`, whose limit can change meanwhile.
package func forEachBounded<Item: Sendable>(
    limit: Int,
    next: () async throws -> Item?,
    body: @escaping @Sendable (Item) async throws -> Void
) async throws {
    precondition(limit > 0, "there is at least one place")
    try await withThrowingTaskGroup(of: Void.self) { group in
        var active = 0
        while true {
            if active == limit {
                try await group.next()
                active -= 1
            }
            guard let item = try await next() else { break }
            group.addTask { try await body(item) }
            active += 1
        }
        try await group.waitForAll()
    }
}
