internal import CLibrary
internal import SyncModel

/// The files of a lease in a state directory: the record, and the claims, which only one can make.
struct LeaseFiles: Sendable {
    private static let recordName = "lease"
    private static let claimPrefix = "claim."
    private static let claimFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC

    let state: OpenDirectory
    let calls: SystemCalls

    /// By a fresh open each time: a network file system looks then at what others have written.
    func read(listsClaims: Bool) throws(LocalError) -> LeaseMachine.Finding {
        let claim = listsClaims ? try claims().max() ?? 0 : 0
        let bytes: [UInt8]
        do throws(LocalError) {
            bytes = try state.file(PathBytes(Self.recordName.utf8), Self.recordName)
                .read(at: 0, length: LeaseRecord.size + 1)
        } catch {
            guard error.errno == ENOENT else { throw error }
            return LeaseMachine.Finding(.absent, claim: claim, isHolderGone: false)
        }
        guard let record = LeaseRecord(bytes) else {
            return LeaseMachine.Finding(
                .damaged(checksum: CRC64(of: bytes).value),
                claim: claim,
                isHolderGone: false
            )
        }
        let isGone = !record.isFree && calls.isGone(record.process)
        return LeaseMachine.Finding(.record(record), claim: claim, isHolderGone: isGone)
    }

    /// True if the record names a holder that is not known to be gone.
    var isHeld: Bool {
        get throws(LocalError) {
            let found = try read(listsClaims: false)
            guard case .record(let record) = found.content else { return false }
            return !record.isFree && !found.isHolderGone
        }
    }

    /// True if the record names a holder, dead or not, or cannot be read.
    var isTaken: Bool {
        get throws(LocalError) {
            switch try read(listsClaims: false).content {
            case .absent: false
            case .damaged: true
            case .record(let record): !record.isFree
            }
        }
    }

    /// Overwrites the record in place and waits until the server has it.
    func write(_ record: LeaseRecord) throws(LocalError) {
        let (name, flags) = (PathBytes(Self.recordName.utf8), SystemCalls.lockFlags)
        let file = try state.file(name, Self.recordName, flags: flags, mode: 0o600)
        try file.write(record.bytes, at: 0)
        if try file.identity().size != Int64(LeaseRecord.size) {
            try calls.truncate(file.descriptor, to: Int64(LeaseRecord.size))
        }
        try file.synchronize()
    }

    /// False if another process has made this claim.
    func claim(_ number: UInt64) throws(LocalError) -> Bool {
        do throws(LocalError) {
            let descriptor = try calls.open(
                at: state.descriptor,
                name(of: number),
                flags: Self.claimFlags,
                mode: 0o600
            )
            SystemCalls.close(descriptor)
            return true
        } catch {
            guard error.errno == EEXIST else { throw error }
            return false
        }
    }

    func dropClaim(_ number: UInt64) throws(LocalError) {
        try calls.unlink(at: state.descriptor, name(of: number))
    }

    /// Removes the claims of earlier holders.
    func dropClaims(before number: UInt64) throws(LocalError) {
        for old in try claims() where old < number { try dropClaim(old) }
    }

    private func claims() throws(LocalError) -> [UInt64] {
        var numbers: [UInt64] = []
        try unsafe calls.names(in: state.descriptor) { name, _ in
            let text = unsafe String(decoding: name, as: UTF8.self)
            guard text.hasPrefix(Self.claimPrefix) else { return }
            // Other spellings of a number are none of ours.
            let digits = text.dropFirst(Self.claimPrefix.utf8.count)
            if let number = UInt64(digits), String(number) == digits { numbers.append(number) }
        }
        return numbers
    }

    private func name(of number: UInt64) -> PathBytes {
        PathBytes((Self.claimPrefix + String(number)).utf8)
    }
}
