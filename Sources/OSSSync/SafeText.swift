internal import SyncModel

/// Text that a stranger may have chosen, safe on a terminal, in a log and in JSON: controls and
/// the backslash are escaped, and two different texts never show alike.
package func displayText(_ text: String) -> String {
    SyncModel.displayText(text.utf8)
}
