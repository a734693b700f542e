internal import SyncModel

/// Escapes text that a stranger may have chosen, for a terminal, a log or JSON.
///
/// Controls and the backslash are escaped, and two different texts never show alike.
public func displayText(_ text: String) -> String {
    SyncModel.displayText(text.utf8)
}
