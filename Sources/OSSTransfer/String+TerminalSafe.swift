internal import ObjectStorage
internal import SyncModel

extension String {
    /// Makes a form of a text that is safe on a terminal, in a log and in JSON, of a text that
    /// somebody else may have chosen, such as a key.
    ///
    /// Control characters and the backslash are escaped, and two different texts never look alike.
    package init(terminalSafe text: String) {
        self = displayText(text.utf8)
    }

    /// Makes a text a string of JSON, with its quotes, that is also safe on a terminal.
    ///
    /// Control characters and those that change the direction of text are escaped.
    package init(jsonQuoted text: String) {
        self = JSONText.string(text).text
    }
}

/// The text in a form that is safe to print.
package func displayText(_ text: String) -> String { String(terminalSafe: text) }
