internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
package import ObjectTransfer
internal import SyncModel

extension MirrorEngine {
    /// Cuts a mirror into shards, each with a manifest of its own; one that is cut is cut anew.
    ///
    /// Killed anywhere, the mirror is cut as before or anew, never in between.
    ///
    /// - Returns: The shards in key order.
    /// - Throws: `locked` while a run is at work.
    package func cut(
        _ options: CutOptions,
        onWarning: @escaping @Sendable (String) -> Void
    ) async throws(SyncError) -> [ShardReport] {
        do {
            let cutter = try await MirrorCutter(settings, options, onWarning)
            return try await cutter.run()
        } catch {
            throw SyncError(any: error)
        }
    }
}

/// Copies the rows of a mirror's manifests into one manifest for each new shard.
struct MirrorCutter: Sendable {
    private static let stub = "whole"
    static let rowsAtOnce = 10_000

    /// One of the manifests that the mirror has now.
    struct Source: Sendable {
        let range: KeyRange
        /// From the state of the mirror.
        let folder: [String]
        let session: MirrorSession
    }

    let settings: MirrorSettings
    let options: CutOptions
    private let onWarning: @Sendable (String) -> Void
    let directory: MirrorDirectory
    private let before: Cutting?
    /// Held if the mirror is cut; else the session has it.
    private let whole: DirectoryLock?

    init(
        _ settings: MirrorSettings,
        _ options: CutOptions,
        _ onWarning: @escaping @Sendable (String) -> Void
    ) async throws {
        self.settings = settings
        self.options = options
        self.onWarning = onWarning
        directory =
            options.isDryRun
            ? try MirrorDirectory.inspect(
                at: settings.directory,
                stateDirectory: settings.stateDirectory,
                homeDirectory: settings.homeDirectory,
                calls: settings.systemCalls
            )
            : try MirrorDirectory(
                path: settings.directory,
                stateDirectory: settings.stateDirectory,
                homeDirectory: settings.homeDirectory,
                createsIfMissing: true,
                calls: settings.systemCalls
            )
        before = try Cutting.read(in: directory)
        guard let before, !options.isDryRun else {
            whole = nil
            return
        }
        let run = ShardedRun(settings, before, .pull, .standard, in: directory) { event in
            if case .warning(let message) = event { onWarning(message) }
        }
        whole = try await run.lockWhole()
    }

    func run() async throws -> [ShardReport] {
        defer {
            withExtendedLifetime(whole) {}
            directory.removeStandIn()
        }
        try await requireOrder()
        let sources = try await open()
        defer { withExtendedLifetime(sources) {} }
        let check = SplitCheck(settings, directory)
        var sums: [KeySample.Point]?
        let bounds: [ObjectKey]
        var total: (objects: Int, bytes: Int64)?
        if let given = options.bounds {
            bounds = given.map { ObjectKey($0) }
            try await require(bounds, check)
        } else {
            let sample = try await sample(sources)
            let count = options.count ?? sample.defaultCount
            let points = try await sample.bounds(count: count) { key in
                for name in key.possibleFiles where try await check.isFile(name) { return true }
                return false
            }
            if points.count + 1 < count {
                onWarning(
                    "there are only \(sample.objects) keys to cut between: the mirror has "
                        + "\(points.count + 1) shards, not \(count)"
                )
            }
            bounds = points.map(\.key)
            (sums, total) = (points, (sample.objects, sample.bytes))
        }
        let cutting = Cutting(name: Cutting.randomName(settings.environment), bounds: bounds)
        if !options.isDryRun {
            do {
                try await carryOut(cutting, sources)
            } catch {
                // On a full disk its manifests would leave no room for a run.
                if try Cutting.read(in: directory) != cutting { removeUnfinished(cutting) }
                throw error
            }
        }
        return reports(cutting, sums, total)
    }

    private func reports(
        _ cutting: Cutting,
        _ sums: [KeySample.Point]?,
        _ total: (objects: Int, bytes: Int64)?
    ) -> [ShardReport] {
        let numbers = cutting.numbers
        return cutting.ranges.enumerated().map { index, range in
            var (objects, bytes): (Int?, Int64?) = (nil, nil)
            if let sums, let total {
                let from = index == 0 ? (0, 0) : (sums[index - 1].objects, sums[index - 1].bytes)
                let to = index == sums.count ? total : (sums[index].objects, sums[index].bytes)
                (objects, bytes) = (to.0 - from.0, to.1 - from.1)
            }
            return ShardReport(
                number: numbers[index],
                firstKey: range.lower.bytes,
                endKey: range.upper?.bytes,
                objects: objects,
                bytes: bytes
            )
        }
    }

    /// Ranges of keys are only of use where the store lists in their order.
    private func requireOrder() async throws {
        let page = try await settings.store.list(
            ListRequest(
                prefix: settings.prefix,
                startAfter: nil,
                delimiter: nil,
                maximumKeys: 1_000
            )
        )
        let keys = page.objects.map(\.key)
        guard zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw SyncError(
                code: .configuration,
                message: "\(settings.displayRemote) does not list in the order of the keys' bytes,"
                    + " so the mirror cannot be cut; nothing was changed"
            )
        }
    }

    private func require(_ bounds: [ObjectKey], _ check: SplitCheck) async throws {
        let isAscending = zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
        guard isAscending, bounds.first != "", bounds.count < Cutting.maximumCount else {
            throw SyncError(
                code: .configuration,
                message: "the places to cut at must be keys in ascending order, at most "
                    + "\(Cutting.maximumCount - 1) of them and none of them empty"
            )
        }
        for bound in bounds {
            for name in bound.possibleFiles where try await check.isFile(name) {
                throw SyncError(
                    code: .configuration,
                    message: "'\(bound.display)' is no place to cut at: it parts the file "
                        + "'\(name.display)' from the directory of that name"
                )
            }
        }
    }

    // MARK: - What there is

    private func open() async throws -> [Source] {
        guard let before else {
            let session = try await MirrorSession.open(
                settings,
                locks: !options.isDryRun,
                allowsRebinding: false,
                onWait: onWarning
            )
            return [Source(range: .all, folder: [], session: session)]
        }
        var sources: [Source] = []
        for (range, number) in zip(before.ranges, before.numbers) {
            var settings = settings
            settings.shard = Shard(
                number: number,
                range: range,
                folder: before.folder(number),
                rules: RoundRules(),
                whole: whole,
                outcome: nil
            )
            let session = try await MirrorSession.open(
                settings,
                locks: !options.isDryRun,
                allowsRebinding: false
            )
            sources.append(
                Source(range: range, folder: settings.shard?.folder ?? [], session: session)
            )
        }
        return sources
    }
}

// MARK: - Carrying it out

extension MirrorCutter {
    /// What each shard knows of the others' parts, too: lists as text, with what is between their
    /// elements.
    private static let lists = [
        ("directory.mount-points", "//"), ("directory.mount-identities", "//"),
        ("manifest.rebuilt", " "), ("uploads.unrecorded-runs", " "), ("verify.damaged", "\n"),
    ]

    private func carryOut(_ cutting: Cutting, _ sources: [Source]) async throws {
        let settingsOfAll = try await joinedSettings(sources)
        var partials: [(range: KeyRange, folder: [String], names: [(ObjectKey, String)])] = []
        for source in sources {
            var names: [(ObjectKey, String)] = []
            try await source.session.manifest.forEachDownload(in: .all) {
                names.append(($0.key, $0.partialName))
            }
            partials.append((source.range, source.folder, names))
            try await source.session.manifest.checkpointAndClose()
        }
        for (range, number) in zip(cutting.ranges, cutting.numbers) {
            try Task.checkCancellation()
            let folder = cutting.folder(number)
            let manifest = try await makeManifest(folder)
            for source in sources {
                let part = source.range.intersection(range)
                // Settings of every source that has a part; where it has none, those of any.
                guard !part.isEmpty else { continue }
                try await manifest.takeRows(
                    of: part,
                    from: ([directory.stateDirectoryPath] + source.folder)
                        .joined(separator: "/"),
                    takesSettings: true
                )
            }
            try await manifest.setSettings(settingsOfAll)
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
        try directory.synchronizeState()
        // From here on, the mirror is cut.
        try directory.writeStateFile(Cutting.fileName, cutting.content)
        if let folder = try directory.stateFolder(stub, makes: false) {
            try directory.moveIntoState(ManifestFiles.databaseName, from: folder)
        }
        try removeOld(except: cutting, partials.first { $0.folder.isEmpty }?.names.map(\.1) ?? [])
    }

    private func makeManifest(_ folder: [String]) async throws -> ManifestStore {
        _ = try directory.stateFolder(folder, makes: true)
        return try await ManifestStore.open(
            directory: ([directory.stateDirectoryPath] + folder).joined(separator: "/"),
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
        var joined: [(name: String, value: String?)] = []
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

    private func removeUnfinished(_ cutting: Cutting) {
        guard let folder = try? directory.stateFolder([Cutting.folder], makes: false) else {
            return
        }
        try? directory.removeFolder(cutting.name, in: folder)
    }

    /// What is left of the old state takes only room: a failure is said and nothing more.
    private func removeOld(except cutting: Cutting, _ partials: [String]) throws {
        do throws(LocalError) {
            try directory.removePartials(partials)
            guard let folder = try directory.stateFolder([Cutting.folder], makes: false) else {
                return
            }
            for name in try folder.names() where name != cutting.name {
                try directory.removeFolder(name, in: folder)
            }
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
