internal import OSSSync

/// `osssync doctor`.
struct DoctorCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let doctor = MirrorDoctor(directory: context.place?.directory, sources: context.sources)
        let checksWrite = context.arguments.has(.checkWrite)
        if checksWrite, context.place == nil {
            context.complain("--check-write needs DIR; nothing was written")
        }
        var findings = await doctor.examine(checksWrite: checksWrite)
        if let directory = context.place?.directory, let lost = context.lostLink(directory) {
            findings.removeAll { $0.subject == "configuration" }
            let unmounted = DoctorFinding(subject: "configuration", state: .bad, message: lost)
            findings.insert(unmounted, at: 0)
        }
        let age = try context.arguments.value(of: .maximumAge, .time("26h or 2d"))
        if let age, let old = await tooOld(age) {
            findings.removeAll { $0.subject == old.subject }
            findings.append(old)
        }
        let end = findings.firstIndex { ["run", "last run", "last success"].contains($0.subject) }
        let here = time() + (await damage()) + (await trash()) + timers()
        findings.insert(contentsOf: here, at: end ?? findings.endIndex)
        if Task.isCancelled { throw UsageError.interrupted }
        for finding in findings {
            if context.output.isJSON {
                context.say([
                    "event": "finding",
                    "subject": finding.subject,
                    "state": finding.state.rawValue,
                    "message": finding.message,
                ])
            } else {
                context.say("\(Self.mark(finding.state))  \(finding.subject): \(finding.message)")
            }
        }
        return findings.contains { $0.state == .bad } ? .incomplete : .success
    }

    /// What is wrong if no run has been complete for so long; nil if one has.
    private func tooOld(_ age: Duration) async -> DoctorFinding? {
        func finding(_ message: String) -> DoctorFinding {
            DoctorFinding(subject: "last success", state: .bad, message: message)
        }
        let limit = elapsedText(age / .seconds(1))
        guard context.place != nil else { return finding("--max-age needs DIR or --all") }
        do {
            let last = try await context.localMirror().lastSuccess().values.max()
            guard let last else { return finding("no complete run of the whole mirror yet") }
            if last.isInFuture {
                return finding(
                    "\(last.localText) (\(CommandContext.zoneText)) is in the future: the clock "
                        + "was wrong then, or is now; the next complete run settles it"
                )
            }
            guard WallClock.now().seconds - last.secondsSince1970 > age.components.seconds else {
                return nil
            }
            return finding(
                "\(last.localText) (\(CommandContext.zoneText)), longer ago than \(limit); "
                    + "'osssync log DIR' shows why runs failed"
            )
        } catch {
            return finding(EventText.failure(error))
        }
    }

    /// What time of the bucket the directory has; nothing for the bucket as it is.
    private func time() -> [DoctorFinding] {
        guard let time = context.place.flatMap({ _ in try? context.localMirror().recordedTime() })
        else { return [] }
        let command = "'osssync pull --as-of \(time.text)'"
        let message = "the directory has the bucket as of a time; only \(command) runs in it"
        return [DoctorFinding(subject: "time", state: .good, message: message)]
    }

    /// How many files were found damaged.
    private func damage() async -> [DoctorFinding] {
        guard context.place != nil,
            let count = try? await context.localMirror().damagedFiles(), count > 0
        else { return [] }
        let files = countText(count, "file was", "files were")
        let message =
            "\(files) found damaged, and no run replaces or deletes the objects; "
            + "'osssync verify --repair DIR' downloads them again"
        return [DoctorFinding(subject: "damage", state: .bad, message: message)]
    }

    /// What is in the trash here; nothing before the first run.
    private func trash() async -> [DoctorFinding] {
        guard let directory = context.place?.directory, isDirectory(directory) else { return [] }
        do {
            guard let report = try await context.localMirror().trash.size() else { return [] }
            let files = countText(report.files, "file", "files")
            let message = "\(files) in the trash here (\(sizeText(report.bytes)))"
            return [DoctorFinding(subject: "trash", state: .good, message: message)]
        } catch {
            let message = EventText.failure(error)
            return [DoctorFinding(subject: "trash", state: .warning, message: message)]
        }
    }

    /// What starts runs of the directory.
    private func timers() -> [DoctorFinding] {
        guard let directory = context.place?.directory else { return [] }
        let schedules = Schedule.all(
            of: absolutePath(directory),
            context.sources.options.stateDirectory.map(absolutePath)
        )
        var findings: [DoctorFinding] = []
        func add(_ state: DoctorFinding.State, _ message: String) {
            findings.append(DoctorFinding(subject: "timer", state: state, message: message))
        }
        for format in ScheduleFormat.allCases {
            let installer = ScheduleInstaller(format, context)
            do throws(TransferError) {
                for timer in try installer.timers(of: schedules) {
                    let what = "\(timer.direction.rawValue) by \(timer.name)"
                    add(
                        timer.problem == nil ? .good : .warning,
                        what + (timer.problem.map { ": " + $0 } ?? "")
                    )
                }
            } catch {
                add(.warning, error.message)
            }
        }
        if findings.isEmpty {
            add(.good, "none for this directory; 'osssync schedule' creates one")
        }
        return findings
    }

    private static func mark(_ state: DoctorFinding.State) -> String {
        switch state {
        case .good: "ok   "
        case .warning: "note "
        case .bad: "WRONG"
        }
    }
}
