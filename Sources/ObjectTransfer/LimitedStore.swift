package import ObjectStorage

/// A store that makes every request wait in one line for a connection.
///
/// A request keeps its place until the store has answered or thrown: for a download until its sink
/// has the last byte, and over all repetitions. No caller holds a place between two requests, so a
/// request never waits for one that is behind it in the line.
package struct LimitedStore: ObjectStore {
    private let store: any ObjectReader
    private let limiter: ConnectionLimiter
    private let budget: TransferBudget?
    private let mayChange: (@Sendable () async -> Bool)?
    /// What fails again and again.
    package let failures: FailureStreaks

    /// `mayChange` is asked before each attempt of a request that makes, replaces or deletes an
    /// object; one that may not be made is cancelled.
    package init(
        _ store: any ObjectReader,
        _ limiter: ConnectionLimiter,
        _ budget: TransferBudget? = nil,
        failures: FailureStreaks = FailureStreaks(),
        mayChange: (@Sendable () async -> Bool)? = nil
    ) {
        self.store = store
        self.limiter = limiter
        self.budget = budget
        self.mayChange = mayChange
        self.failures = failures
    }

    package var dialect: StorageDialect { store.dialect }
    package var cipher: ContentCipher? { store.cipher }
    package var refusesSealed: Bool { store.refusesSealed }

    package func read<Answer>(
        _ call: StoreCall<any ObjectReader, Answer>
    ) async throws(StorageError) -> Answer {
        try await limited(call) { () throws(StorageError) in try await call.body(store) }
    }

    package func write<Answer>(
        _ call: StoreCall<StorageClient, Answer>
    ) async throws(StorageError) -> Answer {
        let store = try store.writable(for: call)
        return try await limited(call) { () throws(StorageError) in try await store.write(call) }
    }

    /// Waits in the line, sends the request and leaves.
    private func limited<Target, Answer>(
        _ call: StoreCall<Target, Answer>,
        _ request: () async throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        func cancelled() -> StorageError {
            StorageError(kind: .cancelled, operation: call.operation, key: call.key)
        }
        // Without a place: what is under way may need one to end. Listings belong to no item.
        let budget = call.key == nil ? nil : budget
        if let budget, await !budget.begin(call.bytes) { throw cancelled() }
        defer { budget?.end() }
        do {
            try await limiter.acquire(bytes: call.bytes)
        } catch {
            throw cancelled()
        }
        let answer: Answer
        do throws(StorageError) {
            if call.changes, let mayChange {
                let permission = RequestPermission(else: cancelled(), mayChange)
                let result = await RequestPermission.$current.withValue(permission) {
                    await Self.result(request)
                }
                answer = try result.get()
            } else {
                answer = try await request()
            }
        } catch {
            limiter.release(bytes: call.bytes, isSuccess: false)
            throw error
        }
        limiter.release(bytes: call.bytes, isSuccess: true)
        if call.isSuccess(answer) { failures.succeeded(call.operation) }
        return answer
    }

    private static func result<Value: Sendable>(
        _ request: () async throws(StorageError) -> Value
    ) async -> Result<Value, StorageError> {
        do throws(StorageError) {
            return .success(try await request())
        } catch {
            return .failure(error)
        }
    }
}
