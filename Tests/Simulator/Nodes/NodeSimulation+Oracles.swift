internal import Glibc
internal import ObjectTransfer
internal import SyncModel

/// What processes do to the disk and the bucket, and whether they may.
extension NodeSimulation {
    private static let shards = VirtualDisk.ownState + "/shards/"

    /// Judges a call before it happens.
    func judge(_ call: VirtualDisk.Call) -> Int32 {
        guard let process = cluster.current, !process.isDead else { return 0 }
        world.statistics.calls += 1
        world.scheduler.trace.note(UInt64(process.number) << 32 | UInt64(call.name.utf8.count))
        if setup.locks == .none, call.name == "flock" || call.name == "fcntl(F_SETLK)" {
            return ENOLCK
        }
        let place = call.place
        // SQLite may hold locks of this program in such calls, which others would wait for.
        if !place.contains("/manifest") { letOthersGoOn(place, process) }
        guard !process.isDead else { return EIO }
        world.scheduler.trace.say("  \(process.number): \(call.name) \(place) \(call.bytes)")
        if isStillUnknown(call, place, process) { return ENOENT }
        if call.changes { judgeChange(call, place, process) }
        return 0
    }

    private func letOthersGoOn(_ place: String, _ process: NodeProcess) {
        if process.freezesFor != nil, process.hasNothingElse, isOfLease(place), cluster.oneIn(2) {
            cluster.freeze(process)
            process.pauseInCall()
        } else if setup.callsBetween > 0, cluster.oneIn(setup.callsBetween) {
            process.pauseInCall()
        }
    }

    private func isOfLease(_ place: String) -> Bool {
        guard let name = place.split(separator: "/").last else { return false }
        return name == "lease" || name.hasPrefix("claim.")
    }

    /// True if the process's node looked for a name not long ago, when it was not there, and does
    /// not ask the server again yet.
    private func isStillUnknown(
        _ call: VirtualDisk.Call,
        _ place: String,
        _ process: NodeProcess
    ) -> Bool {
        guard let seconds = setup.attributeSeconds, [.open, .status, .name].contains(call.kind),
            call.path != nil, call.path != "."
        else { return false }
        // Whoever makes or moves a name asks the server.
        guard !call.changes else {
            absentNames[process.node]?[place] = nil
            if let name = call.newName, let known = absentNames[process.node] {
                let suffix = "/" + name
                absentNames[process.node] = known.filter { !$0.key.hasSuffix(suffix) }
            }
            return false
        }
        guard world.disk.unseen({ DiskTree.status([UInt8](place.utf8)) }) != nil else {
            if absentNames[process.node]?[place] == nil {
                absentNames[process.node, default: [:]][place] = world.scheduler.elapsed
            }
            return false
        }
        guard let since = absentNames[process.node]?[place] else { return false }
        if world.scheduler.elapsed - since <= .seconds(seconds) {
            world.scheduler.trace.say("    \(place) is still unknown")
            return true
        }
        absentNames[process.node]?[place] = nil
        return false
    }

    private func judgeChange(_ call: VirtualDisk.Call, _ place: String, _ process: NodeProcess) {
        // A file that lost its name is nobody's.
        guard place.hasPrefix("/") else { return }
        guard place.hasPrefix(VirtualDisk.mirror) else {
            return world.report(.outside, "\(call.name) of '\(place)'")
        }
        guard place.hasPrefix(VirtualDisk.ownState) else {
            isTreeTouched = true
            return
        }
        judgeWriter(call, place, process)
    }

    // MARK: - One writer

    /// Whoever changes a shard's manifest or result has the shard's lease.
    private func judgeWriter(_ call: VirtualDisk.Call, _ place: String, _ process: NodeProcess) {
        guard place.hasPrefix(Self.shards), [.write, .resize, .name].contains(call.kind) else {
            return
        }
        let parts = place.dropFirst(Self.shards.count).split(separator: "/")
        // `shards/CUTTING/NUMBER/NAME`
        guard parts.count == 3, process.role != .cut else { return }
        let name = parts[2]
        guard name.hasPrefix("manifest.db") || name.hasPrefix("result") else { return }
        let folder = Self.shards + parts[0] + "/" + parts[1]
        guard let record = lease(folder) else {
            return world.report(
                .singleWriter,
                "\(call.name) of '\(name)' of shard \(parts[1]), whose lease nobody holds"
            )
        }
        if !isOwn(record, process) {
            world.report(
                .singleWriter,
                "\(call.name) of '\(name)' of shard \(parts[1]) by process \(process.number) of "
                    + "\(cluster.nodes[process.node].name), and the lease is that of "
                    + record.process.display + (record.isFree ? ", given back" : "")
            )
        }
    }

    /// What is in a lease's file, as the server has it.
    private func lease(_ folder: String) -> LeaseRecord? {
        let bytes = world.disk.unseen { DiskEdits.read([UInt8]((folder + "/lease").utf8)) }
        return bytes.flatMap { LeaseRecord($0) }
    }

    private func isOwn(_ record: LeaseRecord, _ process: NodeProcess) -> Bool {
        let node = cluster.nodes[process.node]
        return !record.isFree && record.process.host == node.name
            && record.process.number == process.number
            && record.process.boot == cluster.bootID(process.node)
    }

    /// A request that changes an object is sent by a process that holds a lease.
    func judgeSending(_ call: ServiceCall, _ process: NodeProcess) {
        switch call.operation {
        case .put, .copy, .delete, .deleteMany, .complete: break
        default: return
        }
        let folders = shardFolders() + [VirtualDisk.ownState]
        guard !folders.contains(where: { lease($0).map { isOwn($0, process) } == true })
        else { return }
        world.report(
            .singleWriter,
            "\(call.operation.rawValue) of '\(call.key.display)' by process \(process.number) of "
                + "\(cluster.nodes[process.node].name), which holds no lease"
        )
    }

    // MARK: - Rounds

    func shardFolders() -> [String] {
        guard let cutting = value("cutting", VirtualDisk.ownState + "/cuts") else { return [] }
        let folder = Self.shards + cutting
        let names = world.disk.unseen { DiskTree.names(in: [UInt8](folder.utf8)) }
        return names.map { String(decoding: $0, as: UTF8.self) }.filter { Int($0) != nil }
            .map { folder + "/" + $0 }
    }

    /// A member in a small file of the state.
    private func value(_ name: String, _ file: String) -> String? {
        let bytes = world.disk.unseen { DiskEdits.read([UInt8](file.utf8)) } ?? []
        let members = String(decoding: bytes, as: UTF8.self).split { "{},\n".contains($0) }
        return members.first { $0.hasPrefix("\"\(name)\":") }
            .map { $0.dropFirst(name.count + 3).filter { $0 != "\"" } }
    }

    /// Why a process may not delete anything now; nil if it may.
    func objection(to process: NodeProcess) -> String? {
        guard process.role.mayDelete else { return "by a process that is to delete nothing" }
        var wanted: String?
        if case .finish(let round) = process.role { wanted = round }
        for folder in shardFolders() {
            guard let round = value("round", folder + "/result") else {
                return "and shard \(folder.suffix(4)) has not ended"
            }
            if let wanted, round != wanted {
                return "and shard \(folder.suffix(4)) has not ended in '\(wanted)'"
            }
            wanted = wanted ?? round
            for flag in ["listing_proven", "walk_proven"]
            where value(flag, folder + "/result") != "true" {
                return "and shard \(folder.suffix(4)) has no proof: \(flag)"
            }
            if value("failed", folder + "/result") != "0" {
                return "and items of shard \(folder.suffix(4)) failed"
            }
        }
        return nil
    }

    // MARK: - The directory

    /// Takes the directory as the world left it.
    func lookAround() {
        world.disk.unseen { world.tree.scan(world.model.contents) }
        world.model.look(world.tree)
        known = world.tree.entries
        isTreeTouched = false
    }

    /// Judges what a process did to the directory, at the end of a piece of its work or within.
    func look(_ process: NodeProcess) {
        if isTreeTouched {
            isTreeTouched = false
            let before = known
            let trash = world.tree.trash
            lookAround()
            for (path, entry) in before.sorted(by: { $0.key < $1.key })
            where known[path] != entry {
                judge(entry, at: path, process, trash)
            }
            for (path, entry) in known.sorted(by: { $0.key < $1.key })
            where before[path] != entry {
                judge(new: entry, at: path)
            }
        }
        guard process.place != .inCall else { return }
        for (path, _) in process.missing.sorted(by: { $0.key < $1.key }) where known[path] == nil {
            if let objection = objection(to: process) {
                world.report(.allShards, "'\(path.display)' went \(objection)")
            }
        }
        process.missing = [:]
    }

    /// An entry that was there is not any more, or is another.
    private func judge(
        _ entry: DiskEntry,
        at path: ObjectKey,
        _ process: NodeProcess,
        _ trash: Set<ContentID>
    ) {
        guard case .file(let content?) = entry else { return }
        if known[path] == nil { process.missing[path] = entry }
        let isThere =
            content == Contents.empty || world.tree.trash.contains(content)
            || world.tree.entries.values.contains(.file(content))
            || world.model.versions[path]?.values.contains(content) == true
        if !isThere, process.place != .inCall {
            world.report(.userData, "content \(content.number) of '\(path.display)' is lost")
        }
    }

    private func judge(new entry: DiskEntry, at path: ObjectKey) {
        guard case .file(let content) = entry else { return }
        guard let content else {
            let bytes = world.tree.strangers[path] ?? []
            let found = world.model.contents.describe(bytes)
            return world.report(.oldOrNew, "'\(path.display)' has \(found)")
        }
        if !world.model.mayHold(path, content) {
            world.report(.oldOrNew, "'\(path.display)' has content \(content.number), of another")
        }
    }

    // MARK: - The bucket

    func carryOut(_ call: ServiceCall, _ body: [UInt8], of process: NodeProcess) -> ServiceAnswer {
        world.statistics.requests += 1
        world.service.now = world.now
        world.trace("request of \(process.number) \(call.operation.rawValue) \(call.key.display)")
        let answer = world.service.answer(call, body: body)
        for effect in world.service.takeEffects() { judge(effect, process) }
        return answer
    }

    private func judge(_ effect: ServiceEffect, _ process: NodeProcess) {
        switch effect {
        case .wrote(let key, let previous): judgeWrite(key, over: previous)
        case .deleted(let key, let previous):
            guard let previous, let path = World.relative(key) else { return }
            if let objection = objection(to: process) {
                world.report(.allShards, "the object '\(path.display)' went \(objection)")
            }
            judgeLoss(of: previous, at: path)
            world.model.deleted(path)
        case .began, .aborted, .read: break
        }
    }

    private func judgeWrite(_ key: ObjectKey, over previous: VirtualBucket.Object?) {
        guard let object = world.service.bucket.objects[key] else { return }
        guard let path = World.relative(key) else {
            return world.report(.outside, "wrote '\(key.display)', which is outside the prefix")
        }
        guard let content = world.model.contents.identify(object.bytes) else {
            let found = world.model.contents.describe(object.bytes)
            return world.report(.remoteSide, "the object '\(path.display)' is made of \(found)")
        }
        if let previous { judgeLoss(of: previous, at: path) }
        world.wrote(path, content)
    }

    /// What somebody wrote may go only if its content was here once.
    private func judgeLoss(of object: VirtualBucket.Object, at path: ObjectKey) {
        guard object.author == .world, object.target == nil,
            let content = world.model.contents.identify(object.bytes), content != Contents.empty,
            !world.model.mayHaveBeenLocal(path, content)
        else { return }
        world.report(.othersData, "the object '\(path.display)' went, which was never here")
    }

    // MARK: - Ends

    /// A process ends well, or says why it could not.
    func judgeEnd(of process: NodeProcess) {
        guard let failure = process.failure else { return }
        let isFaulty = round.map { !$0.isQuiet && $0.round.failures > 0 } ?? false
        switch failure.code {
        // Another one works there; too much would be deleted.
        case .locked, .refused: return
        case .configuration where isLate(process): return
        default:
            if isFaulty, failure.code != .localState { return }
            world.report(
                .convergence,
                "process \(process.number) failed by \(failure.code): \(failure.message)"
            )
        }
    }

    /// True for a task of a round before, which is refused, and for an end without a beginning.
    private func isLate(_ process: NodeProcess) -> Bool {
        switch process.role {
        case .task(_, let name): name != round?.name
        case .finish: round?.isQuiet == false
        case .plain, .cut: false
        }
    }
}
