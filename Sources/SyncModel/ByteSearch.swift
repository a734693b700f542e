extension Collection<UInt8> {
    /// The first place where all of `bytes` follow one another; nil if there is none.
    package func firstIndex(ofBytes bytes: some Collection<UInt8>) -> Index? {
        indices.first { self[$0...].starts(with: bytes) }
    }
}
