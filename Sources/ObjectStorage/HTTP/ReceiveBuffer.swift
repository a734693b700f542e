/// What the system receives for a connection before the program reads it.
package enum ReceiveBuffer {
    /// Bytes for one connection at most; nil if that is not known.
    package static let maximum: Int64? = {
        #if SystemLibraries && os(Linux)
        // The last of three numbers is the limit of the automatic sizing, which no program of this
        // machine can exceed without a buffer of its own.
        guard let file = try? ConfigurationFile(path: "/proc/sys/net/ipv4/tcp_rmem") else {
            return nil
        }
        return limit(String(decoding: file.bytes, as: UTF8.self))
        #else
        nil
        #endif
    }()

    /// Of the three numbers of `tcp_rmem`, the last; nil if that is not what it is.
    static func limit(_ text: String) -> Int64? {
        let numbers = text.split(whereSeparator: \.isWhitespace).map { Int64($0) }
        guard numbers.count == 3, let limit = numbers[2], limit > 0 else { return nil }
        return limit
    }
}
