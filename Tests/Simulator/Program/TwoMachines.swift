internal import CVirtualFiles
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel
internal import SyncTestSupport

/// Two machines with a directory and a manifest each, and one bucket between them.
///
/// Their users change files, each machine syncs now and then, nothing fails. At the end both sync
/// in turn until nothing moves any more: that must come, and whatever no user replaced or removed
/// where it was must be somewhere.
///
/// Unchecked, because a simulation has one thread.
final class TwoMachines: @unchecked Sendable {
    private static let roots = [VirtualDisk.mirror, "/virtual/second"]
    private static let names: [Name] = [
        "a", "a/b", "A", "b", "b/c", "c.txt", "\u{E9}", "e\u{301}", "d/e/f", "d",
    ]
    .map { Name($0) }
    private static let roundsToRest = 8

    private let world: World
    private let transport: PlainTransport
    private let deletes: Bool
    /// Local copies are removed now and then, in one seed of four: the others stay as they are.
    private let frees: Bool
    private var generator: SeededGenerator
    private var trees: [DiskTree]
    private var contents = Contents()
    private var made: Set<ContentID> = []
    /// What a user replaced or removed where it was.
    private var letGo: Set<ContentID> = []
    private var problems: [String] = []

    private init(_ seed: UInt64, showsTrace: Bool) {
        generator = SeededGenerator(seed: seed)
        deletes = generator.oneIn(2)
        frees = seed % 4 == 3
        var setup = Setup()
        // Both have one password.
        if seed % 5 == 4 { setup.isEncrypted = true }
        let history = History(seed: seed, setup: setup, operations: [], ending: .sync)
        let world = World(history, keepsTrace: showsTrace)
        self.world = world
        var service = VirtualService(
            dialect: generator.oneIn(2) ? .oss : .s3,
            bucketName: World.bucketName,
            pageSize: 1 + generator.below(8)
        )
        service.now = world.now
        service.bucket.isSealed = setup.isEncrypted == true
        transport = PlainTransport(service, now: { world.now })
        trees = Self.roots.map { root in
            var tree = DiskTree()
            tree.root = root
            tree.stateDirectory = root + "/.osssync"
            return tree
        }
    }

    /// Plays histories; the exit status.
    static func run(_ seeds: Range<UInt64>, showsTrace: Bool) -> Int32 {
        var failed = 0
        for seed in seeds {
            let machines = TwoMachines(seed, showsTrace: showsTrace)
            machines.play()
            for line in machines.world.scheduler.trace.lines where showsTrace { print(line) }
            for problem in machines.problems.prefix(5) { print("seed \(seed): \(problem)") }
            if !machines.problems.isEmpty { failed += 1 }
        }
        print("\(seeds.count - failed) passed, \(failed) failed")
        return failed == 0 ? 0 : 1
    }

    private func play() {
        world.disk.reset(entropy: world.history.seed)
        world.disk.setTime(world.wallTime)
        DiskSettings.apply(world.setup)
        for root in Self.roots { DiskEdits.makeDirectory([UInt8](root.utf8)) }
        world.writeBootID()
        for _ in 0..<(25 + generator.below(11)) {
            world.scheduler.advance(by: .milliseconds(20))
            world.disk.setTime(world.wallTime)
            if frees, generator.oneIn(12) {
                free(generator.below(2))
            } else if generator.oneIn(4) {
                sync(generator.below(2))
            } else {
                change(generator.below(2))
            }
            guard problems.isEmpty else { return }
        }
        rest()
        judge()
    }

    // MARK: - Users

    private func full(_ machine: Int, _ name: Name) -> [UInt8] {
        [UInt8]((Self.roots[machine] + "/").utf8) + name.key.bytes
    }

    private func change(_ machine: Int) {
        let name = generator.pick(Self.names)
        let path = full(machine, name)
        trees[machine].scan(contents)
        let number = generator.below(10)
        world.scheduler.trace.say("machine \(machine) change \(number) of \(name.key.display)")
        switch number {
        case 0..<5: write(machine, name)
        case 5, 6: remove(machine, name)
        case 7:
            let other = generator.pick(Self.names)
            guard case .file? = trees[machine].entries[name.key], name != other,
                trees[machine].entries[other.key] == nil,
                DiskEdits.makeParents(of: full(machine, other))
            else { return }
            // It is still there, under the other name.
            _ = DiskEdits.rename(path, full(machine, other))
        case 8:
            // What was a file becomes a directory, or back.
            let isDirectory = trees[machine].entries[name.key] == .directory
            remove(machine, name)
            let inside = Name(ObjectKey(name.key.bytes + [UInt8]("/x".utf8)))
            write(machine, isDirectory ? name : inside)
        default:
            guard generator.oneIn(6) else { return }
            for path in trees[machine].entries.keys.sorted() { remove(machine, Name(path)) }
        }
    }

    private func write(_ machine: Int, _ name: Name) {
        let path = full(machine, name)
        guard trees[machine].entries[name.key] != .directory, DiskEdits.makeParents(of: path) else {
            return
        }
        let content = contents.make(size: 8 + generator.below(2_000))
        guard DiskEdits.write(path, contents[content], truncates: false) else { return }
        if case .file(let old?)? = trees[machine].entries[name.key] { letGo.insert(old) }
        made.insert(content)
    }

    private func remove(_ machine: Int, _ name: Name) {
        let beneath = ObjectKey(name.key.bytes + [UInt8(ascii: "/")])
        for (path, entry) in trees[machine].entries
        where path == name.key || path.hasPrefix(beneath) {
            if case .file(let content?) = entry { letGo.insert(content) }
        }
        DiskEdits.remove(full(machine, name))
        trees[machine].scan(contents)
    }

    // MARK: - Machines

    @discardableResult
    private func sync(_ machine: Int) -> RunSummary? {
        world.scheduler.trace.say("machine \(machine) syncs")
        let trace = world.scheduler
        return use(machine) { engine, options, run in
            run.summary = try await engine.run(.sync, options: options) { event in
                if case .item(let item) = event {
                    let words = "\(item.action) \(item.state) \(item.displayKey)"
                    trace.trace.say("    \(words) \(item.message ?? "")")
                }
            }
        }?.summary
    }

    /// Removes the local copies of everything that the bucket has at one path.
    private func free(_ machine: Int) {
        trees[machine].scan(contents)
        guard let path = trees[machine].entries.keys.sorted().first else { return }
        world.scheduler.trace.say("machine \(machine) frees \(path.display)")
        use(machine) { engine, options, _ in
            var options = options
            options.paths = [path.display]
            _ = try await engine.free(FreeOptions(run: options)) { _ in }
        }
    }

    /// Nil if it does not end.
    @discardableResult
    private func use(
        _ machine: Int,
        _ work: @escaping @Sendable (MirrorEngine, RunOptions, RunState) async throws -> Void
    ) -> RunState? {
        var options = world.quietOptions(isForced: false)
        options.deletesKnown = deletes
        options.allowsRebinding = false
        let run = RunState(options, number: 0, isStatus: false)
        var settings = world.settings(world.client(transport, run.storeObserver), run)
        settings.directory = Self.roots[machine]
        let engine = MirrorEngine(settings: settings)
        world.scheduler.begin(seed: generator.next(), order: .random)
        let engineOptions = options.engineOptions(world.setup)
        _ = Task(executorPreference: world.scheduler) {
            do {
                try await work(engine, engineOptions, run)
            } catch let error as TransferError {
                run.failure = error
            } catch {
                preconditionFailure("a run throws nothing else: \(error)")
            }
            run.isFinished = true
        }
        let end = world.scheduler.run(limit: 400_000) { run.isFinished }
        guard case .finished = end else {
            problems.append("machine \(machine) does not end")
            return nil
        }
        world.scheduler.settle()
        // Before its first run, there is nothing to free.
        if let failure = run.failure, failure.code != .configuration {
            problems.append("machine \(machine) failed: \(failure.message)")
        }
        return run
    }

    /// Both in turn, until nothing moves.
    private func rest() {
        for _ in 0..<Self.roundsToRest {
            var moved = 0
            for machine in 0..<2 {
                world.scheduler.advance(by: .seconds(2))
                guard let summary = sync(machine) else { return }
                moved +=
                    summary.transferred + summary.deleted + summary.renamed + summary.adopted
                    + Int(summary.bytes)
            }
            if moved == 0 { return }
        }
        problems.append("both do not come to rest")
    }

    private func judge() {
        var there: Set<ContentID> = []
        for machine in 0..<2 {
            trees[machine].scan(contents)
            for case .file(let content?) in trees[machine].entries.values {
                there.insert(content)
            }
            there.formUnion(trees[machine].trash)
            for path in trees[machine].strangers.keys {
                problems.append("'\(path.display)' of machine \(machine) is nobody's content")
            }
        }
        // What was freed is only there.
        for object in transport.service.bucket.objects.values where frees {
            if let content = contents.identify(object.bytes) { there.insert(content) }
        }
        for content in made.subtracting(letGo).subtracting(there).sorted() {
            problems.append("content \(content.number) is nowhere, and nobody removed it")
        }
    }
}
