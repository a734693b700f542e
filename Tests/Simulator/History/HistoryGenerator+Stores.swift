internal import SyncTestSupport

/// Scenes of `WideKind` with files that grow, and with stores that are not like the services.
extension HistoryGenerator {
    mutating func growing() -> [Operation] {
        let log = name()
        let gone = name()
        var scene: [Operation] = [
            .world(.local(.write(log, size: generator.pick([30, 900, 20_000])))),
            .world(.local(.write(gone, size: 60))),
        ]
        scene.append(.run(plainRun(.push, deletes: true)))
        if !generator.oneIn(3) { scene.append(.world(.local(.delete(gone)))) }
        scene.append(.world(.local(.append(log, size: 1 + generator.below(300)))))
        var run = plainRun(generator.pick([.push, .push, .sync]), deletes: true)
        run.allowsRebinding = false
        run.connections = 1
        // As a log does, all the time, or now and then.
        let count = generator.pick([1, 2, 25])
        let first = 1 + generator.below(6)
        run.meanwhile = (0..<count).map { number in
            ToolRun.Meanwhile(
                request: count > 2 ? first + number : 1 + generator.below(8),
                isAfter: generator.oneIn(2),
                change: .wide(.grow(log, size: 1 + generator.below(200)))
            )
        }
        scene.append(.run(run))
        scene.append(.run(plainRun(.push, deletes: true)))
        return scene
    }

    mutating func parts(_ ending: ToolRun.Direction) -> [Operation] {
        let place = name()
        func send(_ change: (inout ToolRun) -> Void = { _ in }) -> Operation {
            var run = plainRun(sends(ending), deletes: true)
            run.allowsRebinding = false
            run.partSize = 64
            change(&run)
            return .run(run)
        }
        var scene: [Operation] = [.world(.local(.write(place, size: 512 + generator.below(2_000))))]
        scene.append(send())
        for _ in 0..<(1 + generator.below(3)) {
            switch generator.below(6) {
            case 0: scene.append(.world(.local(.append(place, size: 1 + generator.below(300)))))
            case 1: scene.append(.world(.remote(.alter(place))))
            default: scene.append(.world(.local(.alter(place))))
            }
            let interruption = ToolRun.Interruption(
                kind: generator.pick([.kill, .powerCut, .cancel]),
                place: generator.pick([.answer, .write]),
                number: 1 + generator.below(20),
                seed: generator.next() >> 12,
                mode: 0
            )
            // What was just written is sent anew after a kill.
            scene.append(.world(.state(.wait(60))))
            let isKilled = generator.oneIn(3)
            let other = WideChange.grow(place, size: 9)
            let grows = generator.oneIn(5)
            scene.append(
                send { run in
                    if isKilled { run.interruption = interruption }
                    guard grows else { return }
                    run.meanwhile = [
                        ToolRun.Meanwhile(request: 4, isAfter: false, change: .wide(other))
                    ]
                }
            )
            // An upload goes on only with the file that it began with.
            if isKilled { scene.append(send()) }
        }
        return scene
    }

    mutating func ports(_ ending: ToolRun.Direction) -> [Operation] {
        var scene: [Operation] = edits(2)
        scene.append(.world(.remote(.put(name(), size: size()))))
        scene.append(.run(plainRun(.sync, deletes: true)))
        scene.append(.world(.wide(.changePort)))
        for _ in 0..<(1 + generator.below(3)) {
            scene.append(.world(.remote(makeRemoteChange())))
            var run = plainRun(generator.pick([.pull, .push, .sync]), deletes: true)
            run.allowsRebinding = generator.oneIn(4)
            scene.append(.run(run))
        }
        if generator.oneIn(2) { scene.append(.world(.wide(.changePort))) }
        scene.append(.run(plainRun(ending, deletes: true)))
        return scene
    }

    mutating func emptyHeads() -> [Operation] {
        let places = [name(), name(), name()]
        var scene: [Operation] = places.map { .world(.remote(.put($0, size: 30 + size()))) }
        if generator.oneIn(2) { scene.append(.run(plainRun(.pull, deletes: true))) }
        for place in places { scene.append(.world(.remote(.alter(place)))) }
        var run = plainRun(generator.pick([.pull, .pull, .sync]), deletes: true)
        run.connections = 1 + generator.below(2)
        run.meanwhile = (0..<(1 + generator.below(2))).map { _ in
            ToolRun.Meanwhile(
                request: 1 + generator.below(6),
                isAfter: false,
                change: .remote(generator.oneIn(2) ? .alter(generator.pick(places)) : .alterAsked)
            )
        }
        scene.append(.run(run))
        scene.append(.run(plainRun(.pull, deletes: true)))
        return scene
    }

    /// Changes of both sides, renames among them, and runs.
    mutating func busy(_ ending: ToolRun.Direction) -> [Operation] {
        var scene: [Operation] = edits(2 + generator.below(5))
        scene.append(.run(plainRun(sends(ending), deletes: true)))
        for _ in 0..<(1 + generator.below(2)) {
            for _ in 0..<(1 + generator.below(4)) {
                scene.append(.world(.local(.delete(name()))))
                scene.append(.world(.local(makeLocalChange())))
            }
            if generator.oneIn(2) { scene.append(.world(.remote(makeRemoteChange()))) }
            scene.append(.run(plainRun(generator.pick([.push, .sync, ending]), deletes: true)))
        }
        return scene
    }

    mutating func folders(_ ending: ToolRun.Direction) -> [Operation] {
        let places = [name(), name()]
        var scene: [Operation] = places.map { .world(.local(.write($0, size: 40))) }
        scene.append(.run(plainRun(sends(ending), deletes: true)))
        for place in places where !generator.oneIn(3) {
            scene.append(.world(.local(.flip(place, size: 30 + generator.below(9_000)))))
        }
        for _ in 0..<(1 + generator.below(2)) {
            scene.append(.run(plainRun(sends(ending), deletes: true)))
        }
        return scene
    }
}
