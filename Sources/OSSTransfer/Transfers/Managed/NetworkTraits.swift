extension TransferJob {
    /// What an app knows of the network that would not suit every transfer.
    struct NetworkTraits: OptionSet, Sendable, Hashable {
        let rawValue: Int

        static let expensive = NetworkTraits(rawValue: 1)
        static let constrained = NetworkTraits(rawValue: 2)

        init(rawValue: Int) { self.rawValue = rawValue }

        init(isExpensive: Bool, isConstrained: Bool) {
            self = isExpensive ? .expensive : []
            if isConstrained { insert(.constrained) }
        }
    }
}
