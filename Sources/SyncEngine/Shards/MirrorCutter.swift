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
    /// - Parameters:
    ///   - options: How many shards, or where they begin.
    ///   - onWarning: Called with what a user should know.
    /// - Returns: The shards in key order.
    /// - Throws: `locked` while a run is at work.
    package func cut(
        _ options: CutOptions,
        onWarning: @escaping @Sendable (String) -> Void
    ) async throws(TransferError) -> [ShardReport] {
        do {
            return try await MirrorCutter(settings, options, onWarning).run()
        } catch {
            throw TransferError(any: error)
        }
    }
}

/// Copies the rows of a mirror's manifests into one manifest for each new shard.
struct MirrorCutter: Sendable {
    static let stub = "whole"
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
    let onWarning: @Sendable (String) -> Void
    let directory: MirrorDirectory
    let before: Cutting?
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
        // What a killed command left may be what this one has no room for.
        if try before.isPresent(in: directory) {
            try? Cutting.removeLeftShards(in: directory, except: before.name)
        }
    }

    func run() async throws -> [ShardReport] {
        defer {
            withExtendedLifetime(whole) {}
            directory.removeStandIn()
        }
        if options.isJoining {
            try await join()
            return reports(Cutting(name: "", bounds: []), nil, nil)
        }
        try await requireOrder()
        let sources = try await open()
        defer { withExtendedLifetime(sources) {} }
        // The runs of shards know the directory by its marker.
        for source in sources { try source.session.requireWritable(settings) }
        let check = SplitCheck(settings, directory)
        var sums: [KeySample.Point]?
        let bounds: [ObjectKey]
        var total: (objects: Int, bytes: Int64)?
        if let given = options.bounds {
            bounds = given.map { ObjectKey($0) }
            try await require(bounds, check)
        } else {
            let sample = try await self.sample(sources)
            let count = options.count ?? max(sample.defaultCount, before?.count ?? 1)
            if options.choosesCount, count == 1 {
                return reports(Cutting(name: "", bounds: []), [], (sample.objects, sample.bytes))
            }
            let points = try await sample.bounds(count: count) { key in
                for name in key.possibleFiles where try await check.isFile(name) { return true }
                return false
            }
            if points.count + 1 < count {
                onWarning(
                    "the mirror has \(points.count + 1) of \(count) shards: its keys are too few "
                        + "(\(sample.objects)), or single objects are larger than a shard"
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
                if try Cutting.read(in: directory) != cutting { removeUnfinished(cutting.name) }
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
            throw TransferError(
                code: .configuration,
                message: "\(settings.displayRemote) does not list in the order of the keys' bytes,"
                    + " so the mirror cannot be cut; nothing was changed"
            )
        }
    }

    private func require(_ bounds: [ObjectKey], _ check: SplitCheck) async throws {
        let isAscending = zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
        guard isAscending, bounds.first != "", bounds.count < Cutting.maximumCount else {
            throw TransferError(
                code: .configuration,
                message: "the places to cut at must be keys in ascending order, at most "
                    + "\(Cutting.maximumCount - 1) of them and none of them empty"
            )
        }
        for bound in bounds {
            for name in bound.possibleFiles where try await check.isFile(name) {
                throw TransferError(
                    code: .configuration,
                    message: "'\(bound.display)' cannot begin a shard: it would separate the file "
                        + "'\(name.display)' from the directory of the same name"
                )
            }
        }
    }

    // MARK: - What there is

    func open() async throws -> [Source] {
        guard let before else {
            let session = try await MirrorSession.open(
                settings,
                locks: !options.isDryRun,
                allowsRebinding: false,
                onWait: onWarning
            )
            for warning in session.warnings { onWarning(warning) }
            return [Source(range: .all, folder: [], session: session)]
        }
        var sources: [Source] = []
        var warnings: Set<String> = []
        for (range, number) in zip(before.ranges, before.numbers) {
            var settings = settings
            settings.shard = Shard(
                number: number,
                range: range,
                cutting: before,
                rules: RoundRules(),
                whole: whole,
                outcome: nil
            )
            let session = try await MirrorSession.open(
                settings,
                locks: !options.isDryRun,
                allowsRebinding: false
            )
            for warning in session.warnings where warnings.insert(warning).inserted {
                onWarning(warning)
            }
            // The check of the file has filled it.
            try await session.manifest.releaseMemory()
            sources.append(
                Source(range: range, folder: settings.shard?.folder ?? [], session: session)
            )
        }
        return sources
    }
}
