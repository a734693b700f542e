package import LocalStorage
package import ObjectStorage
package import SyncModel

extension ItemFailure {
    /// What an error of the store means for the item it happened to.
    package init(_ error: StorageError) {
        if error.isCancelled {
            self = .cancelled
        } else if error.isArchived {
            self = .needsRestore(error.answer)
        } else if error.isNotFound {
            self = .vanished(error.answer)
        } else if error.isAlreadyExists {
            self = .alreadyExists(error.answer)
        } else if case .transport(.sourceChanged) = error.kind {
            self = .sourceKeepsChanging
        } else if case .integrity(.sourceChanged) = error.kind {
            self = .sourceKeepsChanging
        } else {
            self = .storage(
                message: error.message,
                answer: error.answer,
                stops: Self.stops(error),
                cause: Self.cause(error)
            )
        }
    }

    fileprivate static func cause(_ error: StorageError) -> StorageCause {
        if let code = error.appCode { return .app(code) }
        if error.isExpired { return .expired }
        if error.isAccessDenied { return error.refusesCredentials ? .permission : .forbidden }
        if error.isRedirect { return .redirected }
        if error.isMisconfigured { return .usage }
        if error.refusesParts { return .parts }
        switch (error.kind, error.retryClass) {
        case (.integrity(.rangeIgnored), _): return .rangesIgnored
        case (.integrity(.unpacked), _): return .unsupported
        case (.integrity(.sealed(.damaged)), _): return .undecryptable
        case (.integrity, _): return .corrupt
        case (.unsupported, _): return .unsupported
        case (.transport(.tlsFailed), _), (.transport(.proxyFailed), _): return .other
        case (.transport, _), (_, .transient), (_, .throttled): return .passing
        default: return .other
        }
    }

    /// A refused object is one item's failure; refused credentials and a dead remote are the run's.
    private static func stops(_ error: StorageError) -> Bool {
        if error.isOutage { return true }
        return switch error.kind {
        case .credentials, .transport(.tlsFailed), .transport(.dnsFailed),
            .transport(.connectFailed), .transport(.proxyFailed):
            true
        case .service(_, let code):
            [
                "InvalidAccessKeyId", "SignatureDoesNotMatch", "SecurityTokenExpired",
                "InvalidSecurityToken", "InvalidToken", "ExpiredToken", "UserDisable",
                "RequestTimeTooSkewed",
            ].contains(code)
        default: false
        }
    }

    package init(_ error: LocalError) {
        self =
            switch error {
            case .interrupted: .cancelled
            case .lockHeld: .held
            case .missingFile: .sourceMissing
            case .nameTaken, .identityOfState: .nameTaken(message: error.message)
            case .nameRefused: .nameRefused(message: error.message)
            // Each item's failure: a smaller one may still fit.
            case .diskFull: .diskFull(message: error.message)
            default: .local(message: error.message, stops: error.endsRun)
            }
    }

    /// For a change of a file: one that is not as the plan saw it is skipped, and what may not be
    /// changed says nothing of other files.
    package init(ofChange error: LocalError) {
        switch error {
        case .targetChanged: self = .targetChanged
        case .otherFileSystem: self = .placeRefused(message: error.message)
        case _ where error.refusesReading && !error.endsRun:
            self = .placeRefused(message: error.message)
        default: self.init(error)
        }
    }

    /// Of a partial file, which has the place and the kind of name that all have; only its size is
    /// its own.
    package init(ofPartial error: any Error) {
        self.init(ofTransfer: error)
        if case .local(let message, let stops, _) = self, let error = error as? LocalError,
            !error.isTooLarge
        {
            self = .local(message: message, stops: stops, isOfDisk: true)
        }
    }

    /// Of opening a local file to read it: what this user may not read says nothing of other files.
    package init(ofReading error: any Error) {
        self.init(ofTransfer: error)
        guard let error = error as? LocalError else { return }
        if error.refusesReading { self = .sourceUnreadable(message: message) }
        if error.isMediaFailure { self = .sourceDamaged(message: message) }
    }

    /// Of what needs no more of the disk than to read a local file.
    init(ofSource error: any Error) {
        self.init(ofTransfer: error)
        switch error {
        case let error as LocalError where error.isMediaFailure:
            self = .sourceDamaged(message: message)
        case let error as StorageError:
            if case .localIO(let errno, _) = error.kind, LocalError.isOfMedia(errno) {
                self = .sourceDamaged(message: message)
            }
        default: break
        }
    }

    /// True if the disk did not give what a local file holds.
    package static func isOfDamagedSource(_ error: any Error) -> Bool {
        switch error {
        case let error as LocalError: error.isMediaFailure
        case ItemFailure.sourceDamaged: true
        default: false
        }
    }

    /// Maps what escapes a closure of a transfer, whose errors are untyped.
    package init(ofTransfer error: any Error) {
        switch error {
        case let error as ItemFailure: self = error
        case let error as StorageError: self.init(error)
        case let error as LocalError: self.init(error)
        case is CancellationError: self = .cancelled
        default: self = .local(message: String(describing: error))
        }
    }
}

extension BlockingQueue {
    /// Does what blocks on the disk, and reports its failure as that of an item.
    package func reporting<Value: Sendable>(
        _ body: @escaping @Sendable () throws(LocalError) -> Value
    ) async throws(ItemFailure) -> Value {
        do {
            return try await run(body)
        } catch {
            throw ItemFailure(error)
        }
    }
}

extension TransferError {
    /// What an error of the store means for a run that cannot continue without the answer.
    package init(_ error: StorageError) {
        let cause = ItemFailure.cause(error)
        let code: Code
        if error.isCancelled {
            code = .cancelled
        } else if error.key != nil, let ofObject = Code(ofObject: error) {
            code = ofObject
        } else {
            code = cause == .corrupt ? .remoteUnreachable : Code(cause)
        }
        self.init(
            code: code,
            message: error.message,
            underlying: error,
            answer: error.answer,
            isRetryable: cause == .passing
        )
    }

    package init(_ error: LocalError) {
        switch error {
        case .interrupted: self = .interrupted
        case .lockHeld, .leaseLost:
            self.init(code: .locked, message: error.message, underlying: error)
        case .refusedDirectory, .openForMore:
            self.init(code: .refused, message: error.message, underlying: error)
        case .notAState:
            self.init(code: .configuration, message: error.message, underlying: error)
        default: self.init(code: .localState, message: error.message, underlying: error)
        }
    }

    package static var interrupted: TransferError {
        TransferError(
            code: .cancelled,
            message: "interrupted; run "
                + Wording.of(library: "it again", program: "the same command") + " to resume"
        )
    }
}

extension StorageError {
    /// What the service said; nil if it said nothing.
    package var answer: ItemFailure.ServiceAnswer? {
        guard status != nil || requestID != nil else { return nil }
        let code = serviceCode.flatMap { $0.isEmpty ? nil : displayText($0.utf8) }
        return ItemFailure.ServiceAnswer(
            requestID: requestID,
            status: status,
            code: code,
            operation: operation
        )
    }
}

extension TransferError.Code {
    /// What the store's failure is for the caller.
    init(_ cause: ItemFailure.StorageCause) {
        self =
            switch cause {
            case .app(let name): TransferError.Code(ofApp: name)
            case .permission: .credentials
            case .forbidden: .forbidden
            case .expired: .expired
            case .usage: .configuration
            case .redirected: .redirected
            case .corrupt, .undecryptable: .corrupt
            case .parts: .cannotResume
            case .rangesIgnored, .unsupported: .unsupportedServer
            case .passing, .other: .remoteUnreachable
            }
    }

    /// What an error says of one object; nil if it says nothing of that.
    fileprivate init?(ofObject error: StorageError) {
        if error.isArchived {
            self = .needsRestore
        } else if error.isAlreadyExists {
            self = .alreadyExists
        } else if error.isNotFound {
            self = .notFound
        } else if error.isNoSuchUpload {
            self = .cannotResume
        } else if error.isPreconditionFailed {
            self = .objectChanged
        } else {
            return nil
        }
    }
}
