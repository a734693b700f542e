internal import OSSSync

/// The arguments of a command on a mirror: `[DIR] [REMOTE] [PATH...]` in any order of kinds.
///
/// An argument that begins with `oss://` or `s3://` is the REMOTE. The first other one is DIR, or a
/// path within a mirror; ``MirrorPlace`` decides by the disk.
struct MirrorArguments: Sendable, Hashable {
    let remote: String?
    /// DIR and PATHs, as they were typed.
    let paths: [String]

    init(_ positionals: [String]) {
        remote = positionals.first(where: Self.isRemote)
        paths = positionals.filter { !Self.isRemote($0) }
    }

    static func isRemote(_ text: String) -> Bool {
        text.utf8.starts(with: "oss://".utf8) || text.utf8.starts(with: "s3://".utf8)
    }

    /// Refuses what no mirror could make sense of; to unlink one, neither of both is needed.
    static func check(
        _ positionals: [String],
        of command: CommandSpecification,
        isUnlinking: Bool
    ) throws(UsageError) {
        func missing(_ name: String) -> UsageError {
            .missingArgument(name, command: command.name)
        }
        if positionals.contains("") { throw missing(command.arguments[0].name) }
        let remotes = positionals.filter(isRemote)
        let takesRemote = command.takes(ArgumentSpecification.remoteName) && !isUnlinking
        if remotes.count > (takesRemote ? 1 : 0), let surplus = remotes.last {
            throw .surplusArgument(String(terminalSafe: surplus), command: command.name)
        }
        let paths = MirrorArguments(positionals).paths
        try checkSurplus(paths, of: command, lacksRemote: takesRemote && remotes.isEmpty)
        guard !isUnlinking else { return }
        for argument in command.arguments where !argument.isOptional {
            let isRemote = argument.name == ArgumentSpecification.remoteName
            if isRemote ? remotes.isEmpty : paths.isEmpty { throw missing(argument.name) }
        }
    }

    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return text.utf8[colon...].starts(with: "://".utf8)
    }

    private static func checkSurplus(
        _ paths: [String],
        of command: CommandSpecification,
        lacksRemote: Bool
    ) throws(UsageError) {
        let path = command.arguments.first { $0.name == ArgumentSpecification.pathName }
        let further = paths.dropFirst()
        if lacksRemote, let other = further.first(where: { path == nil || hasScheme($0) }) {
            // The query of a signed address is a secret.
            throw .notARemote(String(terminalSafe: String(other.prefix { $0 != "?" })))
        }
        guard path?.isRepeated != true, further.count > (path == nil ? 0 : 1),
            let surplus = further.last
        else { return }
        throw .surplusArgument(String(terminalSafe: surplus), command: command.name)
    }
}
