internal import SyncModel
internal import Synchronization

extension StorageClient {
    /// Carries out a write that must find no object, or still the version `replaced`.
    ///
    /// A service that does not support conditions says so once; this client then writes without
    /// them, after a HEAD request if the caller has not checked. Where versioned buckets ignore
    /// them, that request always comes first.
    func conditionally<Value>(
        _ wire: StorageRequest,
        forbidsOverwrite: Bool,
        existenceIsUnknown: Bool,
        replaced: ETag?,
        _ perform: (StorageRequest) async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let conditions = overwriteHeaders(forbidsOverwrite, replaced)
        let mustLook = forbidsOverwrite && existenceIsUnknown
        guard !conditions.isEmpty else {
            if mustLook { try await inspect(wire) }
            return try await perform(wire)
        }
        if mustLook, dialect.versionsIgnoreConditions { try await inspect(wire) }
        var conditional = wire
        conditional.headers += conditions
        do throws(StorageError) {
            return try await perform(conditional)
        } catch {
            guard refusesConditions(error) else { throw error }
            if !ignoresConditions.exchange(true, ordering: .relaxed) {
                environment.observe(.conditionsUnsupported)
            }
            if mustLook { try await inspect(wire) }
            return try await perform(wire)
        }
    }

    /// OSS knows its condition; a gateway in front of it may not, and says so by 501.
    private func refusesConditions(_ error: StorageError) -> Bool {
        switch dialect.conditions {
        case .preconditions: error.isConditionUnsupported
        case .forbidOverwrite: error.isNotImplemented
        }
    }

    /// Fails as the condition would if there is an object where `wire` is to make one.
    ///
    /// - Throws: Also if it cannot be found out whether there is one.
    private func inspect(_ wire: StorageRequest) async throws(StorageError) {
        guard let key = wire.key else { return }
        do throws(StorageError) {
            _ = try await head(key, versionID: nil)
        } catch {
            if error.isNotFound { return }
            throw error
        }
        throw wire.failure(.service(status: 409, code: "ObjectAlreadyExists"))
    }

    /// Lets a write that must find no object, or another one, replace this version of it.
    func allowReplacing(_ etag: ETag, in wire: inout StorageRequest) {
        let names = [dialect.header("forbid-overwrite"), "if-none-match", "if-match"]
        let count = wire.headers.count
        wire.headers.removeAll { names.contains($0.0) }
        if wire.replaced != nil { wire.replaced?.etag = etag }
        guard wire.headers.count < count, dialect.conditions == .preconditions else { return }
        wire.headers.append(("if-match", etag.quoted))
    }

    private func overwriteHeaders(
        _ forbidsOverwrite: Bool,
        _ replaced: ETag?
    ) -> [(String, String)] {
        guard !ignoresConditions.load(ordering: .relaxed) else { return [] }
        switch dialect.conditions {
        case .forbidOverwrite:
            return forbidsOverwrite ? [(dialect.header("forbid-overwrite"), "true")] : []
        case .preconditions:
            if forbidsOverwrite { return [("if-none-match", "*")] }
            return replaced.map { [("if-match", $0.quoted)] } ?? []
        }
    }
}
