/// Whether a request that changes an object may still be made, asked right before each attempt.
///
/// Between two attempts may lie minutes, in which another machine took the mirror over.
package struct RequestPermission: Sendable {
    @TaskLocal package static var current: RequestPermission?

    private let isGiven: @Sendable () async -> Bool
    private let refusal: StorageError

    /// - Parameters:
    ///   - refusal: Thrown instead of making an attempt that is not permitted.
    ///   - isGiven: True if it is permitted now.
    package init(else refusal: StorageError, _ isGiven: @escaping @Sendable () async -> Bool) {
        var refusal = refusal
        refusal.reachedServer = false
        self.refusal = refusal
        self.isGiven = isGiven
    }

    func require() async throws(StorageError) {
        guard await isGiven() else { throw refusal }
    }
}
