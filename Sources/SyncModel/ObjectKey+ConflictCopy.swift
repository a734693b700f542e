extension ObjectKey {
    /// True for the name of a version that a conflict kept beside its file, such as
    /// `report.conflict-20260131T201500Z-host.pdf`.
    package var isConflictCopy: Bool {
        let bytes = self.bytes
        let name = bytes[(bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
        guard let start = name.firstIndex(ofBytes: ".conflict-".utf8) else { return false }
        // The time: eight digits, a T, six digits, and a Z.
        let time = name[start...].dropFirst(".conflict-".utf8.count).prefix(17)
        return time.count == 17
            && time.enumerated().allSatisfy { index, byte in
                switch index {
                case 8: byte == UInt8(ascii: "T")
                case 15: byte == UInt8(ascii: "Z")
                case 16: byte == UInt8(ascii: "-")
                default: byte.isDigit
                }
            }
    }
}
