internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// Which state this is, and which remote it belongs to.
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

    static let fileName = "identity"
    private static let heading = "osssync-state 1"
    private static let names = ["state", "dialect", "host", "bucket", "prefix"]

    /// A random name, made once.
    let state: String
    let remote: RemoteIdentity

    init(state: String, remote: RemoteIdentity) {
        self.state = state
        self.remote = remote
    }

    /// Nil for what was never written.
    init?(content: [UInt8]) {
        guard let record = StateRecord(Self.heading, content: content) else { return nil }
        let values = Self.names.compactMap { record.text($0) }
        guard values.count == Self.names.count, record.values.map(\.name) == Self.names,
            !values[0].isEmpty
        else { return nil }
        state = values[0]
        remote = RemoteIdentity(
            dialect: values[1],
            endpointHost: values[2],
            bucket: values[3],
            prefix: values[4]
        )
    }

    var content: [UInt8] {
        let values = [state, remote.dialect, remote.endpointHost, remote.bucket, remote.prefix]
        var record = StateRecord(Self.heading)
        for (name, value) in zip(Self.names, values) { record.add(name, value) }
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

    func write(to directory: MirrorDirectory) throws(LocalError) {
        try directory.writeBesideManifest(Self.fileName, content)
    }
}
