extension TransferJob {
    /// What an app knows of the network that would not suit every transfer.
    public struct NetworkTraits: OptionSet, Sendable, Hashable {
        /// One bit for each trait.
        public let rawValue: Int

        /// Takes the bits as they are.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Bytes cost money, as over a mobile network or a personal hotspot; `NWPath.isExpensive`.
        public static let expensive = TransferJob.NetworkTraits(rawValue: 1)
        /// The user wants little to be moved, as in Low Data Mode; `NWPath.isConstrained`.
        public static let constrained = TransferJob.NetworkTraits(rawValue: 2)
    }
}
