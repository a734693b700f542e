internal import LocalStorage
package import ObjectStorage

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

    static let fileName = IdentityFile.name

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

    /// Reads the file in the state directory.
    static func kept(in directory: MirrorDirectory) throws(LocalError) -> Kept {
        do throws(LocalError) {
            guard let content = try directory.state.read(fileName) else { return .absent }
            return StateIdentity(content: content).map { .identity($0) } ?? .unreadable
        } catch {
            // Something else lies in its place.
            if case .unsafeDirectory = error { return .unreadable }
            throw error
        }
    }

    /// What `init` has confirmed, of the whole mirror; nil for nothing, or what cannot be read.
    static func confirmed(in directory: MirrorDirectory) -> RemoteIdentity? {
        (try? directory.sharedState.read(fileName)).flatMap { StateIdentity(content: $0) }?
            .confirmed
    }

    func write(to directory: MirrorDirectory) throws(LocalError) {
        try directory.state.write(Self.fileName, content)
    }
}

extension StateIdentity: StateFile {
    static let heading = IdentityFile.heading

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        StateIdentity(
            state: try fields("state", value?.state),
            remote: try fields.optional("remote", value?.remote),
            confirmed: try fields.optional("confirmed", value?.confirmed),
            directory: try fields.optional("directory", value?.directory),
            place: try fields.optional("place", value?.place)
        )
    }
}

extension RemoteIdentity: JSONObject {
    package static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
    {
        RemoteIdentity(
            recordedDialect: try fields("dialect", value?.dialect),
            endpointHost: try fields("host", value?.endpointHost),
            endpointPort: try fields.optional("port", value?.endpointPort),
            bucket: try fields("bucket", value?.bucket),
            prefix: try fields("prefix", value?.prefix)
        )
    }
}
