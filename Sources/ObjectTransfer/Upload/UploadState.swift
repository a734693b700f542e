package import SyncModel

/// One upload from its first request to the object's confirmed existence: events in, effects out.
///
/// It knows no clock, no file and no network. States: `idle` → `putting` → `settling` or
/// `finished`; or `idle` → `initiating` or `listing` → `uploading` → `completing` → `settling` →
/// `finished`; each can end in `failed`. An answer that was lost is settled by asking for the
/// object (`settle`), never by sending again and never by "an object exists".
package struct UploadState: Sendable {
    /// What the shell has to do.
    package enum Effect: Sendable, Hashable {
        /// Send the whole file in one request.
        case put
        /// Start a multipart upload; its checkpoint row is written first.
        case initiate
        /// Ask which parts the service has.
        case listParts(UploadID)
        /// Send one part.
        case upload(UploadID, PartNumber, ByteRange)
        /// Stop every part under way; their late events are ignored.
        case cancelParts
        /// Make the object of these parts, which are in order.
        case complete(UploadID, [UploadedPart])
        /// Delete the upload and its parts.
        case abort(UploadID)
        /// Forget the checkpoint row, unless it stands for an upload that could not be aborted.
        case dropCheckpoint
        /// Ask for the object and compare token, size and checksum with what was sent.
        case confirmByHead(expected: CRC64?)
        /// The object is there and right.
        case finish(CRC64?)
        /// The transfer ends; `keepsCheckpoint` says whether the next run may go on from here.
        case fail(ItemFailure, keepsCheckpoint: Bool)
    }

    /// Why a request of the upload failed, as far as it decides what happens next.
    package enum Failure: Sendable, Hashable {
        /// The service does not know the upload: completed, aborted or expired.
        case noSuchUpload(ItemFailure.ServiceAnswer?)
        /// The service has other parts than it should.
        case partsRefused(ItemFailure.ServiceAnswer?)
        /// The answer was lost after the request may have been carried out.
        case answerLost(ItemFailure)
        /// The local file is no longer what it was when the upload began.
        case sourceChanged
        /// Anything else, after all retries.
        case other(ItemFailure)
    }

    private enum Phase: Sendable, Hashable {
        case idle
        case putting
        case initiating
        case listing(UploadID)
        case uploading(UploadID)
        case completing(UploadID)
        case settling(UploadID?, lost: ItemFailure)
        case finished
        case failed
    }

    private let layout: PartLayout
    private let streamLimit: Int
    private let isMultipart: Bool
    private var phase = Phase.idle
    private var sent: [UploadedPart?]
    private var missingCount: Int
    private var activeParts: Set<Int> = []
    private var nextIndex = 0
    /// True if nothing may be begun again.
    private var hasStartedOver: Bool
    private var hasCheckedParts = false
    /// How often the service left open what became of a Complete, and had made no object.
    private var unansweredCompletes = 0
    private static let maximumUnansweredCompletes = 3

    /// - Parameters:
    ///   - layout: How the file is cut.
    ///   - isMultipart: False for one PutObject of the whole file.
    ///   - streamLimit: The largest number of parts under way at once.
    ///   - startsOver: Begins again, once, if the service has forgotten the upload.
    package init(
        layout: PartLayout,
        isMultipart: Bool,
        streamLimit: Int,
        startsOver: Bool = true
    ) {
        hasStartedOver = !startsOver
        precondition(streamLimit > 0, "an upload has streams")
        self.layout = layout
        self.streamLimit = streamLimit
        self.isMultipart = isMultipart
        sent = isMultipart ? Array(repeating: nil, count: layout.partCount) : []
        missingCount = sent.count
    }

    /// Begins at the first byte.
    package mutating func start() -> [Effect] {
        guard case .idle = phase else { return [] }
        phase = isMultipart ? .initiating : .putting
        return [isMultipart ? .initiate : .put]
    }

    /// Goes on with an upload of an earlier run, after the service has said what it has.
    package mutating func resume(_ upload: UploadID) -> [Effect] {
        guard case .idle = phase, isMultipart else { return [] }
        phase = .listing(upload)
        return [.listParts(upload)]
    }

    /// PutObject succeeded with a verified checksum.
    package mutating func finishedPut(checksum: CRC64?) -> [Effect] {
        guard case .putting = phase else { return [] }
        phase = .finished
        return [.finish(checksum)]
    }

    package mutating func initiated(_ upload: UploadID) -> [Effect] {
        guard case .initiating = phase else { return [] }
        phase = .uploading(upload)
        return startParts(upload)
    }

    /// The parts that the service has and that agree with the file of now, with their checksums.
    package mutating func listed(_ parts: [UploadedPart]) -> [Effect] {
        guard case .listing(let upload) = phase else { return [] }
        phase = .uploading(upload)
        sent = Array(repeating: nil, count: layout.partCount)
        missingCount = sent.count
        nextIndex = 0
        for part in parts where sent.indices.contains(part.number.index) {
            guard part.size == layout.range(ofPartAt: part.number.index).length,
                part.crc64 != nil, sent[part.number.index] == nil
            else { continue }
            sent[part.number.index] = part
            missingCount -= 1
        }
        return startParts(upload)
    }

    /// A part was sent; without the checksum of its bytes nobody knows what it holds.
    package mutating func uploaded(_ part: UploadedPart) -> [Effect] {
        guard case .uploading(let upload) = phase,
            activeParts.remove(part.number.index) != nil
        else { return [] }
        guard part.crc64 != nil else { return endForChangedSource() }
        sent[part.number.index] = part
        missingCount -= 1
        return startParts(upload)
    }

    /// Before the object is made: only these parts are surely what was sent, and the others are
    /// sent again.
    package mutating func doubted(keeping parts: [UploadedPart]) -> [Effect] {
        guard case .completing(let upload) = phase else { return [] }
        phase = .listing(upload)
        return listed(parts)
    }

    /// CompleteMultipartUpload succeeded; `checksum` is what the service says of the object.
    package mutating func completed(checksum: CRC64?) -> [Effect] {
        guard case .completing = phase else { return [] }
        let whole = wholeChecksum
        if let checksum, checksum != whole {
            phase = .failed
            return [
                .dropCheckpoint,
                .fail(.corrupt(expected: checksum, found: whole), keepsCheckpoint: false),
            ]
        }
        phase = .finished
        return [.finish(whole)]
    }

    /// The answer to `settle`: whether the object is the one that was sent, and its checksum.
    package mutating func settled(isOurs: Bool, checksum: CRC64?) -> [Effect] {
        guard case .settling(let upload, let lost) = phase else { return [] }
        if isOurs {
            phase = .finished
            return [.finish(checksum)]
        }
        guard let upload else { return fail(lost, keepsCheckpoint: false) }
        if lost.isAlreadyExists {
            phase = .failed
            return [.abort(upload), .dropCheckpoint, .fail(lost, keepsCheckpoint: false)]
        }
        if !lost.isUploadVanished {
            // The Complete did nothing, so its parts are still there.
            unansweredCompletes += 1
            guard unansweredCompletes < Self.maximumUnansweredCompletes else {
                return fail(lost, keepsCheckpoint: true)
            }
            phase = .listing(upload)
            return [.listParts(upload)]
        }
        guard !hasStartedOver else { return fail(lost, keepsCheckpoint: false) }
        return startOver()
    }

    /// A request failed, after all its retries.
    package mutating func failed(_ failure: Failure) -> [Effect] {
        switch (phase, failure) {
        case (.idle, _), (.finished, _), (.failed, _): return []
        case (_, .sourceChanged): return endForChangedSource()
        case (.putting, .answerLost(let lost)):
            phase = .settling(nil, lost: lost)
            return [.confirmByHead(expected: nil)]
        case (.completing(let upload), .answerLost(let lost)):
            return giveUpUnlessDone(upload, lost: lost)
        case (.completing(let upload), .noSuchUpload(let answer)):
            // Either our own earlier Complete got through, or somebody aborted the upload.
            return giveUpUnlessDone(upload, lost: .uploadVanished(answer))
        case (.completing(let upload), .partsRefused) where !hasCheckedParts:
            hasCheckedParts = true
            phase = .listing(upload)
            return [.listParts(upload)]
        case (.listing(let upload), .noSuchUpload(let answer)):
            // An earlier run may have completed it and ended before it wrote that down.
            phase = .settling(upload, lost: .uploadVanished(answer))
            return [.confirmByHead(expected: nil)]
        case (.uploading, .noSuchUpload(let answer)):
            guard !hasStartedOver else {
                return fail(.uploadVanished(answer), keepsCheckpoint: false)
            }
            return startOver()
        case (.settling, .other(.storage(_, _, _, let cause)))
        where cause.isRefusal && cause != .expired:
            // Whoever may not look has the store's own word, and the parts.
            return settled(isOurs: false, checksum: nil)
        case (.settling(let upload, _), .other(let failure)):
            // Not even the question could be asked: the checkpoint stays and the next run asks.
            return fail(failure, keepsCheckpoint: upload != nil)
        case (_, .other(let failure)), (_, .answerLost(let failure)):
            return fail(failure, keepsCheckpoint: isMultipart)
        case (_, .noSuchUpload(let answer)):
            return fail(.uploadVanished(answer), keepsCheckpoint: false)
        case (_, .partsRefused(let answer)):
            let upload = upload
            phase = .failed
            return (upload.map { [.abort($0)] } ?? [])
                + [.dropCheckpoint, .fail(.uploadVanished(answer), keepsCheckpoint: false)]
        }
    }

    /// The combined checksum of all parts.
    package var wholeChecksum: CRC64 {
        sent.reduce(CRC64()) { whole, part in
            guard let part, let checksum = part.crc64 else { return whole }
            return whole.combined(with: checksum, length: part.size)
        }
    }
}

extension UploadState {
    private var upload: UploadID? {
        switch phase {
        case .listing(let upload), .uploading(let upload), .completing(let upload): upload
        case .settling(let upload, _): upload
        case .idle, .putting, .initiating, .finished, .failed: nil
        }
    }

    private mutating func startParts(_ upload: UploadID) -> [Effect] {
        if missingCount == 0 {
            phase = .completing(upload)
            return [.complete(upload, sent.compactMap(\.self))]
        }
        var effects: [Effect] = []
        while activeParts.count < streamLimit, nextIndex < sent.count {
            let index = nextIndex
            nextIndex += 1
            guard sent[index] == nil else { continue }
            activeParts.insert(index)
            let number = PartNumber(index: index)
            effects.append(.upload(upload, number, layout.range(ofPartAt: index)))
        }
        return effects
    }

    private mutating func giveUpUnlessDone(_ upload: UploadID, lost: ItemFailure) -> [Effect] {
        phase = .settling(upload, lost: lost)
        return [.confirmByHead(expected: wholeChecksum)]
    }

    private mutating func startOver() -> [Effect] {
        hasStartedOver = true
        hasCheckedParts = false
        let cancellation: [Effect] = activeParts.isEmpty ? [] : [.cancelParts]
        activeParts = []
        nextIndex = 0
        sent = Array(repeating: nil, count: layout.partCount)
        missingCount = sent.count
        phase = .initiating
        return cancellation + [.dropCheckpoint, .initiate]
    }

    private mutating func endForChangedSource() -> [Effect] {
        let upload = upload
        let cancellation: [Effect] = activeParts.isEmpty ? [] : [.cancelParts]
        phase = .failed
        activeParts = []
        return cancellation + (upload.map { [.abort($0)] } ?? [])
            + [.dropCheckpoint, .fail(.sourceKeepsChanging, keepsCheckpoint: false)]
    }

    private mutating func fail(_ failure: ItemFailure, keepsCheckpoint: Bool) -> [Effect] {
        let cancellation: [Effect] = activeParts.isEmpty ? [] : [.cancelParts]
        phase = .failed
        activeParts = []
        return cancellation + (keepsCheckpoint ? [] : [.dropCheckpoint])
            + [.fail(failure, keepsCheckpoint: keepsCheckpoint)]
    }
}
