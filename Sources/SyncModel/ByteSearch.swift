extension Collection<UInt8> {
    /// The first place where all of `bytes` follow one another; nil if there is none.
    package func firstIndex(ofBytes bytes: some Collection<UInt8>) -> Index? {
        let first = bytes.first
        return indices.first { index in
            first.map { $0 == self[index] } ?? true && self[index...].starts(with: bytes)
        }
    }
}
