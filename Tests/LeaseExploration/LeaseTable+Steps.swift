internal import LocalStorage
internal import SyncModel

/// What one process does.
extension LeaseTable {
    func after(_ input: Input, _ old: ExploredProcess) -> ExploredProcess {
        var process = old
        switch (input, old.call) {
        case (.begin, nil): begin(&process)
        case (.listed(let claim), .listing(let began)):
            process.call = .reading(began: began, claim: claim)
        case (.read(let code), .reading(let began, let claim)):
            process.call = .found(began: began, claim: claim, code: code)
        case (.read(let code), .looking): lookBeforeReturn(code, &process)
        case (.claimed(let isMade), .claiming(_, let began)):
            process.call = .claimed(isMade, began: began)
        case (.dropped, .dropping): process.call = .dropped
        case (.torn, .writing(let code)): process.call = .tearing(code)
        case (.torn, .returning(let code)): process.call = .tearingReturn(code)
        case (.written, .tearing): process.call = .written
        case (.written, .tearingReturn): process.isDead = true
        case (.finish(let isGone), _): finish(&process, isGone: isGone)
        case (.fail, _): process.call = nil
        case (.release, nil):
            process.call = .looking
            process.cleans = false
        case (.tick, _): return process.later(1, limits)
        case (.setClock(let seconds), _): return process.later(seconds, limits)
        default: preconditionFailure("\(input) during \(String(describing: old.call))")
        }
        return settled(process)
    }

    /// Nothing of one that has ended matters.
    private func settled(_ process: ExploredProcess) -> ExploredProcess {
        var settled = process
        var machine = process.machine
        if process.call == nil, case .refused = machine.step(at: .zero) { settled.isDead = true }
        guard settled.isDead else { return settled.simplified(limits) }
        let holder = Int(process.machine.own.holder) ?? 0
        settled = ExploredProcess(holder, kernel, timing)
        settled.isDead = true
        return settled
    }

    private func begin(_ process: inout ExploredProcess) {
        process.cleans = false
        switch process.machine.step(at: .zero) {
        case .read:
            process.call =
                process.machine.needsClaims ? .listing(began: 0) : .reading(began: 0, claim: 0)
        case .claim(let number): process.call = .claiming(Int(number), began: 0)
        case .dropClaim(let number): process.call = .dropping(Int(number))
        case .write(let record): process.call = .writing(LeaseKernel.parts(record).code)
        case .wait, .held, .refused: break
        }
    }

    private func lookBeforeReturn(_ code: Int, _ process: inout ExploredProcess) {
        guard process.machine.isOwn(kernel.content(code)) else {
            process.isDead = true
            return
        }
        var parts = LeaseKernel.parts(process.machine.own)
        parts.isFree = true
        process.call = .returning(parts.code)
    }

    private func finish(_ process: inout ExploredProcess, isGone: Bool) {
        let call = process.call
        process.call = nil
        switch call {
        case .found(let began, let claim, let code):
            var content = kernel.content(code)
            if planted == .holderIsNotCompared {
                switch process.machine.phase {
                case .held, .settling: content = .record(process.machine.own)
                default: break
                }
            }
            if planted == .unsettledIsFollowedAtOnce, var parts = LeaseCodes.Parts(code),
                parts.beat == 0, !parts.isDamaged
            {
                parts.beat = 1
                content = .record(kernel.record(parts))
            }
            process.machine.didRead(
                LeaseMachine.Finding(content, claim: UInt64(claim), isHolderGone: isGone),
                began: ExploredProcess.units(began),
                now: .zero
            )
        case .claimed(let isMade, let began):
            process.machine.didClaim(isMade, began: ExploredProcess.units(began))
        case .dropped: process.machine.didDropClaim()
        case .written: didWrite(&process)
        default: break
        }
    }

    private func didWrite(_ process: inout ExploredProcess) {
        switch process.machine.phase {
        case .beating(let until, _):
            let now = planted == .lateBeatCounts ? min(until, .zero) : .zero
            process.machine.didWrite(now: now)
            if process.steadiness == .none { process.steadiness = .beaten }
        case .taking:
            process.machine.didWrite(now: .zero)
            if planted == .noSecondLook, case .settling = process.machine.phase {
                process.machine.phase = .held(until: timing.trust, next: timing.beat)
            }
            if process.machine.trustedUntil != nil { process.cleans = true }
        default: process.machine.didWrite(now: .zero)
        }
    }
}
