internal import CVirtualFiles
internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// One use of the program, from its start to its end of whatever kind.
extension World {
    /// A run of a simulation that needs more pieces of work than this does not end.
    ///
    /// Each range of an encrypted object comes with a whole block of it, however small it is.
    private var stepLimit: Int { setup.isEncrypted == true ? 4_000_000 : 400_000 }
    private static let requestLimit = 30_000
    /// What a process may still do after it was told to stop.
    private static let stopLimit = Duration.seconds(2)

    func carryOut(_ options: ToolRun, isStatus: Bool = false) {
        runCount += 1
        let run = RunState(options, number: runCount, isStatus: isStatus)
        self.run = run
        statistics.runs += 1
        let tool = options.tool.map { " \($0)" } ?? ""
        trace("run \(runCount) \(options.direction)\(tool) seed \(options.seed)")
        begin(run)
        scheduler.begin(seed: options.seed, order: options.order)
        start(run, through: client(VirtualTransport(world: self, run: run), run.storeObserver))
        let end = scheduler.run(limit: stepLimit) { run.isFinished || run.isDead }
        switch end {
        case .finished: break
        case .stuck: report(.termination, "nothing is left to do and the run is not at its end")
        case .stepsUsedUp: report(.termination, "the run does not end")
        }
        if run.requests > Self.requestLimit {
            report(.termination, "the run made \(run.requests) requests")
        }
        if case .finished = end {
            scheduler.settle()
            if !run.isDead { finishRival(run) }
        }
        let task = run.task
        run.task = nil
        statistics.requests += run.requests
        statistics.calls += run.calls
        statistics.add(run.dice.counts)
        if run.isDead { bury(run, task) } else { close(run) }
        self.run = nil
        lastRun = run
        if run.rootIsGone {
            disk.unseen { standUpAgain() }
            lookAround()
        }
    }

    private func begin(_ run: RunState) {
        disk.unseen { tree.scan(model.contents) }
        model.look(tree)
        model.beginRun()
        beginWider(run)
        beginLimited(run)
        run.startOfRun = scheduler.elapsed
        run.recordedHost = recordedHost
        doubted = []
        run.isDirectoryEmpty = model.tree.isEmpty
        run.filesAtStart = Set(model.seenInRun.keys)
        run.changedAtStart = model.changed
        run.equalAtStart = equalKeys(run)
        for key in run.equalAtStart.keys {
            run.treeAtStart[key] = Self.relative(key).flatMap { model.tree[$0] }
        }
        for (key, object) in service.bucket.objects {
            if let path = Self.relative(key) { run.serialsAtStart[path] = object.serial }
        }
        disk.onCall = { [weak self] call in self?.judge(call) ?? 0 }
    }

    private func start(_ run: RunState, through client: StorageClient) {
        let engine = MirrorEngine(settings: settings(client, run))
        let options = run.options.engineOptions(setup)
        let tool = run.options.tool
        let direction = run.options.engineDirection
        run.task = Task(executorPreference: scheduler) {
            do {
                if run.isStatus {
                    run.report = try await engine.status(options: options)
                } else if tool == .cancel {
                    _ = try await engine.cancelTransfers(path: nil)
                } else if tool == .free {
                    _ = try await engine.free(self.freeOptions(run)) { file in
                        self.heard(file, run)
                    }
                } else if tool == .verify || tool == .repair {
                    var verifying = VerifyOptions()
                    verifying.repairs = tool == .repair
                    _ = try await engine.verify(verifying) { finding in
                        if finding.kind == .damaged { run.foundDamaged.insert(finding.displayKey) }
                    }
                } else {
                    run.summary = try await engine.run(direction, options: options) { event in
                        self.heard(event, run)
                    }
                }
            } catch let error as TransferError {
                run.failure = error
            } catch {
                preconditionFailure("a run throws nothing else: \(error)")
            }
            run.isFinished = true
        }
    }

    func client(
        _ transport: any HTTPSending,
        _ storeObserver: StoreObserver? = nil,
        in environment: StorageEnvironment? = nil
    ) -> StorageClient {
        let scheduler = scheduler
        let ownEnvironment = StorageEnvironment(
            now: { self.wallTime },
            sleep: { try await scheduler.sleep($0) },
            randomUnit: { scheduler.randomUnit() },
            observe: { storeObserver?.observe($0) }
        )
        let secret = Credentials(accessKeyID: "key", accessKeySecret: Secret(Self.canarySecret))
        var network = NetworkSettings()
        network.stallTimeout = .seconds(3)
        network.retry = RetryPolicy(
            attempts: setup.attempts,
            base: .milliseconds(20),
            throttleBase: .milliseconds(50),
            cap: .milliseconds(500),
            retryAfterCap: .seconds(2),
            runBudget: 60
        )
        let configuration = StorageConfiguration(
            dialect: service.dialect,
            endpoint: Self.endpoint,
            bucket: Self.bucketName,
            signatureVersion: service.isOSS ? .v1 : .v4,
            credentials: StaticCredentials(secret),
            network: network
        )
        return StorageClient(
            configuration: configuration,
            environment: environment ?? ownEnvironment,
            transport: transport
        )
    }

    static let canarySecret = "canary-of-the-secret"

    private static let endpoint: Endpoint = {
        do {
            return try Endpoint(
                parsing: "https://store.test",
                region: "cn-hangzhou",
                addressing: .virtual
            )
        } catch {
            preconditionFailure("the endpoint is well formed: \(error)")
        }
    }()

    func settings(_ client: StorageClient, _ run: RunState) -> MirrorSettings {
        let scheduler = scheduler
        var environment = EngineEnvironment(
            now: { self.wallTime },
            monotonic: { scheduler.elapsed },
            sleep: { try await scheduler.sleep($0) },
            randomUnit: { scheduler.randomUnit() },
            hostName: "host"
        )
        environment.threads = scheduler.threads
        var settings = MirrorSettings(
            directory: VirtualDisk.mirror,
            stateDirectory: keepsStateInside ? nil : disk.stateDirectory,
            homeDirectory: nil,
            prefix: Self.prefix,
            identity: RemoteIdentity(
                dialect: service.dialect.name,
                endpointHost: host,
                bucket: Self.bucketName,
                prefix: "mirror/",
                encryption: setup.isEncrypted == true ? SealedObjects.cipher.check : nil
            ),
            displayRemote: "remote",
            store: setup.isEncrypted == true ? SealedStore(client, SealedObjects.cipher) : client,
            storeObserver: run.storeObserver,
            environment: environment
        )
        settings.systemCalls = SystemCalls(usesOpenat2: setup.usesOpenat2, faults: nil)
        settings.systemCalls.bootIDPath = VirtualDisk.bootIDPath
        settings.limits = RunLimits(
            transfer: TransferLimits(
                streamsPerFile: 3,
                checkpointInterval: max(64, setup.uncheckpointed / 2),
                maximumUncheckpointed: setup.uncheckpointed
            ),
            largeItem: 8_192,
            smallestWorthAsking: setup.smallestWorthAsking,
            smallestSearchable: 0,
            laneCapacity: 16,
            rowsPerListing: setup.rowsPerListing,
            publicationGroup: setup.publicationGroup,
            batch: setup.batch
        )
        return settings
    }

    // MARK: - The end

    /// The process ended by itself.
    private func close(_ run: RunState) {
        disk.onCall = nil
        trace("ended \(run.outcome)")
        if let cancelledAt = run.cancelledAt, scheduler.elapsed - cancelledAt > Self.stopLimit {
            let late = scheduler.elapsed - cancelledAt
            report(.termination, "the run ended \(late) after it was told to")
        }
        let open = virtual_files_open_descriptors()
        if open > 0 {
            let places = VirtualDisk.openPlaces().joined(separator: ", ")
            report(.boundedResources, "\(open) descriptors are open after the run: \(places)")
        }
        look(run)
        judgeEnd(of: run)
    }

    /// The process is gone; the machine stays on, or comes back.
    private func bury(_ run: RunState, _ task: Task<Void, Never>?) {
        disk.onCall = nil
        guard let interruption = run.options.interruption else { return }
        // Its code runs to its end, and can do nothing any more.
        task?.cancel()
        run.rival?.task?.cancel()
        let end = scheduler.run(limit: stepLimit / 4) {
            run.isFinished && run.rival?.isFinished ?? true
        }
        let isPowerCut = interruption.kind == .powerCut
        virtual_files_reboot(
            isPowerCut ? VIRTUAL_FILES_POWER : VIRTUAL_FILES_PROCESS,
            interruption.seed,
            virtual_files_power_mode(UInt32(interruption.mode))
        )
        if case .finished = end { virtual_files_reclaim() } else { scheduler.drop() }
        trace("died at \(run.crashPoint ?? "?") \(interruption.kind)")
        statistics.crash(run.crashPoint ?? "?", isPowerCut: isPowerCut)
        disk.setTime(wallTime)
        if isPowerCut { disk.unseen { writeBootID() } }
        tree.forget()
        judgeCrash(of: run, isPowerCut: isPowerCut)
    }
}

extension ToolRun {
    var engineDirection: SyncDirection {
        switch direction {
        case .pull: .pull
        case .push: .push
        case .sync: .sync
        }
    }

    func engineOptions(_ setup: Setup) -> RunOptions {
        let policy: ConflictPolicy =
            switch conflicts {
            case .keepBoth: .keepBoth
            case .local: .local
            case .remote: .remote
            case .skip: .skip
            case .fail: .fail
            }
        var options = RunOptions.standard
        options.isDryRun = isDryRun
        options.deletesKnown = deletesKnown
        options.deletesExtra = deletesExtra
        options.deletionLimit = deletionLimit.map { .count($0) } ?? .percent(deletionPercent)
        options.allowsEmpty = allowsEmpty
        options.allowsRebinding = allowsRebinding
        options.replacesLocalChanges = replacesLocalChanges
        options.conflictPolicy = policy
        options.comparesContent = comparesContent
        options.connectionLimit = connections
        options.partSize = partSize
        options.trashDays = trashDays
        options.names = setup.names
        options.filter.bounds.maximumSize = maximumSize
        if excludesTags == true { options.filter.tags.names = [WideState.tagName] }
        options.paths = (paths ?? []).map { String(decoding: $0.key.bytes, as: UTF8.self) }
        for name in excluded ?? [] {
            do {
                try options.filter.exclude(name)
            } catch {
                preconditionFailure("the pattern is a name: \(error.message)")
            }
        }
        return options
    }
}
