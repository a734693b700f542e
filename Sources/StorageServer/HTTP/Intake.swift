internal import SyncModel

/// A request while its body arrives.
final class Intake {
    private static let memoryLimit = 4 << 20

    private enum Sink {
        case discard
        case memory([UInt8])
        case file(BlobWriter)
    }

    let request: Request
    let operation: Operation
    let faults: ActiveFaults
    /// What the request will be answered with, whatever its body is.
    private(set) var decided: ServiceError?
    private var sink = Sink.memory([])
    private var received: Int64 = 0
    private var hasStalled = false
    private var payload: PayloadCheck?
    private(set) var checksum: Checksum?
    private(set) var existedAtStart = false

    init(request: Request, operation: Operation, faults: ActiveFaults) {
        self.request = request
        self.operation = operation
        self.faults = faults
    }

    var bytes: [UInt8] {
        if case .memory(let bytes) = sink { bytes } else { [] }
    }

    /// Judges everything but the body, in the order of the service.
    func decide(core: ServerCore) {
        do {
            if request.dialect == .s3 {
                let signed = try core.authenticator.verifyS3(request, now: core.now)
                payload = try PayloadCheck(request, signed, checksums: faults.checksums)
                try checkBucket(core)
                existedAtStart = try core.holdsObject(request)
            } else {
                try checkBucket(core)
                try core.authenticator.verify(request, now: core.now)
            }
            try checkLength()
            if operation.storesBody { sink = .file(try core.metadata.blobs.makeWriter()) }
        } catch let error as ServiceError {
            refuse(error)
        } catch {
            refuse(.internalError((error as? ServerFailure)?.message ?? "\(error)"))
        }
    }

    private func refuse(_ error: ServiceError) {
        decided = decided ?? error
        sink = .discard
        payload = nil
    }

    private func checkBucket(_ core: ServerCore) throws {
        guard let name = request.bucket else { return }
        guard isValidBucketName(name) else { throw invalidBucketName(name) }
        guard operation != .putBucket else { return }
        guard try core.metadata.withDatabase({ try $0.bucket(name) }) != nil else {
            throw ServiceError.noSuchBucket(name)
        }
    }

    private func checkLength() throws(ServiceError) {
        guard operation.storesBody else { return }
        guard let length = request.contentLength else {
            guard request.header("transfer-encoding") == nil else { return }
            throw ServiceError(
                411,
                "MissingContentLength",
                "You must provide the Content-Length HTTP header."
            )
        }
        guard length <= PartLayout.maximumSinglePutSize else {
            throw ServiceError(
                400,
                "EntityTooLarge",
                "Your proposed upload exceeds the maximum allowed object size."
            )
        }
    }

    /// False ends the connection.
    func receive(
        _ bytes: UnsafeRawBufferPointer,
        pause: Pause,
        connection: Connection
    ) -> Bool {
        received += Int64(bytes.count)
        for effect in faults.effects {
            switch effect {
            case .cutUpload(let at, let kind) where received >= at:
                if kind == .rst { connection.reset() }
                return false
            case .stallUpload(let at, let seconds) where received >= at && !hasStalled:
                hasStalled = true
                pause.wait(seconds: seconds)
            default: continue
            }
        }
        do {
            if let payload {
                try unsafe payload.receive(bytes) { try unsafe store($0) }
            } else {
                try unsafe store(bytes)
            }
        } catch let error as ServiceError {
            refuse(error)
        } catch {
            refuse(.internalError((error as? ServerFailure)?.message ?? "\(error)"))
        }
        return true
    }

    private func store(_ bytes: UnsafeRawBufferPointer) throws {
        switch sink {
        case .discard: break
        case .memory(var memory):
            guard memory.count + bytes.count <= Self.memoryLimit else {
                throw ServiceError(400, "EntityTooLarge", "The document is too large.")
            }
            // The only reference, so that appending does not copy.
            sink = .discard
            unsafe memory.append(contentsOf: bytes)
            sink = .memory(memory)
        case .file(let writer): try unsafe writer.append(bytes)
        }
    }

    /// Judges the body once all of it is there.
    func end() {
        guard decided == nil, let payload else { return }
        do {
            checksum = try payload.finish(operation)
        } catch {
            refuse(error)
        }
    }

    func takeBody() -> ReceivedBody {
        switch sink {
        case .discard: .bytes([])
        case .memory(let bytes): .bytes(bytes)
        case .file(let writer): .blob(writer.finish())
        }
    }
}
