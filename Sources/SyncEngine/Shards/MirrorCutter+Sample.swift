internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// What there is to cut between.
extension MirrorCutter {
    /// The keys of the manifests; if they have none, those of a listing, or else of the directory.
    func sample(_ sources: [Source]) async throws -> KeySample {
        var sample = KeySample()
        for source in sources {
            let entries = RowSelection.entries(in: source.range)
            let manifest = source.session.manifest
            for try await page in manifest.pages(entries, limit: Self.rowsAtOnce) {
                try Task.checkCancellation()
                for entry in page { sample.add(entry.key, size: entry.size) }
            }
            try await manifest.releaseMemory()
        }
        if sample.objects == 0 { sample = try await listedSample() }
        return sample.objects > 0 ? sample : try await walkedSample()
    }

    private func listedSample() async throws -> KeySample {
        var sample = KeySample()
        let prefix = settings.prefix
        let lister = RemoteLister(
            store: settings.store,
            prefix: prefix,
            ranges: .all,
            splits: [],
            pagesPerSplit: 1,
            width: options.connectionLimit
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await lister.run() }
            defer { group.cancelAll() }
            var position = RemoteLister.Position()
            while let page = try await lister.next(&position) {
                for object in page { sample.add(object.key, size: object.size) }
            }
        }
        return sample
    }

    /// The files of the directory, filters left aside: where to cut is no promise of what is sent.
    private func walkedSample() async throws -> KeySample {
        let queue = BlockingQueue(
            label: "osssync.walk",
            width: 1,
            threads: settings.environment.threads
        )
        var sample = KeySample()
        let walk = directory.walk(within: .all, leavingOut: { _, _ in false })
        while true {
            try Task.checkCancellation()
            let batch = try await queue.run { () throws(LocalError) in
                try walk.next(limit: Self.rowsAtOnce)
            }
            for entry in batch.entries {
                if case .file(let identity) = entry.kind {
                    sample.add(entry.path, size: identity.size)
                }
            }
            if batch.isFinished { return sample }
        }
    }
}
