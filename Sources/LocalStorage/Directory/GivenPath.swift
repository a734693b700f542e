internal import CLibrary
package import SyncModel

/// What a path leads to that a user gave.
///
/// Its symbolic links are followed: what is found below a mirror never is.
package enum GivenPath {
    /// Opens a mirrored directory, with what its disk was found to refuse.
    static func open(
        _ path: String,
        createsIfMissing: Bool = false,
        calls: SystemCalls = .standard
    ) throws(LocalError) -> OpenDirectory {
        let shown = displayText(path.utf8)
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .missingDirectory(path: shown) }
        let bytes = PathBytes(path.utf8)
        func opened() throws(LocalError) -> OpenDirectory {
            let descriptor = try calls.open(
                at: SystemCalls.workingDirectory,
                bytes,
                flags: SystemCalls.followingDirectoryFlags,
                mode: 0
            )
            var calls = calls
            calls.refusals = DiskRefusals()
            calls.dropsFractions = (try? calls.keepsWholeSeconds(descriptor)) ?? false
            return OpenDirectory(adopting: descriptor, calls: calls)
        }
        do throws(LocalError) {
            do throws(LocalError) {
                return try opened()
            } catch {
                guard error.errno == ENOENT, createsIfMissing else { throw error }
                let working = SystemCalls.workingDirectory
                _ = try calls.makeDirectory(at: working, bytes, mode: 0o777)
                return try opened()
            }
        } catch {
            switch error.errno {
            case ENOENT: throw .missingDirectory(path: shown)
            case ENOTDIR: throw .notADirectory(path: shown)
            default: throw error
            }
        }
    }

    /// Refuses a directory that does not exist, without opening more of it.
    package static func require(_ path: String) throws(LocalError) {
        _ = try open(path)
    }

    /// The path of the file that `path` leads to, over all symbolic links.
    package static func resolved(_ path: String) throws(LocalError) -> String {
        guard !path.utf8.contains(0) else { throw .missingDirectory(path: displayText(path.utf8)) }
        guard let found = unsafe realpath(path, nil) else {
            if errno == ENOENT { throw .missingFile }
            throw .systemCall(
                SystemCallError(call: "realpath", errno: errno, path: displayText(path.utf8))
            )
        }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// The key that the file at `path` has in a mirror of `directory`; nil for one that lies
    /// elsewhere, or is not there.
    package static func key(of path: String, beneath directory: String) -> ObjectKey? {
        guard let root = try? resolved(directory), let file = try? resolved(path) else {
            return nil
        }
        let beneath = root == "/" ? root : root + "/"
        guard file.utf8.starts(with: beneath.utf8) else { return nil }
        return ObjectKey([UInt8](file.utf8.dropFirst(beneath.utf8.count)))
    }

    /// The directories around the one that `path` leads to, the innermost first, each with what
    /// comes before a name in that one to make it a name in this one.
    package static func around(_ path: String) -> [(path: String, prefix: [UInt8])] {
        let bytes = [UInt8](((try? resolved(path)) ?? path).utf8) + [UInt8(ascii: "/")]
        let steps = bytes.indices.dropFirst().dropLast().filter { bytes[$0] == UInt8(ascii: "/") }
        return steps.reversed().map { step in
            (String(decoding: bytes[..<step], as: UTF8.self), [UInt8](bytes[(step + 1)...]))
        }
    }

    /// True if both paths lead to one directory.
    package static func isSameDirectory(
        _ path: String,
        _ other: String
    ) throws(LocalError) -> Bool {
        try open(path).status().isSameObject(as: open(other).status())
    }

    /// True for what leads to a directory, over links.
    package static func isDirectory(_ path: String) -> Bool {
        SystemCalls.standard.statusFollowingLinks(PathBytes(path.utf8))?.kind == .directory
    }

    /// True if another mount than that of the directory around it begins there.
    package static func isMountPoint(_ path: String) -> Bool {
        let calls = SystemCalls.standard
        let name = PathBytes(path.utf8)
        let around = PathBytes((path + "/..").utf8)
        guard let status = try? calls.status(at: SystemCalls.workingDirectory, name),
            let parent = calls.statusFollowingLinks(around)
        else { return false }
        return status.isMountPoint(in: parent)
    }

    /// True for a name that something has, be it a link that leads nowhere.
    package static func isThere(_ path: String) -> Bool {
        let calls = SystemCalls.standard
        let status = try? calls.status(at: SystemCalls.workingDirectory, PathBytes(path.utf8))
        return status != nil
    }

    /// Bytes that this user may still write on the disk of a directory, be it a mirror or not.
    package static func freeBytes(at path: String) throws(LocalError) -> Int64 {
        let root = try open(path)
        return try root.calls.freeSpace(root.descriptor).bytes
    }

    /// Opens a file to read it; nil for what is none, or is not there.
    package static func file(_ path: String) throws(LocalError) -> OpenFile? {
        let last = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
        let name = PathBytes([UInt8](last))
        let above = String(decoding: path.utf8.dropLast(last.count), as: UTF8.self)
        guard isDirectory(above) else { return nil }
        let folder = try open(above)
        guard try folder.status(of: name)?.kind == .file else { return nil }
        return try folder.file(name, displayText(path.utf8))
    }

    /// Refuses a path that leads over a symbolic link beneath a directory; those above that are the
    /// user's.
    package static func requireNoLink(
        beneath directory: String,
        above path: String
    ) throws(LocalError) {
        let (bytes, beginning) = ([UInt8](path.utf8), directory.utf8.count + 1)
        for index in bytes.indices.dropFirst(beginning) where bytes[index] == UInt8(ascii: "/") {
            let above = PathBytes(bytes[..<index])
            let calls = SystemCalls.standard
            let found = try calls.status(at: SystemCalls.workingDirectory, above)
            guard found?.kind == .special(.symbolicLink) else { continue }
            if let link = try? RelativePath(path: ObjectKey(bytes[beginning..<index])) {
                throw .symlinkInPath(link)
            }
        }
    }

    /// A name beside `path`, for what is put in its place.
    package static func temporary(beside path: String) -> String {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
        return String(decoding: path.utf8.dropLast(name.count), as: UTF8.self)
            + ".\(PartialName.random().text).partial"
    }

    /// Makes a symbolic link of the text that a file has, in the place of that file, and renames it
    /// to the last name of `path`, which is in the same directory: over a file or link, if one is
    /// there.
    ///
    /// - Throws: `noLinkText` for what no link can have as its text.
    package static func makeLink(
        _ link: RelativePath,
        ofTextIn file: String,
        at path: String
    ) throws(LocalError) {
        let folder = try folder(above: file, in: nil, .standard) { _ in 0o777 }
        func name(_ path: String) -> PathBytes {
            PathBytes([UInt8](path.utf8.split(separator: UInt8(ascii: "/")).last ?? []))
        }
        let (old, new) = (name(file), name(path))
        let text = try folder.file(old, file).read(
            at: 0,
            length: RelativePath.maximumLinkLength + 1
        )
        try folder.calls.unlink(at: folder.descriptor, old)
        guard !text.isEmpty, text.count <= RelativePath.maximumLinkLength, !text.contains(0) else {
            throw .noLinkText(link)
        }
        try folder.calls.makeLink(PathBytes(text), at: folder.descriptor, old)
        do throws(LocalError) {
            try folder.calls.rename(from: folder.descriptor, old, to: folder.descriptor, new)
            try folder.calls.synchronize(folder.descriptor)
        } catch {
            _ = try? folder.calls.unlink(at: folder.descriptor, old)
            throw error
        }
    }

    /// `permissions` has those of what is made, 0 being the last directory and 1 the one above it.
    ///
    /// A directory that is there, at or beneath `outside`, is to be open to no more users, and is
    /// closed to them if it is empty. Beneath, no link is followed.
    ///
    /// - Throws: `openForMore`.
    static func folder(
        above path: String,
        in outside: String?,
        _ calls: SystemCalls,
        permissions: (Int) throws(LocalError) -> UInt32
    ) throws(LocalError) -> OpenDirectory {
        let flags = SystemCalls.followingDirectoryFlags
        let here = SystemCalls.workingDirectory
        let slash: [UInt8] = [UInt8(ascii: "/")]
        var directory = OpenDirectory(
            adopting: try calls.open(at: here, PathBytes(slash), flags: flags, mode: 0),
            calls: calls
        )
        func split(_ path: String) -> [Substring.UTF8View] {
            path.utf8.split(separator: UInt8(ascii: "/"))
        }
        let names = split(path).dropLast()
        let top = outside.map { split($0).count - 1 } ?? .max
        for (index, bytes) in names.enumerated() {
            let name = PathBytes([UInt8](bytes))
            let depth = names.count - 1 - index
            let found = try directory.status(of: name)
            if found == nil {
                let mode = try permissions(depth)
                _ = try calls.makeDirectory(at: directory.descriptor, name, mode: mode)
            }
            // What is there may be a link to a directory.
            let opening = index > top ? SystemCalls.directoryFlags : flags
            directory = OpenDirectory(
                adopting: try calls.open(at: directory.descriptor, name, flags: opening, mode: 0),
                calls: calls
            )
            if found != nil, index >= top {
                try directory.close(to: permissions(depth), String(Substring(bytes)))
            }
        }
        return directory
    }
}

extension OpenDirectory {
    /// Lets no more users into an empty directory of this user's than `permissions` do.
    fileprivate func close(to permissions: UInt32, _ name: String) throws(LocalError) {
        let status = try status()
        let allowed = status.permissions & (permissions | 0o7700)
        guard allowed != status.permissions else { return }
        var isEmpty = true
        try unsafe calls.names(in: descriptor) { _, _ in isEmpty = false }
        guard isEmpty, status.owner == SystemCalls.effectiveUser,
            status.permissions & 0o1000 == 0
        else { throw .openForMore(path: displayText(name.utf8)) }
        try calls.setMode(descriptor, allowed)
    }
}
