internal import ObjectStorage
internal import SyncModel

/// What is counted after a kill.
struct Waste {
    var isCounting = false
    var streams = 0
    var kills = 0
}

/// The parts of uploads that the service took, to see which come again.
struct SentParts {
    private struct Part: Hashable {
        let key: ObjectKey
        let number: Int
        let tag: String
    }

    private var parts: Set<Part> = []
    /// Set by a kill: what may come again.
    private(set) var limit: Int64?
    /// The size of the parts of the run that was killed.
    private(set) var partSize: Int64 = 0
    private(set) var again: Int64 = 0

    mutating func add(_ key: ObjectKey, _ number: Int, _ tag: String, size: Int) {
        let part = Part(key: key, number: number, tag: tag)
        if !parts.insert(part).inserted, limit != nil { again += Int64(size) }
    }

    mutating func allow(streams: Int, of partSize: Int64) {
        if limit != nil, partSize != self.partSize {
            self = SentParts()
            return
        }
        limit = (limit ?? 0) + Int64(streams) * partSize
        self.partSize = partSize
    }
}

/// What an interruption may cost.
extension World {
    /// What a kill may cost is not asked of what was taken away since.
    func forgetWaste() {
        waste = Waste()
        received.forget()
        sentParts = SentParts()
    }

    func countWaste(after run: RunState, isPlainKill: Bool) {
        guard isPlainKill, run.options.partSize >= ReceivedBytes.pieceSize else {
            forgetWaste()
            return
        }
        if run.writesFiles {
            // What an earlier kill cost may be fetched again only after this one.
            if !waste.isCounting { received.beginCount() }
            if setup.isEncrypted == true { received.beginCountOfKnown() }
            waste.isCounting = true
            waste.streams += run.options.connections
            waste.kills += 1
        }
        if run.writesObjects {
            let size = max(run.options.partSize, setup.minimumPartSize)
            sentParts.allow(streams: run.options.connections, of: size)
        }
    }

    /// After a kill, no more came again than the checkpoints of the streams allow.
    func judgeWaste(_ run: RunState) {
        guard waste.isCounting else { return }
        defer { waste = Waste() }
        // What comes again is counted in pieces, of which a smaller range would be a part.
        guard run.options.partSize >= ReceivedBytes.pieceSize else { return }
        guard run.options.faults.isEmpty, run.options.meanwhile.isEmpty else { return }
        statistics.worstWaste = max(statistics.worstWaste, received.again)
        // Beside what each stream has not recorded, small files that waited for their names.
        // Nothing is known of an encrypted block before all of it is there.
        let block = setup.isEncrypted == true ? SealedFormat.sealedBlockSize + 32 : 0
        let limit = Int64(waste.streams + waste.kills) * (setup.uncheckpointed + block)
        if received.again > limit {
            report(
                .boundedWaste,
                "\(received.again) bytes came again after a kill of \(waste.streams) streams, "
                    + "which may cost \(limit)"
            )
        }
    }

    /// After a kill, no more parts were sent again than each stream was sending.
    func judgeUploadWaste(_ run: RunState) {
        defer { sentParts = SentParts() }
        guard let limit = sentParts.limit, run.options.faults.isEmpty,
            run.options.meanwhile.isEmpty,
            max(run.options.partSize, setup.minimumPartSize) == sentParts.partSize
        else { return }
        statistics.worstWaste = max(statistics.worstWaste, sentParts.again)
        if sentParts.again > limit {
            report(
                .boundedWaste,
                "\(sentParts.again) bytes of parts were sent again after a kill, which may cost "
                    + "\(limit)"
            )
        }
    }
}
