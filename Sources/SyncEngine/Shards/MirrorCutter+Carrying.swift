internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

extension MirrorCutter {
    /// What each shard knows of the others' parts, too: lists as text, with what is between their
    /// elements.
    private static let lists = [
        ("directory.mount-points", "//"), ("directory.mount-identities", "//"),
        ("manifest.rebuilt", " "), ("tags.fetched", " "), ("uploads.unrecorded-runs", " "),
    ]

    func carryOut(_ cutting: Cutting, _ sources: [Source]) async throws {
        try await markOtherNames(sources)
        let settingsOfAll = try await joinedSettings(sources)
        let partials = try await closed(sources)
        for (range, number) in zip(cutting.ranges, cutting.numbers) {
            try Task.checkCancellation()
            let folder = cutting.folder(number)
            let manifest = try await makeManifest(folder)
            for source in sources {
                let part = source.range.intersection(range)
                // Settings of every source that has a part; where it has none, those of any.
                guard !part.isEmpty else { continue }
                try await take(part, from: source, into: manifest)
            }
            try await manifest.setSettings(settingsOfAll)
            let lists = FolderOfShards(DamageList.folder, of: folder, in: directory)
            try await DamagedRows(manifest, directory, lists, isRebuilt: false).writeList()
            try await manifest.checkpointAndClose()
            for source in partials {
                let names = source.names.filter { range.contains($0.0) }.map(\.1)
                guard !names.isEmpty else { continue }
                try directory.linkPartials(names, from: source.folder, to: folder)
            }
        }
        let stub = [Cutting.folder, cutting.name, Self.stub]
        let manifest = try await makeManifest(stub)
        try await manifest.markCut()
        try await manifest.checkpointAndClose()
        try directory.state.synchronize()
        // From here on, the mirror is cut.
        try directory.sharedState.write(Cutting.fileName, cutting.content)
        if let folder = try directory.state.folder(stub, makes: false) {
            try directory.moveIntoState(ManifestFiles.databaseName, from: folder)
        }
        try removeOld(
            except: cutting.name,
            partials.first { $0.folder.isEmpty }?.names.map(\.1) ?? []
        )
    }

    /// Makes a cut mirror one with a single manifest again; nothing is to be done for another.
    func join() async throws {
        guard before != nil else {
            let sources = try await open()
            return withExtendedLifetime(sources) {}
        }
        guard !options.isDryRun else { return }
        let sources = try await open()
        defer { withExtendedLifetime(sources) {} }
        let name = Cutting.randomName(settings.environment)
        do {
            try await join(sources, in: name)
        } catch {
            if try Cutting.read(in: directory) != nil { removeUnfinished(name) }
            throw error
        }
    }

    /// The lists of the shards go, with what has good content again and may have another name.
    private func markOtherNames(_ sources: [Source]) async throws {
        for source in sources { try await source.session.damaged.markOtherNames() }
    }

    private func join(_ sources: [Source], in name: String) async throws {
        try await markOtherNames(sources)
        let settingsOfAll = try await joinedSettings(sources)
        let partials = try await closed(sources)
        let folder = [Cutting.folder, name, Self.stub]
        let manifest = try await makeManifest(folder)
        for source in sources {
            try Task.checkCancellation()
            try await take(source.range, from: source, into: manifest)
        }
        try await manifest.setSettings(settingsOfAll)
        try await manifest.checkpointAndClose()
        for source in partials where !source.names.isEmpty {
            try directory.linkPartials(source.names.map(\.1), from: source.folder, to: [])
        }
        try directory.state.synchronize()
        if let folder = try directory.state.folder(folder, makes: false) {
            try directory.moveIntoState(ManifestFiles.databaseName, from: folder)
        }
        // First, for nothing would remove it from a mirror that is not cut.
        try PartedDirectories.forget(in: directory)
        // From here on, the mirror is not cut; until then, the manifest above the shards counts for
        // nothing.
        try directory.sharedState.remove(Cutting.fileName)
        try removeOld(except: nil, [])
        Round.removeAll(in: directory)
    }

    /// Closes the manifests, and tells of the unfinished downloads in each.
    private func closed(
        _ sources: [Source]
    ) async throws -> [(range: KeyRange, folder: [String], names: [(ObjectKey, String)])] {
        var partials: [(range: KeyRange, folder: [String], names: [(ObjectKey, String)])] = []
        for source in sources {
            var names: [(ObjectKey, String)] = []
            try await source.session.manifest.forEachDownload(in: .all) {
                names.append(($0.key, $0.partialName))
            }
            partials.append((source.range, source.folder, names))
            try await source.session.manifest.checkpointAndClose()
        }
        return partials
    }

    private func take(
        _ range: KeyRange,
        from source: Source,
        into manifest: ManifestStore
    ) async throws {
        try await manifest.takeRows(
            of: range,
            from: ([directory.state.path] + source.folder).joined(separator: "/"),
            takesSettings: true
        )
    }

    private func makeManifest(_ folder: [String]) async throws -> ManifestStore {
        _ = try directory.state.folder(folder, makes: true)
        return try await ManifestStore.open(
            directory: ([directory.state.path] + folder).joined(separator: "/"),
            now: settings.environment.now(),
            usesWriteAheadLog: false,
            hasLocks: directory.hasRecordLocks(),
            threads: settings.environment.threads,
            smallestSearchable: settings.limits.smallestSearchable
        ).store
    }

    private func joinedSettings(
        _ sources: [Source]
    ) async throws -> [(name: String, value: String?)] {
        var joined = [DirectoryCheck.ofNewFile]
        for (name, separator) in Self.lists {
            var texts: [String] = []
            for source in sources {
                guard let text = try await source.session.manifest.setting(name),
                    !texts.contains(text)
                else { continue }
                texts.append(text)
            }
            guard !texts.isEmpty else { continue }
            joined.append((name, texts.joined(separator: separator)))
        }
        return joined
    }

    func removeUnfinished(_ name: String) {
        try? directory.removeShards([Cutting.folder, name])
    }

    /// What is left of the old state takes only room: a failure is said and nothing more.
    private func removeOld(except kept: String?, _ partials: [String]) throws {
        do throws(LocalError) {
            try directory.partials.remove(partials)
            try Cutting.removeLeftShards(in: directory, except: kept)
        } catch {
            onWarning("what the mirror's state had before could not be removed: \(error.message)")
        }
    }
}

extension KeyRange {
    /// The keys of both.
    fileprivate func intersection(_ other: KeyRange) -> KeyRange {
        let end: ObjectKey? =
            switch (upper, other.upper) {
            case (nil, let end), (let end, nil): end
            case (let one?, let two?): min(one, two)
            }
        return KeyRange(from: max(lower, other.lower), before: end)
    }
}
