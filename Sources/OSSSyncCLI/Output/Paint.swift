/// Colours of one output, or none.
struct Paint: Sendable, Hashable {
    var isOn: Bool

    /// Red.
    func failure(_ text: String) -> String { painted(text, "31") }

    /// Yellow.
    func warning(_ text: String) -> String { painted(text, "33") }

    private func painted(_ text: String, _ code: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// When to use colours.
enum ColorChoice: String, CaseIterable, Sendable {
    /// On a terminal, unless `NO_COLOR` is set.
    case auto
    case always
    case never

    func paint(_ isPossible: Bool) -> Paint {
        switch self {
        case .auto: Paint(isOn: isPossible)
        case .always: Paint(isOn: true)
        case .never: Paint(isOn: false)
        }
    }
}
