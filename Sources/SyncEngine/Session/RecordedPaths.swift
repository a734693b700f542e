/// Paths in one setting of the manifest.
///
/// None of them has an empty name, so two slashes end each.
struct RecordedPaths {
    private static let separator = "//"

    let paths: [[UInt8]]

    init(_ paths: [[UInt8]]) { self.paths = paths }

    /// Those of a setting.
    init(text: String) {
        var paths: [[UInt8]] = []
        var path: [UInt8] = []
        for byte in text.utf8 {
            if byte == UInt8(ascii: "/"), path.last == byte {
                path.removeLast()
                paths.append(path)
                path = []
            } else {
                path.append(byte)
            }
        }
        if !path.isEmpty { paths.append(path) }
        self.paths = paths
    }

    var text: String {
        paths.map { String(decoding: $0, as: UTF8.self) }.joined(separator: Self.separator)
    }
}
