package import ObjectStorage

/// The permissions of a file or directory as object metadata: the name and the form that rclone
/// uses.
package enum FileMode {
    package static let metadataName = "mode"

    /// What an object stands for, by its bits among those of `stat`.
    package enum Kind: UInt32, Sendable {
        case file = 0o100000
        /// An object that is the marker of one.
        case directory = 0o40000
    }

    /// Octal digits with the type, such as `100644`.
    package static func text(_ permissions: UInt32, _ kind: Kind = .file) -> String {
        String(kind.rawValue | permissions & 0o777, radix: 8)
    }

    /// The bits for owner, group and others; nil for anything but the mode of `kind`, which may
    /// lack the type.
    package static func parse(_ text: String, _ kind: Kind = .file) -> UInt32? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "7")
        guard text.utf8.count <= 8, text.utf8.allSatisfy(digits.contains),
            let mode = UInt32(text, radix: 8)
        else { return nil }
        let type = mode & ~0o7777
        return type == 0 || type == kind.rawValue ? mode & 0o777 : nil
    }

    /// What the object's metadata say.
    package static func of(_ metadata: ObjectMetadata?, _ kind: Kind = .file) -> UInt32? {
        metadata?.userMetadata[metadataName].flatMap { parse($0, kind) }
    }
}
