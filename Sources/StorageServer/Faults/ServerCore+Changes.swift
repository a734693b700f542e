internal import SyncModel
internal import Synchronization

/// What other clients do while a request is served.
extension ServerCore {
    /// The changes that come before the operation.
    func applyChanges(of faults: ActiveFaults, to request: Request) {
        for effect in faults.effects {
            switch effect {
            case .replaceObject(let at, _) where at <= 0, .deleteObject(let at) where at <= 0:
                apply(effect, to: request)
            case .abortUpload: apply(effect, to: request)
            default: continue
            }
        }
    }

    func apply(_ effect: FaultEffect, to request: Request) {
        guard let bucket = request.bucket, let key = request.key else { return }
        // A change that fails leaves the object as it was, which the test that asked for it sees.
        switch effect {
        case .replaceObject(_, let size): try? replaceObject(bucket, key, size: size)
        case .deleteObject:
            _ = try? metadata.transaction { try $0.remove(bucket, key, version: "null") != nil }
        case .abortUpload:
            let id = request.parameter("uploadId") ?? ""
            try? metadata.transaction { try $0.deleteUpload(id) }
        default: return
        }
    }

    /// Writes other content of the given or the same size.
    private func replaceObject(_ bucket: String, _ key: ObjectKey, size: Int64?) throws {
        let found = try metadata.transaction { try $0.object(bucket, key, version: nil) }
        guard let found else { return }
        let writer = try metadata.blobs.makeWriter()
        let count = replacementCount.add(1, ordering: .relaxed).newValue
        let seed = UInt8(truncatingIfNeeded: count)
        let period = 65_521
        let ramp = (0..<period).map { UInt8(truncatingIfNeeded: $0 &* 31) ^ seed }
        var rest = size ?? found.content.size
        while rest > 0 {
            let length = Int(min(rest, Int64(period)))
            try writer.append(Array(ramp[..<length]))
            rest -= Int64(length)
        }
        let blob = writer.finish()
        let object = NewObject(
            key: key,
            content: ObjectContent(blob),
            segments: blob.segments,
            kind: .normal,
            storageClass: found.storageClass,
            headers: found.headers
        )
        try metadata.transaction { transaction in
            guard let bucket = try transaction.bucket(bucket) else { return }
            try transaction.publish(object, in: bucket, nowMilliseconds: nowMilliseconds)
        }
    }
}
