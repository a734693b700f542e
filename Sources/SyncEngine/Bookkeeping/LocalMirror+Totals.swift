internal import ManifestStore
package import ObjectTransfer
internal import SyncModel

extension LocalMirror {
    /// The recorded names that begin with `prefix`, one level of them, and the first `limit`; those
    /// of directories end in "/".
    ///
    /// Takes no lock and changes nothing. Costs one question to the manifest for each name.
    package func recordedNames(
        prefix: String,
        limit: Int
    ) async throws(TransferError) -> [String] {
        let whole = KeyRange(prefix: ObjectKey(prefix))
        return try await inspecting([]) { manifest throws(ManifestError) in
            var names: [String] = []
            var start: ObjectKey? = whole.lower
            while names.count < limit, let lower = start,
                let row = try await manifest.first(
                    .entries(in: KeyRange(from: lower, before: whole.upper))
                )
            {
                let bytes = [UInt8](row.key.bytes)
                let slash = bytes.dropFirst(prefix.utf8.count).firstIndex(of: UInt8(ascii: "/"))
                let name = slash.map { ObjectKey([UInt8](bytes[...$0])) } ?? row.key
                names.append(name.text)
                start = slash == nil ? name.next : KeyRange(prefix: name).upper
            }
            return names
        }
    }

    /// How many files were found damaged; none if there was no run yet, and for a mirror in shards.
    ///
    /// Takes no lock and changes nothing.
    package func damagedFiles() async throws(TransferError) -> Int {
        try await inspecting(0, checksContent: false) { manifest throws(ManifestError) in
            try await manifest.damagedFileCount()
        }
    }

    /// What the mirror has in all; nil if there was no run yet, and for a mirror in shards.
    ///
    /// Takes no lock and changes nothing.
    package func totals() async throws(TransferError) -> MirrorTotals? {
        do {
            guard let manifest = try await readableManifest() else { return nil }
            let totals = try await manifest.totals()
            return MirrorTotals(
                files: totals.files,
                bytes: totals.bytes,
                damagedFiles: totals.damagedFiles,
                lastVerification: try await VerifyRecord.completed(manifest)
            )
        } catch {
            throw TransferError(any: error)
        }
    }
}

extension ManifestStore {
    /// How many files were found damaged.
    func damagedFileCount() async throws(ManifestError) -> Int {
        var count = 0
        for try await page in pages(.damagedEntries, limit: 4_096) { count += page.count }
        return count
    }
}
