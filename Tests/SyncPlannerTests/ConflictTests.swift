import SyncModel
import SyncPlanner
import Testing

/// What each direction does about one kind of conflict under one choice.
private struct Row: CustomTestStringConvertible {
    var kind: ConflictKind
    var choice: ConflictPolicy
    var deletes: Bool
    var pull: ConflictResolution
    var push: ConflictResolution
    var sync: ConflictResolution

    init(
        _ kind: ConflictKind,
        _ choice: ConflictPolicy,
        deletes: Bool = false,
        _ pull: ConflictResolution,
        _ push: ConflictResolution,
        _ sync: ConflictResolution
    ) {
        self.kind = kind
        self.choice = choice
        self.deletes = deletes
        self.pull = pull
        self.push = push
        self.sync = sync
    }

    var testDescription: String { "\(kind), \(choice), deletes: \(deletes)" }
}

private let rows: [Row] = [
    Row(.bothNew, .keepBoth, .downloadKeepingLocal, .leaveBoth, .downloadKeepingLocal),
    Row(.bothNew, .local, .leaveBoth, .upload, .upload),
    Row(.bothNew, .remote, .download, .leaveBoth, .download),
    Row(.bothChanged, .keepBoth, .downloadKeepingLocal, .leaveBoth, .downloadKeepingLocal),
    Row(.bothChanged, .local, .leaveBoth, .upload, .upload),
    Row(.bothChanged, .remote, .download, .leaveBoth, .download),
    Row(.remoteNewer, .keepBoth, .download, .leaveBoth, .download),
    Row(.remoteNewer, .local, .leaveBoth, .upload, .upload),
    Row(.remoteNewer, .remote, .download, .leaveBoth, .download),
    Row(.localGoneRemoteChanged, .keepBoth, .download, .leaveBoth, .download),
    Row(.localGoneRemoteChanged, .local, .leaveBoth, .leaveBoth, .leaveBoth),
    Row(
        .localGoneRemoteChanged,
        .local,
        deletes: true,
        .leaveBoth,
        .deleteRemote,
        .deleteRemote
    ),
    Row(.localGoneRemoteChanged, .remote, .download, .leaveBoth, .download),
    Row(.localChangedRemoteGone, .keepBoth, .leaveBoth, .leaveBoth, .upload),
    Row(.localChangedRemoteGone, .local, .leaveBoth, .upload, .upload),
    Row(.localChangedRemoteGone, .remote, .leaveBoth, .leaveBoth, .leaveBoth),
    Row(
        .localChangedRemoteGone,
        .remote,
        deletes: true,
        .deleteLocal,
        .leaveBoth,
        .deleteLocal
    ),
]

@Suite("Conflicts")
struct ConflictTests {
    @Test(arguments: rows)
    fileprivate func `each choice has one outcome for each direction`(row: Row) {
        func outcome(_ direction: SyncDirection) -> ConflictResolution {
            resolution(
                of: row.kind,
                policy(direction, deletes: row.deletes, conflict: row.choice)
            )
        }
        #expect(outcome(.pull) == row.pull)
        #expect(outcome(.push) == row.push)
        #expect(outcome(.sync) == row.sync)
    }

    @Test(arguments: ConflictKind.allCases, SyncDirection.allCases)
    func `skip leaves both sides and fail stops the run`(
        kind: ConflictKind,
        direction: SyncDirection
    ) {
        for deletes in [false, true] {
            let skip = policy(direction, deletes: deletes, conflict: .skip)
            #expect(resolution(of: kind, skip) == .leaveBoth)
            let fail = policy(direction, deletes: deletes, conflict: .fail)
            #expect(resolution(of: kind, fail) == .stopRun)
        }
    }

    @Test(arguments: ConflictKind.allCases, ConflictPolicy.allCases)
    func `a direction never changes the side it reads from`(
        kind: ConflictKind,
        choice: ConflictPolicy
    ) {
        for deletes in [false, true] {
            let pull = resolution(of: kind, policy(.pull, deletes: deletes, conflict: choice))
            #expect(pull != .upload && pull != .deleteRemote)
            let push = resolution(of: kind, policy(.push, deletes: deletes, conflict: choice))
            #expect(![.download, .downloadKeepingLocal, .deleteLocal].contains(push))
        }
    }

    @Test(arguments: SyncDirection.allCases)
    func `equal content is never a conflict`(direction: SyncDirection) {
        let fail = policy(direction, conflict: .fail)
        let empty = decide(
            entry(local: file(size: 0), remote: object(size: 0)),
            fail
        )
        #expect(empty == .adopt)
        let equal = decide(entry(local: file(), remote: object()), fail)
        guard case .compare(_, .adopt, .conflict(.bothNew, .stopRun)) = equal else {
            Issue.record("\(equal)")
            return
        }
    }

    @Test func `a conflict that needs an archived object is a skip`() {
        let entry = entry(
            base: row(),
            local: file(size: 5),
            remote: object(size: 6, storageClass: .coldArchive)
        )
        let skipped = Decision.skip(.needsRestore(.coldArchive, isOngoing: false))
        #expect(decide(entry, policy(.pull)) == skipped)
        #expect(decide(entry, policy(.pull, conflict: .remote)) == skipped)
        #expect(
            decide(entry, policy(.pull, conflict: .skip)) == .conflict(.bothChanged, .leaveBoth)
        )
        #expect(decide(entry, policy(.push, conflict: .local)) == .conflict(.bothChanged, .upload))
    }

    @Test func `a conflict that needs an impossible upload is a skip`() {
        let local = entry(local: file(size: 5), remote: object(size: 6))
        #expect(
            decide(local, policy(.push, conflict: .local, maximumKeyLength: 3))
                == .skip(.keyTooLong(length: 12, maximum: 3))
        )
    }

    @Test(
        arguments: [
            (
                ConflictKind.bothNew,
                "both sides have it, with different content, and it was never synced"
            ),
            (.bothChanged, "both sides changed it since the last run"),
            (.remoteNewer, "changed in the bucket since the last run"),
            (.localGoneRemoteChanged, "it was removed here and changed in the bucket"),
            (.localChangedRemoteGone, "it was changed here and removed in the bucket"),
        ]
    )
    func `a conflict says how it came about`(kind: ConflictKind, message: String) {
        #expect(kind.message == message)
    }

    @Test(
        arguments: [
            (
                ConflictResolution.downloadKeepingLocal,
                "the version here is kept beside the bucket's"
            ),
            (.download, "the bucket's version replaces the one here"),
            (.upload, "the version here is sent"),
            (.deleteLocal, "the version here goes to the trash"),
            (.deleteRemote, "the bucket's version is deleted"),
            (.stopRun, "the run stops here because of --on-conflict fail"),
        ]
    )
    func `a resolution says what it does`(resolution: ConflictResolution, message: String) {
        #expect(resolution.message(.bothChanged, policy(.pull)) == message)
    }

    @Test(
        arguments: [
            (.pull, .local, .bothChanged, "a push with --on-conflict local sends the version here"),
            (.pull, .skip, .bothNew, "--on-conflict keep-both fetches the bucket's version"),
            (.pull, .keepBoth, .localChangedRemoteGone, "a push brings it back to the bucket"),
            (.push, .keepBoth, .bothChanged, "--on-conflict local sends the version here"),
            (.push, .remote, .remoteNewer, "a pull fetches it"),
            (.push, .local, .localGoneRemoteChanged, "a pull fetches it"),
            (.sync, .skip, .bothNew, "--on-conflict keep-both keeps both"),
            (.sync, .skip, .localChangedRemoteGone, "--on-conflict keep-both keeps what exists"),
        ] as [(SyncDirection, ConflictPolicy, ConflictKind, String)]
    )
    func `what is left alone comes with what settles it`(
        direction: SyncDirection,
        choice: ConflictPolicy,
        kind: ConflictKind,
        advice: String
    ) {
        let policy = policy(direction, conflict: choice)
        #expect(resolution(of: kind, policy) == .leaveBoth)
        let message = ConflictResolution.leaveBoth.message(kind, policy)
        #expect(message == "neither side was changed; \(advice) ('osssync help conflicts')")
    }
}
