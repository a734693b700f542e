package import ObjectStorage

/// A file's permissions as object metadata: the name and the form that rclone uses.
package enum FileMode {
    package static let metadataName = "mode"

    /// The type of a regular file among the bits of `stat`.
    private static let regularFile: UInt32 = 0o100000

    /// Octal digits with the file's type, such as `100644`.
    package static func text(_ permissions: UInt32) -> String {
        String(regularFile | permissions & 0o777, radix: 8)
    }

    /// The bits for owner, group and others; nil for anything but the mode of a file, which may
    /// lack the type.
    package static func parse(_ text: String) -> UInt32? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "7")
        guard text.utf8.count <= 8, text.utf8.allSatisfy(digits.contains),
            let mode = UInt32(text, radix: 8)
        else { return nil }
        let type = mode & ~0o7777
        return type == 0 || type == regularFile ? mode & 0o777 : nil
    }

    /// What the object's metadata say.
    package static func of(_ metadata: ObjectMetadata?) -> UInt32? {
        metadata?.userMetadata[metadataName].flatMap(parse)
    }
}
