extension Int64 {
    /// The sum, or the nearest representable number: sizes that a server or a file states may be
    /// any number, and a total that is only shown must not end the run.
    package func addingClamped(_ other: Int64) -> Int64 {
        let (sum, hasOverflowed) = addingReportingOverflow(other)
        guard hasOverflowed else { return sum }
        return other < 0 ? .min : .max
    }
}
