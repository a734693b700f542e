internal import SyncTestSupport

/// Scenes in which local copies are removed to free the disk.
extension HistoryGenerator {
    mutating func freed(_ ending: ToolRun.Direction) -> [Operation] {
        let places = [Name("f/a"), Name("f/d/b"), name()]
        let directions = [sends(ending), .push, .sync, .pull]
        var scene: [Operation] = places.map { .world(.local(.write($0, size: 20 + size()))) }
        // Without it, a file is read again because it was written just before it was recorded.
        if generator.oneIn(2) { scene.append(.world(.state(.wait(60)))) }
        scene.append(.run(plainRun(sends(ending), deletes: true)))
        if generator.oneIn(4) { scene.append(.world(.state(.saveManifest))) }
        scene += doubts(generator.pick(places))
        scene.append(.run(freeing(places)))
        for _ in 0..<(2 + generator.below(4)) {
            scene += changeOfFreed(places)
            var run = plainRun(generator.pick(directions), deletes: !generator.oneIn(6))
            run.allowsEmpty = true
            run.deletesExtra = generator.oneIn(4)
            run.comparesContent = generator.oneIn(6)
            scene.append(.run(run))
        }
        return scene
    }

    /// What makes a file differ from what is recorded, or seem to.
    private mutating func doubts(_ place: Name) -> [Operation] {
        switch generator.below(8) {
        case 0, 1: [.world(.wide(.alterKeepingTime(place)))]
        case 2: [.world(.local(.chmod(place, mode: 0o600)))]
        case 3: [.world(.local(.touch(place)))]
        case 4: [.world(.local(.alter(place)))]
        case 5: [.world(.remote(.alter(place)))]
        default: []
        }
    }

    private mutating func freeing(_ places: [Name]) -> ToolRun {
        var run = plainRun(.push, deletes: false)
        run.allowsRebinding = false
        run.tool = .free
        switch generator.below(5) {
        case 0: run.paths = [generator.pick(places)]
        case 1: run.paths = nil
        default: run.paths = [Name("f")]
        }
        guard generator.oneIn(4) else { return run }
        run.interruption = ToolRun.Interruption(
            kind: generator.pick([.kill, .powerCut, .cancel]),
            place: generator.pick([.change, .name]),
            number: 1 + generator.below(20),
            seed: generator.next() >> 12,
            mode: generator.pick([0, 1, 2])
        )
        return run
    }

    private mutating func changeOfFreed(_ places: [Name]) -> [Operation] {
        let place = generator.pick(places)
        switch generator.below(16) {
        case 0: return [.world(.state(.deleteManifest))]
        case 1: return [.world(.state(.restoreManifest))]
        case 2: return [.world(.wide(.loseFreedList))]
        case 3: return [.world(.remote(.alter(place)))]
        case 4: return [.world(.remote(.put(Name("f/new"), size: 40)))]
        case 5: return [.world(.remote(.delete(place)))]
        case 6: return [.world(.local(.write(place, size: 30)))]
        case 7: return [.world(.local(.write(place, size: 30))), .world(.local(.delete(place)))]
        case 8: return [.world(.local(.delete(Name("f"))))]
        case 9: return [.world(.local(.rename(from: name(), to: place)))]
        case 10: return [.run(freeing(places))]
        case 11, 12:
            var run = plainRun(generator.pick([.pull, .pull, .sync]), deletes: generator.oneIn(2))
            run.paths = [generator.pick([place, Name("f")])]
            run.allowsRebinding = false
            return [.run(run)]
        case 13: return [.world(.wide(.runElsewhere(seed: generator.next() >> 12, trashDays: 7)))]
        case 14: return [.world(.local(.write(Name("f/own"), size: 25)))]
        default: return []
        }
    }
}
