internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// Which state this is, and which remote and directory it belongs to.
///
/// It is kept in the manifest, and in a small file beside it: a manifest can be lost or damaged,
/// and one that is begun anew would take any remote for the right one.
struct StateIdentity: Sendable, Hashable {
    /// What the file says.
    enum Kept: Sendable, Hashable {
        case absent
        case unreadable
        case identity(StateIdentity)
    }

    static let fileName = MirrorDirectory.identityName
    private static let names = ["dialect", "host", "port", "bucket", "prefix"]
    private static let confirmed = "confirmed-"

    /// A random name, made once.
    var state: String
    /// Nil before the first run.
    var remote: RemoteIdentity?
    /// The one that `init` was told to link with, until a run has taken it.
    var confirmed: RemoteIdentity?
    /// Where the directory was, for messages.
    var directory: String?
    /// Where the state itself was, if that was chosen; a copy of it says where the original is.
    var place: String?

    init(
        state: String,
        remote: RemoteIdentity? = nil,
        confirmed: RemoteIdentity? = nil,
        directory: String? = nil,
        place: String? = nil
    ) {
        self.state = state
        self.remote = remote
        self.confirmed = confirmed
        self.directory = directory
        self.place = place
    }

    /// Nil for what was never written.
    init?(content: [UInt8]) {
        guard let record = StateRecord(MirrorDirectory.identityHeading, content: content),
            let state = record.text("state"), !state.isEmpty
        else { return nil }
        self.state = state
        remote = Self.remote(in: record, "")
        confirmed = Self.remote(in: record, Self.confirmed)
        directory = record.text("directory")
        place = record.text("place")
    }

    private static func remote(in record: StateRecord, _ beginning: String) -> RemoteIdentity? {
        guard let dialect = record.text(beginning + names[0]),
            let host = record.text(beginning + names[1]),
            let bucket = record.text(beginning + names[3]),
            let prefix = record.text(beginning + names[4])
        else { return nil }
        return RemoteIdentity(
            recordedDialect: dialect,
            endpointHost: host,
            endpointPort: record.text(beginning + names[2]),
            bucket: bucket,
            prefix: prefix
        )
    }

    var content: [UInt8] {
        var record = StateRecord(MirrorDirectory.identityHeading)
        record.add("state", state)
        for (remote, beginning) in [(remote, ""), (confirmed, Self.confirmed)] {
            guard let remote else { continue }
            let values: [String?] = [
                remote.dialect, remote.endpointHost, remote.endpointPort, remote.bucket,
                remote.prefix,
            ]
            for (name, value) in zip(Self.names, values) {
                if let value { record.add(beginning + name, value) }
            }
        }
        if let directory { record.add("directory", directory) }
        if let place { record.add("place", place) }
        return record.content
    }

    /// Reads the file in the state directory.
    static func kept(in directory: MirrorDirectory) throws(LocalError) -> Kept {
        do throws(LocalError) {
            guard let content = try directory.fileBesideManifest(fileName) else { return .absent }
            return StateIdentity(content: content).map { .identity($0) } ?? .unreadable
        } catch {
            // Something else lies in its place.
            if case .unsafeDirectory = error { return .unreadable }
            throw error
        }
    }

    /// What `init` has confirmed, of the whole mirror; nil for nothing, or what cannot be read.
    static func confirmed(in directory: MirrorDirectory) -> RemoteIdentity? {
        (try? directory.stateFile(fileName)).flatMap { StateIdentity(content: $0) }?.confirmed
    }

    func write(to directory: MirrorDirectory) throws(LocalError) {
        try directory.writeBesideManifest(Self.fileName, content)
    }
}
