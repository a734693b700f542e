internal import SyncModel

/// What is not linked, because its name is most likely mistyped.
extension DirectoryMirror {
    /// Why an empty directory is not linked with a prefix that holds something.
    var nothingHere: SyncError {
        SyncError(
            code: .notFound,
            message: "'\(displayText(directory))' is empty and '\(remote.display)' is not; nothing "
                + "was linked. Check that its disk is mounted; 'osssync pull' downloads what is "
                + "there, and 'osssync init' links with a directory that is empty on purpose"
        )
    }

    /// Why nothing is linked with a prefix that holds nothing.
    func nothingThere(_ client: BucketClient) async -> SyncError {
        if let refusal = await objectInsteadOfPrefix(client) { return refusal }
        return SyncError(
            code: .notFound,
            message: "there is nothing below '\(remote.display)'; nothing was linked. Check its "
                + "name; 'osssync init' links with a prefix that is empty on purpose"
        )
    }

    /// Refuses a remote that is an object, with nothing below its name.
    ///
    /// - Throws: `SyncError` of code `notFound`, or why that could not be found out.
    public func requirePrefix() async throws(SyncError) {
        let client = try bucketClient()
        guard !remote.prefix.isEmpty, try await !client.hasObjects(beneath: remote.prefix),
            let refusal = await objectInsteadOfPrefix(client)
        else { return }
        throw refusal
    }

    private func objectInsteadOfPrefix(_ client: BucketClient) async -> SyncError? {
        guard !remote.prefix.isEmpty, await client.isObject(remote.prefixKey.bytes.dropLast())
        else { return nil }
        var object = remote.display[...]
        if object.last == "/" { object = object.dropLast() }
        return SyncError(
            code: .notFound,
            message: "'\(object)' is an object, not a prefix; nothing was linked. "
                + "Download it with: osssync get \(object) FILE"
        )
    }
}
