import SyncModel
import SyncPlanner
import Testing

private let key: ObjectKey = "photos/"
private let seen = Timestamp(seconds: 1_700_000_000)

/// A directory with its row and its marker, with or without permissions of their own.
@Suite("Permissions of directories decided")
struct DirectoryModeDecisionTests {
    private func policy(_ direction: SyncDirection, ordinary: UInt32? = 0o755) -> DecisionPolicy {
        var policy = SyncPlannerTests.policy(direction)
        policy.carriesModes = true
        policy.ordinaryDirectory = ordinary
        return policy
    }

    private func local(_ mode: UInt32?, isEmpty: Bool = false) -> LocalEntry {
        LocalEntry(path: key, kind: .directory(isEmpty: isEmpty), permissions: mode)
    }

    private func row(_ mode: UInt32?, at time: Timestamp? = seen) -> ManifestEntry {
        ManifestEntry(marker: key, etag: Recorded.etag, lastModified: time, mode: mode)
    }

    private func marker(writtenAfter seconds: Int64 = 0) -> RemoteObject {
        RemoteObject(
            key: key,
            size: 0,
            etag: Recorded.etag,
            lastModified: Timestamp(seconds: seen.seconds + seconds),
            storageClass: .standard
        )
    }

    private func decisions(
        _ base: ManifestEntry?,
        _ local: LocalEntry?,
        _ remote: RemoteObject?,
        ordinary: UInt32? = 0o755
    ) -> [Decision] {
        let entry = JoinedEntry(key: key, base: base, local: local, remote: remote)
        return [.pull, .push, .sync].map { decide(entry, policy($0, ordinary: ordinary)) }
    }

    private static let none = Decision.nothing(.unchanged)
    private static let implied = Decision.nothing(.impliedDirectory)

    @Test func `only those that mkdir does not give make a marker`() {
        let upload = [Self.implied, .uploadMarker, .uploadMarker]
        let nothing = [Self.implied, Self.implied, Self.implied]
        #expect(decisions(nil, local(0o700), nil) == upload)
        #expect(decisions(nil, local(0o755), nil) == nothing)
        #expect(decisions(nil, local(nil), nil) == nothing)
        // Where a umask allows more or less than the usual one.
        #expect(decisions(nil, local(0o755), nil, ordinary: 0o775) == upload)
        #expect(decisions(nil, local(0o775), nil, ordinary: 0o775) == nothing)
        #expect(decisions(nil, local(0o755), nil, ordinary: 0o700) == nothing)
        #expect(decisions(nil, local(0o700), nil, ordinary: 0o700) == nothing)
        #expect(decisions(nil, local(0o750), nil, ordinary: 0o700) == upload)
        // Where nothing is known of them.
        #expect(decisions(nil, local(0o700), nil, ordinary: nil) == nothing)
    }

    @Test func `recorded ones that changed go to the marker`() {
        let sent: [Decision] = [Self.none, .carryMode(.object), .carryMode(.object)]
        // A pull keeps it, and counts it.
        let changed: [Decision] = [.carryMode(.neither)] + sent.dropFirst()
        #expect(decisions(row(0o700), local(0o700), marker()) == [Self.none, Self.none, Self.none])
        #expect(decisions(row(0o700), local(0o750), marker()) == changed)
        #expect(decisions(row(0o700), local(0o755), marker()) == changed)
        #expect(decisions(row(nil), local(0o700), marker()) == sent)
        #expect(decisions(row(nil), local(0o755), marker()) == [Self.none, Self.none, Self.none])
        #expect(decisions(row(0o700), local(nil), marker()) == [Self.none, Self.none, Self.none])
    }

    @Test func `a marker is asked for once, and when it was written anew`() {
        let asked: [Decision] = [.carryMode(.file), Self.none, .carryMode(.file)]
        #expect(decisions(row(nil, at: nil), local(0o755), marker()) == asked)
        #expect(decisions(row(0o700, at: nil), local(0o700), marker()) == asked)
        #expect(decisions(row(0o700), local(0o700), marker(writtenAfter: 1)) == asked)
        #expect(decisions(row(0o700), local(0o700), marker(writtenAfter: -9))[0] == Self.none)
        // Both changed: a sync sends, a pull keeps what is here.
        let both: [Decision] = [.carryMode(.file), .carryMode(.object), .carryMode(.object)]
        #expect(decisions(row(0o700), local(0o711), marker(writtenAfter: 1)) == both)
    }

    @Test func `without metadata, or empty directories, none are carried`() {
        let entry = JoinedEntry(key: key, base: nil, local: local(0o700), remote: nil)
        var without = policy(.push)
        without.carriesModes = false
        #expect(decide(entry, without) == Self.implied)
        without = policy(.push)
        without.keepsEmptyDirectories = false
        #expect(decide(entry, without) == .nothing(.emptyDirectory))
    }
}
