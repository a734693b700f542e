internal import SyncModel

/// What a ``TransferManager`` knows of one transfer in this process.
struct ManagedEntry {
    /// What was last asked for a transfer, beside what it does.
    enum Wanted {
        /// Nothing, or what was asked for is done.
        case nothing
        case running
        case paused
        /// Also of an earlier process, which had no time for it.
        case cancelled
        case forgotten
    }

    let number: Int64
    var transfer: ManagedTransfer
    /// The one path of a download's file.
    var file: String?
    var wanted = Wanted.nothing
    var job: TransferJob?
    /// True if the provider returned the job, and can return it again.
    var isAsked = false
    /// While the provider is asked.
    var question: AbandonableCall<TransferJob>?
    /// While it runs.
    var work: (any ManagedWork)?
    var pace = TransferPace()
    /// True while the provider is asked, and its server could not be reached.
    var isProviderAway = false
    /// Resumed when it does not run any more.
    var waiters: [CheckedContinuation<Void, Never>] = []

    /// With the bytes of this instant.
    var current: ManagedTransfer {
        guard let snapshot = work?.snapshot, let total = snapshot.total else { return transfer }
        var transfer = transfer
        transfer.completedBytes = snapshot.completed
        transfer.totalBytes = total
        return transfer
    }

    /// As the app sees it, with what is true at this instant only.
    func shown(over network: TransferJob.NetworkTraits, at time: Duration) -> ManagedTransfer {
        var transfer = current
        switch transfer.state {
        case .running:
            let snapshot = work?.snapshot
            if snapshot?.isWaiting ?? isProviderAway { transfer.waitingFor = .network }
            transfer.bytesPerSecond = snapshot.flatMap { pace.bytesPerSecond($0.moved, at: time) }
        case .waiting:
            let isAllowed = transfer.networks.isSuperset(of: network)
            transfer.waitingFor = isAllowed ? .turn : .allowedNetwork
        case .ready, .paused, .failed, .finished, .cancelled: break
        }
        return transfer
    }

    /// As the next process is to find it: what is wanted counts, not what could be done by then.
    var recorded: ManagedTransfer {
        var recorded = current
        switch wanted {
        case .nothing, .forgotten: break
        case .running:
            recorded.state = .waiting
            recorded.forgetError()
        case .paused: recorded.state = .paused
        case .cancelled: recorded.state = .cancelled
        }
        return recorded
    }

    /// True if its turn comes first, when both are added to an empty queue.
    func isBefore(_ other: Self) -> Bool {
        let (priority, theirs) = (transfer.priority, other.transfer.priority)
        return priority == theirs ? number < other.number : priority > theirs
    }

    /// True while `cancel` or `forget` works on it.
    var isLeaving: Bool { wanted == .cancelled || wanted == .forgotten }
}

extension ManagedTransfer {
    /// What an earlier process was asked for.
    var wanted: ManagedEntry.Wanted {
        switch state {
        case .waiting, .running: .running
        case .paused: .paused
        case .ready, .cancelled, .failed, .finished: .nothing
        }
    }
}
