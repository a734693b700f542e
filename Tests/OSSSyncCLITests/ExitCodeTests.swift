import Foundation
import OSSSync
import Testing

@testable import OSSSyncCLI

@Suite("Exit status")
struct ExitCodeTests {
    @Test(
        arguments: [
            (.configuration, 2), (.refused, 3), (.credentials, 4), (.localState, 5),
            (.remoteUnreachable, 6), (.locked, 75), (.conflict, 1), (.alreadyExists, 3),
            (.notFound, 1), (.objectChanged, 1), (.needsRestore, 1), (.cannotResume, 1),
            (.corrupt, 1), (.expired, 4), (.forbidden, 4), (.sourceMissing, 5),
            (.unsupportedServer, 6), (.alreadyRunning, 75),
        ] as [(TransferError.Code, Int32)]
    )
    func `every kind of error has its own`(code: TransferError.Code, status: Int32) {
        #expect(ExitCode(code, signal: nil).rawValue == status)
        #expect(ExitCode(code, signal: .interrupt).rawValue == status)
    }

    @Test(
        arguments: [(.interrupt, 130), (.terminate, 143), (.hangUp, 143)] as [(StopSignal, Int32)]
    )
    func `an interrupted run tells the signal`(signal: StopSignal, status: Int32) {
        #expect(ExitCode(.cancelled, signal: signal).rawValue == status)
    }

    @Test func `0 means that everything that was asked for is done`() {
        var summary = RunSummary(direction: .push)
        #expect(ExitCode(summary) == .success)
        let changes: [@Sendable (inout RunSummary) -> Void] = [
            { $0.skipped = 1 }, { $0.damaged = 1 },
            { $0.failed = 1 }, { $0.conflicts = 1 }, { $0.vanished = 1 },
            { $0.deletionsHeldBack = "why" }, { $0.stopped = "why" },
        ]
        for change in changes {
            var summary = RunSummary(direction: .push)
            change(&summary)
            #expect(ExitCode(summary) == .incomplete)
        }
        // What is gone from the remote is nothing that a pull has left undone.
        summary = RunSummary(direction: .pull)
        summary.vanished = 1
        #expect(ExitCode(summary) == .success)
    }

    @Test func `what differs and was not asked for is no failure, and not in step`() {
        #expect(RunSummary(direction: .sync).isInStep)
        let changes: [@Sendable (inout RunSummary) -> Void] = [
            { $0.onlyLocal = 1 }, { $0.onlyRemote = 1 }, { $0.localChanges = 1 },
            { $0.deletedHere = 1 }, { $0.deletedThere = 1 },
        ]
        for direction in [SyncDirection.pull, .push, .sync] {
            for change in changes {
                var summary = RunSummary(direction: direction)
                change(&summary)
                #expect(ExitCode(summary) == .success)
                #expect(!summary.isInStep)
            }
            var summary = RunSummary(direction: direction)
            summary.excluded = 1
            #expect(summary.isInStep)
        }
    }

    @Test(arguments: [
        (SIGINT, Int64(0), true), (SIGTERM, 0, false), (SIGTERM, 9, false), (SIGHUP, 9, false),
        (SIGTERM, 10, true), (SIGHUP, 3_600, true),
    ])
    func `a signal that is sent on soon counts once`(signal: Int32, after: Int64, ends: Bool) {
        #expect(StopSignals.endsAtOnce(signal, after: after) == ends)
    }
}
