internal import OSSBucket
internal import OSSTransfer
internal import ObjectStorage
internal import SyncEngine
internal import SyncModel

/// One thing that was looked at, and what to do about it.
package struct DoctorFinding: Sendable, Hashable {
    /// How it is.
    package enum State: String, Sendable, Hashable {
        /// As it should be.
        case good
        /// Works, but deserves a look.
        case warning
        /// Does not work.
        case bad
    }

    /// What was looked at, in one or two words.
    package let subject: String
    /// How it is.
    package let state: State
    /// What was found and, if need be, what to do; safe to print, without secrets.
    package let message: String

    /// Makes a finding; the message is to be safe to print.
    package init(subject: String, state: State, message: String) {
        self.subject = subject
        self.state = state
        self.message = message
    }
}

/// Looks at everything a run needs, changing nothing.
package struct MirrorDoctor: Sendable {
    private static let scarceBytes: Int64 = 1 << 30

    private let directory: String?
    private let sources: ConfigurationSources

    /// Creates a doctor for a directory, or only for the user's configuration.
    package init(directory: String?, sources: ConfigurationSources) {
        self.directory = directory
        self.sources = sources
    }

    /// Looks, and says what it found in the order of dependence.
    ///
    /// - Parameter checksWrite: Also begins an upload and aborts it, which makes no object.
    /// - Returns: A finding for each thing, at least one.
    package func examine(checksWrite: Bool) async -> [DoctorFinding] {
        guard let directory else {
            return await credentialsOfUser() + [
                DoctorFinding(
                    subject: "directory",
                    state: .warning,
                    message: "none was given; 'osssync doctor DIR' also checks the bucket"
                )
            ]
        }
        do {
            let mirror = try DirectoryMirror(
                directory: directory,
                remote: nil,
                allowsRebinding: false,
                sources: sources
            )
            let linked = DoctorFinding(
                subject: "configuration",
                state: .good,
                message: "'\(displayText(directory))' is linked with '\(mirror.remote.display)'"
            )
            let credentials = await Self.credentials(mirror.credentials).finding
            let missing = DoctorFinding(
                subject: "disk",
                state: .bad,
                message: "'\(displayText(directory))' cannot be opened; check that it exists and "
                    + "is yours"
            )
            return [linked, credentials] + [mirror.password].compactMap(\.self) + [mirror.place]
                + (await bucket(mirror, checksWrite))
                + [disk(directory) ?? missing] + (await remote(mirror)) + (await runs(mirror))
        } catch {
            let broken = DoctorFinding(
                subject: "configuration",
                state: .bad,
                message: error.message
            )
            // A directory that is not there is what the first finding says.
            return [broken] + [disk(directory)].compactMap(\.self)
        }
    }

    /// What keeps a run of the directory from beginning that has only these sources, without asking
    /// the bucket; none if it would begin.
    package func problems() async -> [DoctorFinding] {
        do throws(TransferError) {
            let mirror = try DirectoryMirror(
                directory: directory ?? ".",
                remote: nil,
                allowsRebinding: false,
                sources: sources
            )
            return [await Self.credentials(mirror.credentials).finding, mirror.password]
                .compactMap(\.self).filter { $0.state == .bad }
        } catch {
            return [DoctorFinding(subject: "configuration", state: .bad, message: error.message)]
        }
    }

    /// What refuses every run: another remote than that of the last one, or another directory.
    private func remote(_ mirror: DirectoryMirror) async -> [DoctorFinding] {
        do throws(TransferError) {
            try await mirror.checkRemote()
            return []
        } catch {
            guard error.code == .refused else { return [] }
            return [DoctorFinding(subject: "remote", state: .bad, message: error.message)]
        }
    }

    /// The last complete runs, and the one that is active.
    private func runs(_ mirror: DirectoryMirror) async -> [DoctorFinding] {
        func finding(_ state: DoctorFinding.State, _ message: String) -> DoctorFinding {
            DoctorFinding(subject: "last success", state: state, message: message)
        }
        do throws(TransferError) {
            let history = try await mirror.history().latest()
            var active: [DoctorFinding] = []
            if let run = history.running {
                active = [
                    DoctorFinding(
                        subject: "run",
                        state: .good,
                        message: "\(run.direction) running since \(Self.text(run.started))"
                    )
                ]
            }
            if let last = history.last, let end = last.end, end.outcome != "complete" {
                let what =
                    "\(last.direction) of \(Self.text(last.started)): \(end.outcome)"
                    + (end.message.map { ": " + $0 } ?? "; 'osssync log DIR' shows why")
                active.append(DoctorFinding(subject: "last run", state: .warning, message: what))
            }
            let texts = SyncDirection.allCases.compactMap { direction in
                history.lastSuccess[direction].map { "\(direction.rawValue) \(Self.text($0))" }
            }
            guard !texts.isEmpty else {
                let why = history.last == nil ? "" : "; 'osssync log DIR' shows why runs failed"
                let none = "no complete run of the whole mirror yet" + why
                return active + [finding(.warning, none)]
            }
            let isAhead = history.lastSuccess.values.max()?.isInFuture == true
            let text = texts.joined(separator: ", ") + (isAhead ? ", which is in the future" : "")
            return active + [finding(isAhead ? .warning : .good, text)]
        } catch {
            return [finding(.warning, error.message)]
        }
    }

    private static func text(_ time: StoreTime) -> String {
        "\(time.localText) (local time, \(time.localOffset))"
    }

    /// Checks both services, because without a directory it is unknown which one is used.
    ///
    /// To have nothing for one of them is nothing wrong.
    private func credentialsOfUser() async -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        var absences: [DoctorFinding] = []
        for (dialect, name) in [(StoreDialect.oss, "OSS"), (.s3, "S3")] {
            let (finding, isAbsence) = await credentials(for: dialect)
            let named = DoctorFinding(
                subject: finding.subject,
                state: finding.state,
                message: "\(name): \(finding.message)"
            )
            if isAbsence { absences.append(named) } else { findings.append(named) }
        }
        return findings.isEmpty ? absences : findings
    }

    private func credentials(
        for dialect: StoreDialect
    ) async -> (finding: DoctorFinding, isAbsence: Bool) {
        let provider: any CredentialsProvider
        do throws(TransferError) {
            provider = try ConfigurationFiles(sources, link: nil, dialect: dialect).credentials()
        } catch {
            return (
                DoctorFinding(subject: "credentials", state: .bad, message: error.message), false
            )
        }
        return await Self.credentials(provider)
    }

    /// What the source gives, and which it is; also true if no source is set up.
    private static func credentials(
        _ provider: any CredentialsProvider
    ) async -> (finding: DoctorFinding, isAbsence: Bool) {
        do throws(CredentialsError) {
            let found = try await provider.credentials()
            let kind = found.securityToken == nil ? "a long-lived key" : "a key with a token"
            let finding = DoctorFinding(
                subject: "credentials",
                state: .good,
                message: "\(kind), \(found.maskedID), from \(displayText(provider.name))"
            )
            return (finding, false)
        } catch {
            var isAbsence = false
            if case .none = error { isAbsence = true }
            let finding = DoctorFinding(subject: "credentials", state: .bad, message: error.message)
            return (finding, isAbsence)
        }
    }

    private func bucket(_ mirror: DirectoryMirror, _ checksWrite: Bool) async -> [DoctorFinding] {
        do {
            let client = try mirror.bucketClient()
            try await client.checkAccess(prefix: mirror.remote.prefix)
            var findings = [
                DoctorFinding(
                    subject: "bucket",
                    state: .good,
                    message: "'\(mirror.remote.display)' can be listed"
                )
            ]
            if let seconds = client.correctedClockSeconds {
                findings.append(
                    DoctorFinding(
                        subject: "clock",
                        state: .warning,
                        message: "this machine's clock is \(seconds.magnitude) s "
                            + "\(seconds > 0 ? "behind" : "ahead of") the service's; set it, "
                            + "for example with systemd-timesyncd"
                    )
                )
            } else {
                findings.append(
                    DoctorFinding(
                        subject: "clock",
                        state: .good,
                        message: "the service accepts requests signed by it"
                    )
                )
            }
            if checksWrite { findings.append(await Self.writing(client, mirror.remote.prefix)) }
            return findings
        } catch {
            return [Self.failure("bucket", error)]
        }
    }

    private static func writing(_ client: BucketClient, _ prefix: String) async -> DoctorFinding {
        do throws(TransferError) {
            try await client.checkWriteAccess(prefix: prefix)
            return DoctorFinding(
                subject: "writing",
                state: .good,
                message: "objects can be written"
            )
        } catch {
            return failure("writing", error)
        }
    }

    private static func failure(_ subject: String, _ error: TransferError) -> DoctorFinding {
        let request = error.requestID.map { " (request \($0))" } ?? ""
        return DoctorFinding(subject: subject, state: .bad, message: error.message + request)
    }

    /// Nil for a directory that cannot be opened.
    private func disk(_ directory: String) -> DoctorFinding? {
        let free = MirrorLink.freeBytes(
            directory: directory,
            stateDirectory: sources.options.stateDirectory
        )
        guard let free else { return nil }
        let refusal = MirrorLink.placeRefusal(
            directory: directory,
            stateDirectory: sources.options.stateDirectory
        )
        if let refusal {
            return DoctorFinding(
                subject: "disk",
                state: .warning,
                message: "a pull or sync would be refused: \(refusal)"
            )
        }
        return DoctorFinding(
            subject: "disk",
            state: free < Self.scarceBytes ? .warning : .good,
            message: "\(sizeText(free)) are free"
        )
    }
}

extension DirectoryMirror {
    /// Whether the password of encrypted contents can be read; nil where there is none.
    fileprivate var password: DoctorFinding? {
        guard let encryption else { return nil }
        do throws(TransferError) {
            _ = try encryption.cipher()
            return DoctorFinding(
                subject: "encryption",
                state: .good,
                message: "contents are encrypted, and the password can be read"
            )
        } catch {
            return DoctorFinding(subject: "encryption", state: .bad, message: error.message)
        }
    }

    /// Where requests go.
    fileprivate var place: DoctorFinding {
        let endpoint = connection.endpoint
        let region = endpoint.region.map { ", region \(displayText($0))" } ?? ", no region"
        return DoctorFinding(
            subject: "endpoint",
            state: .good,
            message: displayText(endpoint.origin(bucket: nil)) + region
        )
    }
}
