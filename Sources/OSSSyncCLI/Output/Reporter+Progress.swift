extension Reporter {
    /// The form of progress, chosen once.
    enum Progress: Sendable, Hashable {
        case none
        case bar
        case plain
    }

    static func choose(_ options: OutputOptions, canDraw: Bool) -> Progress {
        switch options.progress {
        case .none: .none
        case .plain: .plain
        case .bar: canDraw ? .bar : .plain
        case .auto where options.isJSON || options.isQuiet: .none
        case .auto: canDraw ? .bar : .plain
        }
    }
}
