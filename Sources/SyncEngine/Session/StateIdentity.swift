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
        let text = String(decoding: content, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == Self.names.count + 3, lines[0] == Self.heading else { return nil }
        let values = zip(Self.names, lines.dropFirst()).compactMap { name, line -> String? in
            guard line.hasPrefix(name + " ") else { return nil }
            return Self.unescaped(line.utf8.dropFirst(name.utf8.count + 1))
        }
        guard values.count == Self.names.count, !values[0].isEmpty else { return nil }
        state = values[0]
        remote = RemoteIdentity(
            dialect: values[1],
            endpointHost: values[2],
            bucket: values[3],
            prefix: values[4]
        )
        // Also a single wrong byte would name another remote.
        guard self.content == content else { return nil }
    }

    var content: [UInt8] {
        let values = [state, remote.dialect, remote.endpointHost, remote.bucket, remote.prefix]
        let lines = zip(Self.names, values).map { "\($0) \(Self.escaped($1))\n" }
        let text = Self.heading + "\n" + lines.joined()
        return [UInt8]("\(text)check \(CRC64(of: [UInt8](text.utf8)).value)\n".utf8)
    }

    /// Reads the file in the state directory.
    static func kept(in directory: MirrorDirectory) throws(LocalError) -> Kept {
        do throws(LocalError) {
            guard let content = try directory.stateFile(fileName) else { return .absent }
            return StateIdentity(content: content).map { .identity($0) } ?? .unreadable
        } catch {
            // Something else lies in its place.
            if case .unsafeDirectory = error { return .unreadable }
            throw error
        }
    }

    func write(to directory: MirrorDirectory) throws(LocalError) {
        try directory.writeStateFile(Self.fileName, content)
    }

    // A prefix can hold line ends.
    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte -> [UInt8] in
            guard byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "%") else { return [byte] }
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ bytes: some Sequence<UInt8>) -> String? {
        percentDecode([UInt8](bytes)).map { String(decoding: $0, as: UTF8.self) }
    }
}
