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
    case trash
    case restore
    case undo
    case verify
    case log
    case doctor
    case schedule
    case completions
    case help
}
