/// The commands, by the name they have on the command line.
enum CommandName: String, CaseIterable, Sendable {
    case `init`
    case pull
    case push
    case sync
    case apply
    case watch
    case shard
    case finish
    case status
    case explain
    case ls
    case get
    case put
    case presign
    case uploads
    case cancel
    case free
    case trash
    case restore
    case undo
    case verify
    case log
    case doctor
    case mirrors
    case schedule
    case keygen
    case completions
    case help
}

/// The commands of most options.
extension [CommandName] {
    static var runs: Self { [.pull, .push, .sync] }

    /// Runs, and what starts them.
    static var runners: Self { runs + [.watch, .schedule] }

    /// These, and what shows what they would do.
    static var planners: Self { runners + [.status, .explain] }

    /// What writes objects.
    static var writers: Self { [.push, .sync, .watch, .put, .schedule] }

    /// All that can make requests.
    static var connected: Self {
        CommandName.allCases.filter { ![.completions, .help, .mirrors, .keygen].contains($0) }
    }

    /// All that open a mirror with its remote.
    static var mirroring: Self {
        connected(except: .get, .put, .presign, .uploads, .ls, .apply, .schedule)
    }

    static func connected(except others: CommandName...) -> Self {
        connected.filter { !others.contains($0) }
    }
}
