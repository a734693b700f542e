package import LocalStorage
internal import ObjectStorage
package import SyncModel

/// A single file by the path that an app or a user gave, cut into its directory and its name.
package struct FileDestination: Sendable, Hashable {
    /// May lead over symbolic links, being the user's own word.
    package let parent: String
    package let name: RelativePath

    /// - Throws: `TransferError` of code `configuration` for what can be no file.
    package init(_ path: String) throws(TransferError) {
        let bytes = [UInt8](path.utf8)
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let parent = bytes[..<start]
        do throws(UnsafeKey) {
            name = try RelativePath(key: ObjectKey([UInt8](bytes[start...])))
        } catch {
            throw TransferError(
                code: .configuration,
                message: "'\(displayText(bytes))' is not the path of a file"
            )
        }
        self.parent = parent.isEmpty ? "." : String(decoding: parent, as: UTF8.self)
    }

    /// The directory, opened.
    package func open(_ calls: SystemCalls) throws(LocalError) -> MirrorDirectory {
        do throws(LocalError) {
            return try MirrorDirectory(ofSingleFiles: parent, partials: partials, calls: calls)
        } catch {
            guard case .missingDirectory = error else { throw error }
            throw .missingParent(path: Self.shown(parent))
        }
    }

    /// A directory without the slash at its end, safe to print.
    static func shown(_ directory: String) -> String {
        var bytes = Array(directory.utf8)
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        return displayText(bytes)
    }

    /// The directory, opened; nil if there is none.
    package func openIfPresent(_ calls: SystemCalls) throws(LocalError) -> MirrorDirectory? {
        do throws(LocalError) {
            return try open(calls)
        } catch {
            guard case .missingParent = error else { throw error }
            return nil
        }
    }

    /// What temporary files of this file are called.
    package var partials: PartialSeries {
        PartialSeries(digits: hexadecimalText(Digest.sha256(name.bytes)))
    }
}
