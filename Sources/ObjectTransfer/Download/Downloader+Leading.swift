internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// Several ranges by the request that opened the object.
extension Downloader {
    /// How a range ended that the first request was to bring; nil if it is to be fetched.
    func leadingEnd(
        _ range: RangeProgress,
        of object: PinnedObject,
        into file: OpenFile,
        checkpointing partialName: String?
    ) async -> RangeEnd? {
        guard let leading, leading.metadata.etag == object.etag, range.received == 0 else {
            return nil
        }
        if range.index == 0 {
            guard leading.start() else { return nil }
            // What comes after an object that was replaced meanwhile is not this answer.
            _ = opening?.claim(leading.bytes)
            return await receive(leading, range, of: object, into: file, partialName)
        }
        switch await leading.arrival(of: range) {
        case .received(let checksum): return .finished(range.index, checksum, leading.metadata)
        case .released: return nil
        }
    }

    /// Receives all that the first request brings, or as much as it brings in time.
    private func receive(
        _ leading: LeadingRanges,
        _ range: RangeProgress,
        of object: PinnedObject,
        into file: OpenFile,
        _ partialName: String?
    ) async -> RangeEnd {
        defer { leading.end() }
        let received = ConflatedValue<Int64>()
        let sink = sink(
            leading.bytes,
            of: range,
            file,
            isRecorded: partialName != nil,
            rangeLength: leading.rangeSize
        ) { count, checksum in
            leading.receive(count, checksum)
            received.offer(count)
        }
        if let gate, !gate.begin(sink) {
            await gate.untilDrained()
            return .failed(range.index, .other(.cancelled))
        }
        async let failure = save(leading, received, sink, partialName)
        let end = await withTaskGroup(of: Void.self) { group in
            group.addTask { await shareIfSlow(leading, sink) }
            let end = await get(leading.bytes, of: range, object, sink, opening)
            group.cancelAll()
            return end
        }
        gate?.end(sink)
        received.finish()
        if let failure = await failure { return .failed(range.index, .other(failure)) }
        switch end {
        case .finished(_, _, let metadata):
            guard case .received(let checksum) = await leading.arrival(of: range) else {
                return .failed(range.index, .other(.cancelled))
            }
            return .finished(range.index, checksum, metadata)
        case .failed(_, .other(.cancelled)):
            if let gate, gate.isRaised { await gate.untilDrained() }
            return end
        default: return end
        }
    }

    /// Ends the first request after the range under way once the rest would take longer than other
    /// requests take to be answered.
    private func shareIfSlow(_ leading: LeadingRanges, _ sink: FileSink) async {
        let environment = context.environment
        let start = environment.monotonic()
        while (try? await environment.sleep(leading.patience)) != nil, !Task.isCancelled {
            let received = sink.received
            let missing = Double(sink.expectedLength - received)
            let elapsed = environment.monotonic() - start
            // Both sides are times for the received bytes.
            guard elapsed * missing > leading.patience * Double(received) else { continue }
            guard let gate, gate.shorten(sink) else { return }
            return leading.shorten(to: sink.expectedLength)
        }
    }

    /// Records what has come, and then lets the waiting tasks know.
    private func save(
        _ leading: LeadingRanges,
        _ received: ConflatedValue<Int64>,
        _ sink: FileSink,
        _ partialName: String?
    ) async -> ItemFailure? {
        var failure: ItemFailure?
        while let count = await received.next() {
            let ranges = leading.unrecorded
            do throws(ItemFailure) {
                for range in ranges {
                    if let partialName { try await save(range, partialName) }
                }
                if failure == nil { leading.recorded(ranges) }
            } catch {
                failure = error
            }
            // Also after a failure: the sink must not wait for what will not come.
            sink.acknowledge(upTo: count)
        }
        return failure
    }
}
