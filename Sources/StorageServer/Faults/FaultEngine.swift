internal import SyncModel
internal import Synchronization

/// Counts requests and says which effects are due.
final class FaultEngine: Sendable {
    private struct Subject: Hashable {
        let rule: Int
        let key: ObjectKey?
        let part: Int?
    }

    private struct State {
        var script = FaultScript(rules: [])
        var counts: [Subject: Int] = [:]
        /// What each rule with a rate still lets through, and when that was so.
        var allowances: [Int: (requests: Double, time: Double)] = [:]
        var hold: Hold?

        mutating func allows(rule: Int, rate: Double) -> Bool {
            let now = Double(ServerCore.machineTime.nanosecondsSince1970) / 1e9
            let last = allowances[rule] ?? (rate, now)
            let requests = min(last.requests + max(now - last.time, 0) * rate, rate)
            allowances[rule] = (requests >= 1 ? requests - 1 : requests, now)
            return requests >= 1
        }
    }

    private let state = SleepingLock(State())
    /// False where no request needs to look: requests are many, and scripts few.
    private let hasRules = Atomic(false)

    /// Replaces the script, begins to count anew and lets go of what the old one held.
    func load(_ script: FaultScript) {
        let fresh = State(script: script, hold: script.holds ? Hold() : nil)
        let old = state.withLock { state in
            defer { state = fresh }
            hasRules.store(!script.rules.isEmpty, ordering: .releasing)
            return state.hold
        }
        old?.end()
    }

    /// Returns when so many requests are held; at once if the script holds none.
    func untilHeld(_ count: Int) async {
        await state.withLock { $0.hold }?.until(count)
    }

    /// Requests that the present script holds.
    var heldCount: Int { state.withLock { $0.hold }?.count ?? 0 }

    func effects(operation: Operation, request: Request) -> ActiveFaults {
        guard hasRules.load(ordering: .acquiring) else { return ActiveFaults(effects: []) }
        let part = request.parameter("partNumber").flatMap { parseDecimal($0.utf8) }.map(Int.init)
        return state.withLock { state in
            var effects: [FaultEffect] = []
            for (index, rule) in state.script.rules.enumerated() {
                guard rule.match.applies(to: operation, request, part: part) else { continue }
                if let rate = rule.match.above, state.allows(rule: index, rate: Double(rate)) {
                    continue
                }
                let each = rule.match.countsEachKey
                let subject = Subject(
                    rule: index,
                    key: each ? request.key : nil,
                    part: each ? part : nil
                )
                let count = state.counts[subject, default: 0] + 1
                state.counts[subject] = count
                if rule.match.occurrence.includes(count) { effects += rule.effects }
            }
            return ActiveFaults(effects: effects, hold: state.hold)
        }
    }
}

extension FaultMatch {
    fileprivate func applies(to operation: Operation, _ request: Request, part: Int?) -> Bool {
        if let wanted = self.operation, wanted != operation.rawValue { return false }
        if let bucket, bucket != request.bucket { return false }
        // For a listing, the key is its prefix.
        let named = request.key ?? ObjectKey(request.parameter("prefix") ?? "")
        if let key, ObjectKey(key) != named { return false }
        if let keyPrefix, !named.hasPrefix(ObjectKey(keyPrefix)) { return false }
        if let partNumber, partNumber != part { return false }
        if let rangeStart {
            guard request.header("range")?.hasPrefix("bytes=\(rangeStart)-") == true else {
                return false
            }
        }
        return true
    }
}

/// The effects on one request.
struct ActiveFaults: Sendable {
    let effects: [FaultEffect]
    /// Where requests of the same script are held.
    var hold: Hold?

    var isHeld: Bool {
        effects.contains { if case .hold = $0 { true } else { false } }
    }

    var delayInSeconds: Double {
        effects.reduce(0) { sum, effect in
            if case .delay(let seconds) = effect { sum + seconds } else { sum }
        }
    }

    func failure(_ moment: FaultMoment) -> FaultFailure? {
        for case .fail(let failure) in effects where failure.moment == moment { return failure }
        return nil
    }

    func close(_ moment: FaultMoment) -> CloseKind? {
        for case .close(let when, let kind) in effects where when == moment { return kind }
        return nil
    }

    var ignoresRange: Bool {
        effects.contains { if case .ignoreRange = $0 { true } else { false } }
    }

    var listing: ListingFault? {
        for case .listing(let fault) in effects { return fault }
        return nil
    }

    var checksums: ChecksumFault? {
        for case .checksums(let fault) in effects { return fault }
        return nil
    }

    var stalls: Bool {
        effects.contains { if case .stallBody = $0 { true } else { false } }
    }

    /// Effects that need to see the body as it goes out.
    var touchesBody: Bool {
        effects.contains { effect in
            switch effect {
            case .cutBody, .stallBody, .holdBody, .slowBody, .flipByte: true
            case .replaceObject(let at, _), .deleteObject(let at): at > 0
            default: false
            }
        }
    }

    /// Applies what changes status, headers and whole bodies.
    func rewrite(_ answer: inout Answer) {
        for effect in effects {
            switch effect {
            case .rewriteStatus(let status): answer.status = status
            case .setHeader(let name, let value): answer.setHeader(name, value)
            case .addHeader(let name, let value): answer.headers.append((name, value))
            case .removeHeader(let name): answer.removeHeader(name)
            case .replaceBody(let bytes): answer.body = .bytes(bytes)
            case .truncateBody(let length): answer.body = answer.body.truncated(to: length)
            default: continue
            }
        }
    }
}

extension AnswerBody {
    fileprivate func truncated(to length: Int64) -> AnswerBody {
        guard length >= 0, length < self.length else { return self }
        switch self {
        case .empty: return .empty
        case .bytes(let bytes): return .bytes(Array(bytes.prefix(Int(length))))
        case .content(let content, let range):
            return .content(content, ByteRange(offset: range.offset, length: length))
        }
    }
}
