internal import SyncModel
internal import SyncTestSupport

/// Histories of `WideKind`: scenes, woven into a history of the usual world.
extension HistoryGenerator {
    mutating func madeWide(_ history: History, _ kinds: [WideKind]) -> History {
        var history = history
        var chosen = [generator.pick(kinds)]
        if generator.oneIn(3) { chosen.append(generator.pick(kinds)) }
        history.setup.wide = chosen
        let kept = generator.pick([0, 0, 1, 2])
        history.operations.removeAll { _ in generator.below(3) >= kept }
        // What is looked for needs no faults; some seeds have both.
        if !generator.oneIn(4) { quieten(&history) }
        if generator.oneIn(2) { history.ending = generator.pick([.push, .sync]) }
        for kind in chosen {
            prepareWide(&history, for: kind)
            for _ in 0..<(1 + generator.below(2)) {
                weave(wideScene(kind, history.ending), into: &history.operations)
            }
        }
        return history
    }

    private func quieten(_ history: inout History) {
        for (index, operation) in history.operations.enumerated() {
            guard case .run(var run) = operation else { continue }
            run.faults = .none
            run.interruption = nil
            history.operations[index] = .run(run)
        }
    }

    private mutating func prepareWide(_ history: inout History, for kind: WideKind) {
        switch kind {
        case .rights, .unreadable:
            // Files are known by their inodes.
            history.setup.reusesInodes = false
        case .refused:
            history.setup.refusesOneIn = 5 + generator.below(40)
            history.setup.attempts = 5
        case .oldStore:
            if generator.oneIn(2) {
                history.setup.deletesOneByOne = true
            } else {
                history.setup.hasNoConditions = true
            }
        case .parts:
            history.setup.minimumPartSize = 64
            history.setup.spoilsCopies = generator.oneIn(2)
        case .damage, .keptTimes, .hardLinks, .hidden, .filters, .states, .growing, .ports,
            .emptyHeads, .folders, .freed:
            break
        }
    }

    private mutating func wideScene(_ kind: WideKind, _ ending: ToolRun.Direction) -> [Operation] {
        switch kind {
        case .damage: damage(ending)
        case .keptTimes: keptTimes(ending)
        case .hardLinks: hardLinks(ending)
        case .rights: rights()
        case .unreadable: unreadable()
        case .hidden: hidden(ending)
        case .filters: filters(ending)
        case .states: states()
        case .growing: growing()
        case .ports: ports(ending)
        case .emptyHeads: emptyHeads()
        case .refused, .oldStore: busy(ending)
        case .folders: folders(ending)
        case .freed: freed(ending)
        case .parts: parts(ending)
        }
    }

    private func wide(_ change: WideChange) -> Operation { .world(.wide(change)) }

    private func local(_ change: LocalChange) -> Operation { .world(.local(change)) }

    private mutating func run(
        _ direction: ToolRun.Direction,
        deletes: Bool = true,
        _ change: (inout ToolRun) -> Void = { _ in }
    ) -> Operation {
        var run = plainRun(direction, deletes: deletes)
        run.allowsRebinding = false
        change(&run)
        return .run(run)
    }

    private mutating func verification(repairs: Bool = false) -> Operation {
        run(.pull, deletes: false) { $0.tool = repairs ? .repair : .verify }
    }

    /// A name beneath a directory.
    private func inside(_ directory: Name, _ name: String) -> Name {
        Name(ObjectKey(directory.key.bytes + [UInt8]("/\(name)".utf8)))
    }

    // MARK: - Scenes of the disk

    private mutating func damage(_ ending: ToolRun.Direction) -> [Operation] {
        let place = name()
        let other = name()
        let direction = sends(ending)
        var scene = [local(.write(place, size: 30 + generator.below(3_000)))]
        if generator.oneIn(3) { scene += edits(2) }
        // What is recorded right after it was written is read again.
        scene += [.world(.state(.wait(60))), run(direction), .world(.state(.wait(60)))]
        scene.append(wide(.damage(place, seed: generator.next() >> 12)))
        switch generator.below(4) {
        case 0:
            let any = generator.pick([.push, .sync, .pull] as [ToolRun.Direction])
            scene.append(run(any) { $0.comparesContent = true })
        case 1: break
        default: scene.append(verification())
        }
        if generator.oneIn(4) { scene.append(run(direction)) }
        switch generator.below(9) {
        case 0: scene.append(local(.touch(place)))
        case 1: scene.append(local(.rename(from: place, to: other)))
        case 2: scene.append(local(.delete(place)))
        case 3:
            scene += [
                wide(.copyKeepingTime(from: place, to: other)), local(.delete(place)),
                local(.rename(from: other, to: place)),
            ]
        case 4: scene += [local(.copy(from: place, to: other)), local(.delete(place))]
        case 5: scene.append(local(.chmod(place, mode: generator.pick([0o600, 0o755]))))
        case 6:
            scene += [
                wide(.hardLink(from: place, to: other)), local(.delete(place)),
            ]
        case 7:
            scene.append(local(.rename(from: place, to: other)))
            scene.append(run(direction) { $0.paths = [place] })
        default: break
        }
        for _ in 0..<(1 + generator.below(3)) {
            let checks = generator.oneIn(3)
            let next = generator.oneIn(4) ? .pull : direction
            scene.append(run(next) { $0.comparesContent = checks })
        }
        if generator.oneIn(3) { scene.append(verification(repairs: true)) }
        return scene
    }

    private mutating func keptTimes(_ ending: ToolRun.Direction) -> [Operation] {
        let place = name()
        var scene = [local(.write(place, size: 20 + generator.below(2_000)))]
        scene.append(run(sends(ending)))
        for _ in 0..<(1 + generator.below(2)) {
            scene.append(wide(.alterKeepingTime(place)))
            if generator.oneIn(3) { scene.append(verification(repairs: generator.oneIn(2))) }
            if generator.oneIn(4) { scene.append(.world(.remote(.alter(place)))) }
            scene.append(run(generator.oneIn(4) ? .pull : sends(ending)))
        }
        return scene
    }

    private mutating func hardLinks(_ ending: ToolRun.Direction) -> [Operation] {
        let place = name()
        let others = (0..<(2 + generator.below(4))).map { number in
            generator.oneIn(3) ? name() : inside(Name("links"), "n\(number)")
        }
        var scene = [local(.write(place, size: 20 + generator.below(4_000)))]
        scene += others.map { wide(.hardLink(from: place, to: $0)) }
        scene.append(run(sends(ending)))
        for other in [place] + others where !generator.oneIn(4) {
            scene.append(.world(.remote(generator.oneIn(2) ? .alter(other) : .delete(other))))
        }
        if generator.oneIn(3) { scene.append(local(.alter(place))) }
        scene.append(run(generator.pick([.pull, .sync])))
        return scene
    }

    private mutating func makeRights() -> Rights {
        var rights = Rights(
            mode: generator.pick([0o600, 0o640, 0o644, 0o660, 0o664, 0o666, 0o400])
        )
        if generator.oneIn(2) { rights.group = WideState.otherGroup }
        if generator.oneIn(2) { rights.list = makeList() }
        return rights
    }

    private mutating func makeList() -> Rights.List {
        let bits = [0, 4, 6] as [UInt16]
        return Rights.List(
            user: generator.pick([1_001, 1_002, 1_003]),
            userBits: generator.pick(bits),
            groupBits: generator.pick(bits),
            mask: generator.pick(bits),
            others: generator.pick([0, 0, 4])
        )
    }

    private mutating func rights() -> [Operation] {
        let directory = Name("shared")
        var scene = [local(.makeDirectory(directory))]
        if generator.oneIn(2) {
            var rights = Rights(mode: generator.pick([0o755, 0o2775, 0o1777, 0o2770]))
            rights.group = generator.pick([nil, WideState.otherGroup])
            scene.append(wide(.setRights(directory, rights)))
        }
        if generator.oneIn(2) {
            var rights = Rights(mode: 0o700, list: makeList())
            rights.isInherited = true
            scene.append(wide(.setRights(directory, rights)))
        }
        let places = [inside(directory, "a"), inside(directory, "b"), name()]
        for place in places {
            if generator.oneIn(2) {
                scene.append(local(.write(place, size: 100)))
                scene.append(run(generator.pick([.push, .sync])))
            }
            if generator.oneIn(2) {
                var rights = makeRights()
                if generator.oneIn(6) { rights.owner = 1_001 }
                scene.append(wide(.setRights(place, rights)))
            }
            let size = generator.pick([50, 300, 9_000])
            scene.append(.world(.remote(.put(place, size: size))))
            if generator.oneIn(4) { scene.append(local(.write(place, size: 70))) }
        }
        for _ in 0..<(1 + generator.below(2)) {
            scene.append(run(generator.pick([.pull, .sync])))
        }
        return scene
    }

    private mutating func unreadable() -> [Operation] {
        let closed = Name("closed")
        let gone = name()
        var scene = [
            local(.write(inside(closed, "a"), size: 40)),
            local(.write(inside(closed, "d/b"), size: 50)), local(.write(gone, size: 60)),
        ]
        scene += edits(generator.below(3))
        scene.append(run(.push))
        let victim = generator.pick([closed, inside(closed, "a"), inside(closed, "d")])
        let mode: UInt32 = generator.pick([0o000, 0o700, 0o311])
        scene.append(wide(.setRights(victim, Rights(mode: mode, owner: 1_001))))
        scene.append(local(.delete(gone)))
        for _ in 0..<(1 + generator.below(2)) {
            scene.append(run(generator.pick([.push, .push, .sync])))
        }
        if generator.oneIn(2) {
            let open = Rights(mode: 0o755, owner: WideState.user)
            scene.append(wide(.setRights(victim, open)))
            scene.append(run(.push))
        }
        return scene
    }

    private mutating func hidden(_ ending: ToolRun.Direction) -> [Operation] {
        let directory = Name("h")
        let files = [inside(directory, "a"), inside(directory, "d/b"), name()]
        let tags = generator.oneIn(3)
        let direction = sends(ending)
        var scene = files.map { local(.write($0, size: 30 + generator.below(300))) }
        scene.append(run(direction))
        switch generator.below(7) {
        case 0: scene.append(wide(.moveBehindLink(directory)))
        case 1: scene.append(wide(.moveBehindLink(inside(directory, "d"))))
        case 2: scene.append(wide(.moveBehindLink(files[0])))
        case 3: scene.append(local(.replaceByFIFO(generator.pick(files))))
        case 4: scene.append(local(.replaceByLink(generator.pick(files + [directory]))))
        case 5: scene.append(wide(.tag(directory)))
        default: scene.append(wide(.putTag(directory)))
        }
        for _ in 0..<(1 + generator.below(2)) {
            scene.append(run(direction) { $0.excludesTags = tags })
            scene.append(local(.write(inside(directory, "new"), size: 40)))
        }
        scene.append(run(generator.pick([.pull, .push, .sync])) { $0.excludesTags = tags })
        return scene
    }

    private mutating func filters(_ ending: ToolRun.Direction) -> [Operation] {
        let directory = Name("f")
        let files = [inside(directory, "a"), inside(directory, "b")]
        let direction = sends(ending)
        var scene = files.map { local(.write($0, size: 200 + generator.below(2_000))) }
        scene.append(local(.write(name(), size: 20)))
        scene.append(run(direction))
        let kind = generator.below(4)
        func hide(_ run: inout ToolRun) {
            if kind == 1 { run.excluded = ["f"] }
            if kind == 2 { run.maximumSize = 100 }
            if kind == 3 { run.excludesTags = true }
        }
        if kind == 0 { scene.append(.world(.place(.ignore(["f"])))) }
        if kind == 3 { scene.append(wide(.tag(directory))) }
        let isEarly = generator.oneIn(4)
        if isEarly { scene += files.map { local(.delete($0)) } }
        for _ in 0..<(1 + generator.below(2)) { scene.append(run(direction, hide)) }
        if !isEarly, !generator.oneIn(5) { scene += files.map { local(.delete($0)) } }
        if generator.oneIn(2) { scene.append(run(generator.pick([.push, .sync, .pull]), hide)) }
        if generator.oneIn(3) { scene.append(.world(.remote(.alter(files[0])))) }
        if kind == 0 { scene.append(.world(.place(.ignore(["zzz"])))) }
        if kind == 3 { scene.append(local(.delete(inside(directory, WideState.tagName)))) }
        for _ in 0..<(1 + generator.below(2)) {
            scene.append(run(generator.pick([direction, .push, .sync, .pull])))
        }
        return scene
    }

    private mutating func states() -> [Operation] {
        let places = [name(), name()]
        var scene = places.map {
            Operation.world(.remote(.put($0, size: generator.pick([60, 700, 20_000]))))
        }
        scene.append(run(.pull))
        scene.append(wide(.runElsewhere(seed: generator.next() >> 12, trashDays: 7)))
        scene.append(.world(.remote(generator.oneIn(2) ? .delete(places[0]) : .alter(places[0]))))
        scene.append(.world(.remote(.put(name(), size: 12_000))))
        let interruption = ToolRun.Interruption(
            kind: .kill,
            place: generator.pick([.answer, .write]),
            number: 2 + generator.below(20),
            seed: generator.next() >> 12,
            mode: 0
        )
        let isKilled = generator.oneIn(2)
        scene.append(run(.pull) { if isKilled { $0.interruption = interruption } })
        let days = generator.pick([0, 7])
        scene.append(wide(.runElsewhere(seed: generator.next() >> 12, trashDays: days)))
        scene.append(run(.pull))
        return scene
    }
}
