internal import SyncModel
internal import SyncTestSupport

/// Histories of a wider world: scenes are woven into a history of the usual one.
extension HistoryGenerator {
    mutating func widened(_ history: History, _ kinds: [WorldKind]) -> History {
        var history = history
        var chosen = [generator.pick(kinds)]
        if generator.oneIn(3) { chosen.append(generator.pick(kinds)) }
        history.setup.worlds = chosen
        // Most of what is to be seen needs no more than its scene.
        if generator.oneIn(2) { history.operations.removeAll { _ in generator.below(3) > 0 } }
        if generator.oneIn(2) { history.ending = generator.pick([.push, .sync]) }
        for kind in chosen {
            prepare(&history, for: kind)
            for _ in 0..<(1 + generator.below(2)) {
                weave(scene(kind, history.ending), into: &history.operations)
            }
        }
        return history
    }

    private mutating func prepare(_ history: inout History, for kind: WorldKind) {
        switch kind {
        case .restored, .vanishing, .secondRemote:
            if !generator.oneIn(4) { history.setup.keepsStateElsewhere = true }
        case .hostile:
            if generator.oneIn(3) { history.setup.hasWeakTags = true }
        case .mounts:
            if generator.oneIn(3) {
                history.setup.keepsStateElsewhere = true
                history.setup.stateIsMounted = true
            } else {
                history.ending = .push
            }
        case .clocks:
            history.setup.timeStep = generator.pick([1, 1_000_000_000, 2_000_000_000])
        case .tight:
            if !generator.oneIn(3) { history.ending = .pull }
            // What matters is the room; many small pieces take long.
            history.setup.pieceSize = max(history.setup.pieceSize, 16_384)
            history.setup.uncheckpointed = max(history.setup.uncheckpointed, 32_768)
        case .limited:
            for (index, operation) in history.operations.enumerated() where generator.oneIn(2) {
                guard case .run(let run) = operation else { continue }
                history.operations[index] = .run(limited(run))
            }
        case .lagging, .nested, .writers: break
        }
    }

    /// Puts the scene's operations between the history's, in their order.
    mutating func weave(_ scene: [Operation], into operations: inout [Operation]) {
        var place = operations.isEmpty ? 0 : generator.below(operations.count)
        for operation in scene {
            operations.insert(operation, at: place)
            place += 1
            if generator.oneIn(3), place < operations.count { place += 1 }
        }
    }

    // MARK: - Scenes

    private mutating func scene(_ kind: WorldKind, _ ending: ToolRun.Direction) -> [Operation] {
        switch kind {
        case .restored: restored(ending)
        case .vanishing: vanishing()
        case .hostile: hostile(ending)
        case .lagging: lagging()
        case .mounts: mounts()
        case .nested: nested(ending)
        case .secondRemote: secondRemote()
        case .clocks: clocks(ending)
        case .writers: writers()
        case .tight: tight()
        case .limited: limited(ending)
        }
    }

    /// The same run of one or two names or of what is beside or above them.
    private mutating func limited(_ run: ToolRun) -> ToolRun {
        var run = run
        let names = (0..<(1 + generator.below(2))).compactMap { _ -> Name? in
            var bytes = name().key.bytes[...]
            while generator.oneIn(2), let slash = bytes.lastIndex(of: UInt8(ascii: "/")) {
                bytes = bytes[..<slash]
            }
            return isValidUTF8([UInt8](bytes)) ? Name(ObjectKey(bytes)) : nil
        }
        guard !names.isEmpty else { return run }
        run.paths = names
        run.tool = nil
        run.rival = nil
        run.allowsRebinding = false
        return run
    }

    private mutating func limited(_ ending: ToolRun.Direction) -> [Operation] {
        var scene = edits(2 + generator.below(4))
        scene.append(.run(plainRun(sends(ending), deletes: false)))
        for _ in 0..<(1 + generator.below(3)) {
            scene += edits(generator.below(4))
            for _ in 0..<generator.below(4) { scene.append(.world(.remote(makeRemoteChange()))) }
            let directions: [ToolRun.Direction] = [.pull, .push, .sync]
            let run = plainRun(generator.pick(directions), deletes: !generator.oneIn(4))
            scene.append(.run(limited(run)))
        }
        return scene
    }

    /// A run as users start it, without faults.
    mutating func plainRun(_ direction: ToolRun.Direction, deletes: Bool) -> ToolRun {
        var run = ToolRun(direction: direction, seed: generator.next() >> 12, faults: .none)
        run.deletesKnown = deletes
        run.deletionPercent = 100
        run.connections = 1 + generator.below(4)
        run.allowsRebinding = generator.oneIn(8)
        return run
    }

    mutating func sends(_ ending: ToolRun.Direction) -> ToolRun.Direction {
        ending == .pull ? generator.pick([.push, .sync]) : ending
    }

    mutating func edits(_ count: Int) -> [Operation] {
        (0..<count).map { _ in
            .world(.local(generator.oneIn(3) ? makeLocalChange() : .write(name(), size: size())))
        }
    }

    private mutating func restored(_ ending: ToolRun.Direction) -> [Operation] {
        let direction = sends(ending)
        var scene = edits(1 + generator.below(3))
        scene.append(.run(plainRun(direction, deletes: true)))
        scene.append(.world(.place(.backUp)))
        scene += edits(1 + generator.below(4))
        scene.append(.run(plainRun(direction, deletes: true)))
        let change: PlaceChange =
            switch generator.below(4) {
            case 0: .restore
            case 1: .copyState((0..<3).map { _ in name() })
            default: .restoreOntoNewDisk
            }
        scene.append(.world(.place(change)))
        for _ in 0..<(1 + generator.below(2)) {
            scene.append(.run(plainRun(direction, deletes: true)))
        }
        return scene
    }

    private mutating func vanishing() -> [Operation] {
        let direction: ToolRun.Direction = generator.oneIn(3) ? .sync : .push
        var scene: [Operation] = [.world(.place(.fill(name(), count: 4 + generator.below(24))))]
        scene += edits(1)
        scene.append(.run(plainRun(direction, deletes: false)))
        scene += edits(generator.below(2))
        var run = plainRun(direction, deletes: true)
        run.meanwhile = [
            ToolRun.Meanwhile(
                request: 1 + generator.below(1 + generator.below(6)),
                isAfter: generator.oneIn(2),
                change: .place(generator.oneIn(3) ? .moveAway : .remove)
            )
        ]
        scene.append(.run(run))
        return scene
    }

    private mutating func lagging() -> [Operation] {
        var scene = edits(1 + generator.below(3))
        scene.append(.run(plainRun(.sync, deletes: false)))
        var run = plainRun(generator.pick([.sync, .sync, .pull]), deletes: true)
        let rate = generator.pick([3_000, 10_000])
        run.faults = FaultPlan(seed: generator.next() >> 12, rates: ["staleListing": rate])
        run.trashDays = generator.pick([0, 7])
        scene.append(.run(run))
        return scene
    }

    private mutating func mounts() -> [Operation] {
        let place = name()
        let isOther = generator.oneIn(2)
        var scene: [Operation] = [.world(.place(.mount(place, isOtherDevice: isOther)))]
        scene.append(.world(.place(.fill(place, count: 1 + generator.below(4)))))
        scene += edits(generator.below(3))
        scene.append(.run(plainRun(.push, deletes: true)))
        scene.append(.world(.place(.unmount(place))))
        scene += edits(generator.below(2))
        scene.append(.run(plainRun(.push, deletes: true)))
        if generator.oneIn(2) {
            scene.append(.world(.place(.mount(place, isOtherDevice: isOther))))
            scene.append(.run(plainRun(.push, deletes: true)))
        }
        return scene
    }

    private mutating func nested(_ ending: ToolRun.Direction) -> [Operation] {
        let place = name()
        let files = [".osssync/config", ".osssync/manifest.db", ".OSSSYNC/marker"]
        var scene: [Operation] = [.world(.place(.nest(place)))]
        if generator.oneIn(2) { scene.append(.run(plainRun(sends(ending), deletes: true))) }
        for _ in 0..<(1 + generator.below(3)) {
            let key = ObjectKey(place.key.bytes + [UInt8]("/\(generator.pick(files))".utf8))
            scene.append(.world(.remote(.put(Name(key), size: size()))))
        }
        var run = plainRun(generator.pick([.pull, .sync, .push]), deletes: true)
        run.deletesExtra = run.direction != .sync && generator.oneIn(2)
        scene.append(.run(run))
        return scene
    }

    private mutating func secondRemote() -> [Operation] {
        var scene = edits(1 + generator.below(3))
        let rounds = 1 + generator.below(2)
        for _ in 0..<rounds {
            scene.append(.run(plainRun(.push, deletes: true)))
            scene.append(.world(.place(.pushElsewhere(seed: generator.next() >> 12))))
            scene += edits(1)
        }
        scene.append(.run(plainRun(.push, deletes: true)))
        return scene
    }

    private mutating func clocks(_ ending: ToolRun.Direction) -> [Operation] {
        let place = name()
        var scene: [Operation] = [.world(.local(.write(place, size: 8 + generator.below(64))))]
        scene.append(.run(plainRun(sends(ending), deletes: true)))
        scene.append(.world(.local(.alter(place))))
        scene.append(.run(plainRun(sends(ending), deletes: true)))
        if generator.oneIn(2) {
            scene.append(.world(.local(.delete(name()))))
            scene.append(.world(.remote(.delete(name()))))
            scene.append(.run(plainRun(.sync, deletes: true)))
            let jump = generator.pick([-2_592_000, 2_592_000, 604_800, 1_209_600])
            scene.append(.world(.state(.setClock(by: Int64(jump)))))
            scene.append(.run(plainRun(generator.pick([.pull, .sync]), deletes: true)))
        }
        if generator.oneIn(2) { scene.append(.world(.remote(.alter(place)))) }
        scene.append(.run(plainRun(generator.pick([.pull, .sync]), deletes: true)))
        return scene
    }

    /// A run is killed after its upload, the file is changed, and another run comes.
    private mutating func killed() -> [Operation] {
        let place = name()
        var scene: [Operation] = [.world(.local(.write(place, size: 20 + generator.below(400))))]
        if generator.oneIn(2) { scene.append(.run(plainRun(.sync, deletes: true))) }
        scene.append(.world(.local(.alter(place))))
        var run = plainRun(generator.pick([.push, .sync]), deletes: true)
        run.interruption = ToolRun.Interruption(
            kind: .kill,
            place: generator.pick([.answer, .step]),
            number: 1 + generator.below(1 + generator.below(300)),
            seed: generator.next() >> 12,
            mode: 0
        )
        scene.append(.run(run))
        scene.append(.world(.local(.alter(place))))
        scene.append(.run(plainRun(.sync, deletes: true)))
        return scene
    }

    private mutating func writers() -> [Operation] {
        if generator.oneIn(3) { return killed() }
        var scene = edits(2)
        scene.append(.run(plainRun(.push, deletes: true)))
        scene += edits(1 + generator.below(3))
        var run = plainRun(generator.pick([.push, .sync]), deletes: true)
        run.connections = 1
        run.meanwhile = (0..<(1 + generator.below(3))).map { _ in
            ToolRun.Meanwhile(
                request: 1 + generator.below(12),
                isAfter: generator.oneIn(2),
                change: .remote(generator.oneIn(2) ? .alter(name()) : .alterAsked)
            )
        }
        scene.append(.run(run))
        return scene
    }

    private mutating func tight() -> [Operation] {
        let places = (0..<(3 + generator.below(4))).map { _ in name() }
        var scene: [Operation] = places.map { place in
            .world(.remote(.put(place, size: 60_000 + generator.below(40_000))))
        }
        scene.append(.run(plainRun(.pull, deletes: true)))
        for place in places where !generator.oneIn(3) {
            scene.append(.world(.remote(.rename(from: place, to: name()))))
        }
        scene.append(.run(plainRun(.pull, deletes: true)))
        return scene
    }
}

// MARK: - What a writer of the bucket does

extension HistoryGenerator {
    private static let ignorable = ["a", "A", "b", "c.txt", "d", "con"]

    private mutating func hostile(_ ending: ToolRun.Direction) -> [Operation] {
        var scene: [Operation] = []
        for _ in 0..<(1 + generator.below(3)) {
            scene += hostileChanges(ending)
            let direction = generator.oneIn(2) ? ending : generator.pick([.pull, .sync, .push])
            var run = plainRun(direction, deletes: generator.oneIn(2))
            if generator.oneIn(3) { run.deletionLimit = 0 }
            scene.append(.run(run))
        }
        return scene
    }

    private mutating func hostileChanges(_ ending: ToolRun.Direction) -> [Operation] {
        let place = name()
        switch generator.below(9) {
        case 0:
            // What is recorded here gets something beneath its name.
            return [
                .world(.remote(.put(place, size: size()))), .run(plainRun(.pull, deletes: false)),
                .world(.remote(.marker(place))),
            ]
        case 1:
            return [
                .world(.remote(.put(place, size: size()))), .run(plainRun(.sync, deletes: false)),
                .world(.remote(.delete(place))), .world(.remote(.marker(place))),
            ]
        case 2: return [.world(.remote(.linkOutside(place)))]
        case 3:
            let hidden = generator.pick(Self.ignorable)
            return [
                .world(.place(.ignore([hidden]))), .world(.local(.write(Name(hidden), size: 40))),
                .run(plainRun(.sync, deletes: false)), .world(.remote(.ignore(["zzz"]))),
                .run(plainRun(.sync, deletes: false)),
            ]
        case 4: return [.world(.remote(.ignore([])))]
        case 5:
            let size = 600 + generator.below(600)
            return [
                .world(.remote(.put(place, size: size))), .run(plainRun(.pull, deletes: false)),
                .world(.remote(.putTwin(name(), of: place))),
            ]
        case 6: return [.world(.remote(.put(odd(place), size: size())))]
        default:
            return [
                .world(.remote(.put(odd(place), size: size()))), .world(.remote(.marker(place))),
            ]
        }
    }

    /// A key that no file can have, or should.
    private mutating func odd(_ place: Name) -> Name {
        let ends = [
            "/.osssync/config", "/.osssync/manifest.db", "/.OssSync/marker", "//b", "/../b", "/./b",
            "/.osssync-0123456789abcdef0123456789abcdef", "/" + String(repeating: "n", count: 300),
        ]
        if generator.oneIn(8) { return Name(".osssyncignore/x") }
        return Name(ObjectKey(place.key.bytes + [UInt8](generator.pick(ends).utf8)))
    }
}
