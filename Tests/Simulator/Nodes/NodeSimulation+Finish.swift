internal import CVirtualFiles
internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// Both sides and what the manifests say of them, as far as two ways to the same end must agree.
private struct NodeState {
    var tree: [ObjectKey: DiskEntry] = [:]
    var objects: [ObjectKey: ContentID?] = [:]
    var rows: [ObjectKey: String] = [:]
    /// Where the shards begin, in key order.
    var firstKeys: [ObjectKey] = []

    func shard(of path: ObjectKey) -> Int { firstKeys.count { $0 <= path } }

    /// True for the object of a file that was renamed into another shard and not sent: only a run
    /// that has both names knows that, and keeps it.
    func mayLack(_ path: ObjectKey, of other: NodeState) -> Bool {
        guard objects[path] == nil, let content = other.objects[path] else { return false }
        return tree.contains { name, entry in
            entry == .file(content) && objects[name] != content
                && shard(of: name) != shard(of: path)
        }
    }
}

/// The end of a history: nothing fails any more, and tasks with the end of their round must come to
/// what one plain run comes to.
extension NodeSimulation {
    private static let quietRounds = 4

    func finish() {
        lookAround()
        for index in cluster.nodes.indices { cluster.nodes[index].wallOffset = .zero }
        world.trace("quiet")
        guard ensureCut(on: 0, seed: world.history.seed) else { return }
        let snapshot = unsafe virtual_files_take_snapshot()
        let (service, model) = (world.service, world.model)
        defer { unsafe virtual_files_free_snapshot(snapshot) }
        guard let byTasks = endByTasks() else { return }
        unsafe virtual_files_restore(snapshot)
        (world.service, world.model) = (service, model)
        world.tree.forget()
        absentNames = [:]
        lookAround()
        // With half of the seeds, the plain run is one over all shards.
        let joins = world.history.seed % 2 == 0
        world.trace(joins ? "again, with one manifest" : "again, by one process")
        guard let byOne = endByOne(joins: joins) else { return }
        compare(byTasks, byOne, hasOneManifest: joins)
    }

    func quietOptions(_ direction: ToolRun.Direction, seed: UInt64) -> ToolRun {
        var options = ToolRun(direction: direction, seed: seed, faults: .none)
        options.deletesKnown = true
        options.allowsEmpty = true
        options.deletionPercent = 100
        options.connections = 3
        options.partSize = 1_024
        return options
    }

    private func endByTasks() -> NodeState? {
        for number in 0..<Self.quietRounds {
            let seed = world.history.seed &+ UInt64(number)
            var quiet = NodeRound(direction: world.history.ending, seed: seed)
            quiet.tasks = 1 + Int(world.history.seed % 4)
            quiet.isFinished = false
            world.model.beginRun()
            // Until then, a node may have not seen yet what others made.
            world.scheduler.advance(by: .seconds((setup.attributeSeconds ?? 0) + 1))
            play(quiet)
            guard world.violations.isEmpty else { return nil }
            let state = RoundState(quiet, name: "round-\(roundCount)")
            state.isQuiet = true
            guard let summary = finish(state) else {
                let why = lastFailure.map { "\($0.code): \($0.message)" } ?? ""
                world.report(.convergence, "a quiet round could not be ended: \(why)")
                return nil
            }
            judgeTruth(of: summary)
            guard world.violations.isEmpty else { return nil }
        }
        return state()
    }

    /// The end of a quiet round says that both sides are equal only if they are.
    private func judgeTruth(of summary: RunSummary) {
        guard summary.isInStep else { return }
        lookAround()
        var objects: [ObjectKey: ContentID?] = [:]
        for (key, object) in world.service.bucket.objects where object.target == nil {
            guard let path = World.relative(key), !path.isDirectoryMarker else { continue }
            objects[path] = world.model.contents.identify(object.bytes)
        }
        for (path, entry) in known.sorted(by: { $0.key < $1.key }) {
            guard case .file(let content) = entry else { continue }
            if objects.removeValue(forKey: path) != .some(content) {
                world.report(
                    .truthfulSummary,
                    "in step by the end of a round, but '\(path.display)' is not the object"
                )
            }
        }
        for path in objects.keys.sorted() {
            world.report(
                .truthfulSummary,
                "in step by the end of a round, but there is no file of '\(path.display)'"
            )
        }
    }

    private func endByOne(joins: Bool) -> NodeState? {
        if joins { guard cut(into: 1, on: 0, seed: world.history.seed) else { return nil } }
        for number in 0..<Self.quietRounds {
            let seed = world.history.seed &+ UInt64(number)
            cluster.begin(seed: seed, order: .random)
            world.model.beginRun()
            world.scheduler.advance(by: .seconds((setup.attributeSeconds ?? 0) + 1))
            _ = plain(quietOptions(world.history.ending, seed: seed), on: 0)
            guard world.violations.isEmpty else { return nil }
        }
        return state()
    }

    // MARK: - States

    private func state() -> NodeState {
        lookAround()
        var state = NodeState()
        state.firstKeys = firstKeys
        for (path, entry) in known { state.tree[Self.withoutTime(path)] = entry }
        for (key, object) in world.service.bucket.objects {
            guard let path = World.relative(key) else { continue }
            state.objects[Self.withoutTime(path)] = world.model.contents.identify(object.bytes)
        }
        let folders = shardFolders()
        for folder in folders.isEmpty ? [VirtualDisk.ownState] : folders {
            for (key, row) in world.readRows(in: folder) ?? [:] {
                // A copy in the bucket has another tag than an upload of the same content.
                let object = world.service.bucket.objects[World.whole(key)]
                let tag = object.map { ETag(wire: $0.etag) } == row.etag ? "its" : row.etag.text
                let name = Self.withoutTime(key)
                state.rows[name] = "\(row.size) \(tag) \(row.isLink)"
            }
        }
        return state
    }

    /// A conflict's name without the time and the machine that are in it.
    private static func withoutTime(_ path: ObjectKey) -> ObjectKey {
        let mark = [UInt8](".conflict-".utf8)
        let starts = path.bytes.indices.dropLast(mark.count).filter { index in
            path.bytes[index...].starts(with: mark)
        }
        guard let start = starts.first else { return path }
        let rest = path.bytes[(start + mark.count)...]
        let end = rest.firstIndex { [UInt8(ascii: "."), UInt8(ascii: "/")].contains($0) }
        return ObjectKey(path.bytes[..<(start + mark.count)] + rest[(end ?? rest.endIndex)...])
    }

    private func compare(_ tasks: NodeState, _ plain: NodeState, hasOneManifest: Bool) {
        func judge<Value: Equatable>(
            _ what: String,
            _ left: [ObjectKey: Value],
            _ right: [ObjectKey: Value]
        ) {
            for path in Set(left.keys).union(right.keys).sorted() where left[path] != right[path] {
                if hasOneManifest, tasks.mayLack(path, of: plain) { continue }
                let byTasks = left[path].map { "\($0)" } ?? "nothing"
                let byOne = right[path].map { "\($0)" } ?? "nothing"
                world.report(
                    .sameAsOneRun,
                    "\(what) '\(path.display)' is \(byTasks) by tasks, and \(byOne) by one run"
                )
            }
        }
        judge("the file", tasks.tree, plain.tree)
        judge("the object", tasks.objects, plain.objects)
        judge("the row", tasks.rows, plain.rows)
    }
}
