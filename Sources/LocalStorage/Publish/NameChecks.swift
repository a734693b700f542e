internal import CLibrary
package import SyncModel
internal import Synchronization

/// A directory in which files are to get their names.
struct KnownPlace: Sendable {
    let path: RelativePath?
    /// Why no file can get a name there.
    let refusal: LocalError?
    /// True if names are taken away only by the owner of what has them.
    let isShared: Bool
    /// True if no name is taken away.
    let isFixed: Bool
}

/// Whether files can get their names in a mirror, found out before their content is fetched.
package final class NameChecks: Sendable {
    private let root: OpenDirectory
    /// The mirror's, for messages.
    private let path: String
    private let partials: PartialFiles
    private let place = Mutex<KnownPlace?>(nil)
    private let knownNames = Mutex(KnownNames())
    private let ownNames = Mutex(OwnNames())
    private let otherSpellings = Mutex(OtherSpellings())
    /// Nil until a link was tried.
    private let refusesLinks = Mutex<Bool?>(nil)

    init(in root: OpenDirectory, path: String, _ partials: PartialFiles) {
        (self.root, self.path, self.partials) = (root, path, partials)
    }

    /// Fails where a file could not get its name, before its content is fetched.
    ///
    /// A place is asked once for the files of a directory that come one after the other; of names,
    /// only those are tried that not every disk takes, and one of each kind.
    ///
    /// - Throws: `nameRefused`, `nameTaken` by another directory, `otherFileSystem`, or why nothing
    ///   can be written there.
    package func require(_ path: RelativePath, replaces: Bool) throws(LocalError) {
        for name in path.bytes.split(separator: UInt8(ascii: "/")) {
            try requireName(name, path)
        }
        if path.isLink { try requireLinks(path) }
        try requirePlace(of: path, replaces: replaces)
    }

    private func requirePlace(of path: RelativePath, replaces: Bool) throws(LocalError) {
        let place = try place(path.parent)
        if let refusal = place.refusal { throw refusal.naming(path) }
        guard replaces, !path.isLink,
            let old = try root.parent(of: path).status(of: PathBytes(path.name))
        else { return }
        let user = SystemCalls.effectiveUser
        let isOthers = place.isShared && user != 0 && old.owner != user
        guard place.isFixed || old.isFixed || isOthers else { return }
        throw .systemCall(SystemCallError(call: "renameat2", errno: EPERM, path: path.display))
    }

    /// Fails where a file or directory could not get its name, as far as a look tells: nothing is
    /// written.
    ///
    /// - Throws: `nameRefused` or `nameTaken`, `otherFileSystem`, or why nothing can be written
    ///   there; whatever else it meets, the run itself reports.
    package func requireSeen(_ path: RelativePath, replaces: Bool) throws(LocalError) {
        do throws(LocalError) {
            try requirePlace(of: path, replaces: replaces)
        } catch {
            // A run opens directories of this user's that are closed.
            if !error.isAccessDenied { throw error }
        }
        if replaces { return }
        for name in path.bytes.split(separator: UInt8(ascii: "/"))
        where !knownNames.withLock({ $0.contains(name) }) {
            do throws(LocalError) {
                _ = try root.status(of: PathBytes(name))
            } catch {
                guard case .nameRefused = error.naming(path) else { continue }
                throw error.naming(path)
            }
        }
        let collision = path.isDirectory ? nil : try? self.collision(path)
        if let collision = collision ?? nil { throw collision }
        do throws(LocalError) {
            if path.isDirectory { try requireOwn(path, makes: false) }
        } catch {
            if case .nameTaken = error { throw error }
        }
    }

    /// True if ``require(_:replaces:)`` has nothing to ask for a new file.
    package func isKnown(_ path: RelativePath) -> Bool {
        guard !path.isLink || refusesLinks.withLock({ $0 }) == false else { return false }
        let isKnown = place.withLock { place in
            guard let place else { return false }
            return place.path == path.parent && place.refusal == nil
        }
        guard isKnown else { return false }
        return knownNames.withLock { $0.containsAll(of: path.bytes[...]) }
    }

    private func place(_ path: RelativePath?) throws(LocalError) -> KnownPlace {
        if let known = self.place.withLock({ $0 }), known.path == path { return known }
        let place: KnownPlace
        do throws(LocalError) {
            try requireOwn(path, makes: false)
            let directory =
                try path.map { (path) throws(LocalError) in
                    try root.directory(beneath: path)
                } ?? root
            place = try look(at: directory, path)
        } catch {
            switch error {
            case .absent where path != nil:
                // It is made in the directory above.
                let above = try self.place(path?.parent)
                place = KnownPlace(
                    path: path,
                    refusal: above.refusal,
                    isShared: false,
                    isFixed: false
                )
            case .nameTaken:
                place = KnownPlace(path: path, refusal: error, isShared: false, isFixed: false)
            // What is in the way is looked at where files get their names.
            default: return KnownPlace(path: path, refusal: nil, isShared: false, isFixed: false)
            }
        }
        // One that may not be written to may be opened for this run.
        if place.refusal?.isAccessDenied != true { self.place.withLock { $0 = place } }
        return place
    }

    private func look(
        at directory: OpenDirectory,
        _ path: RelativePath?
    ) throws(LocalError) -> KnownPlace {
        let status = try directory.status()
        var refusal = root.calls.writingRefusal(directory.descriptor, path?.display ?? self.path)
        if refusal == nil, let path, try status.mount != root.status().mount {
            refusal = .otherFileSystem(path)
        }
        let user = SystemCalls.effectiveUser
        return KnownPlace(
            path: path,
            refusal: refusal,
            isShared: status.permissions & 0o1000 != 0 && status.owner != user,
            isFixed: status.isFixed
        )
    }

    /// Fails on a disk without symbolic links, of which one is tried once.
    private func requireLinks(_ path: RelativePath) throws(LocalError) {
        let refuses: Bool
        if let known = refusesLinks.withLock({ $0 }) {
            refuses = known
        } else {
            refuses = try refusesLink()
            refusesLinks.withLock { $0 = refuses }
        }
        if refuses { throw .nameRefused(path, reason: "it has no symbolic links") }
    }

    private func refusesLink() throws(LocalError) -> Bool {
        let directory = try partials.directory.descriptor
        let temporary = partials.fileName(partials.newName())
        do throws(LocalError) {
            try root.calls.makeLink(PathBytes([UInt8(ascii: ".")]), at: directory, temporary)
        } catch {
            return [EPERM, ENOSYS, EOPNOTSUPP].contains(error.errno)
        }
        try root.calls.unlink(at: directory, temporary)
        return false
    }

    /// Tries a name of a kind that was not tried before, with an empty temporary file.
    private func requireName(
        _ name: ArraySlice<UInt8>,
        _ path: RelativePath
    ) throws(LocalError) {
        guard !knownNames.withLock({ $0.contains(name) }) else { return }
        do throws(LocalError) {
            try tryName(PathBytes(name), of: path)
        } catch {
            // Any other failure is met, and reported, where the file is written.
            if case .nameRefused = error { throw error }
            return
        }
        knownNames.withLock { $0.insert(name) }
    }

    private func tryName(_ name: PathBytes, of path: RelativePath) throws(LocalError) {
        let directory = try partials.directory
        let calls = root.calls
        let temporary = partials.fileName(partials.newName())
        let descriptor = try calls.open(
            at: directory.descriptor,
            temporary,
            flags: SystemCalls.creationFlags,
            mode: 0o600
        )
        SystemCalls.close(descriptor)
        // One of this name that a kill left there is as good.
        let isMoved: Bool
        do throws(LocalError) {
            isMoved = try calls.renameExclusively(
                from: directory.descriptor,
                temporary,
                to: directory.descriptor,
                name
            )
        } catch {
            try calls.unlink(at: directory.descriptor, temporary)
            // Where a file was just made, only its new name can be what may not be.
            guard error.isNotPermitted else { throw error.naming(path) }
            throw .nameRefused(path, reason: errorText(error.errno ?? 0).lowercased())
        }
        try calls.unlink(at: directory.descriptor, isMoved ? name : temporary)
    }

    /// What a directory could not be made for: one of its names, if that is what the disk refuses.
    func cause(of error: LocalError, making path: RelativePath) -> LocalError {
        guard error.isNotPermitted else { return error.naming(path) }
        for name in path.bytes.split(separator: UInt8(ascii: "/")) {
            do throws(LocalError) {
                try requireName(name, path)
            } catch {
                return error
            }
        }
        return error
    }

    /// Why `path` cannot be made though the walk did not find it: its name, or that of a directory
    /// that it lies in, is one with another that is there; nil if it is free, or if there is a file
    /// of just this name by now.
    package func collision(_ path: RelativePath) throws(LocalError) -> LocalError? {
        do throws(LocalError) {
            try requireOwn(path.parent, makes: false)
        } catch {
            guard case .nameTaken = error else { throw error }
            return error
        }
        guard case .file? = try root.state(at: path),
            let other = try root.parent(of: path).nameFound(by: path.name)
        else { return nil }
        return .nameTaken(path, by: displayText(other))
    }

    /// True if ``otherSpelling(of:)`` certainly has nothing to read, and finds nothing; asked
    /// without a wait for one that reads.
    package func hasNoOtherSpelling(_ path: RelativePath) -> Bool {
        otherSpellings.withLockIfAvailable { $0.areNone(of: path) } ?? false
    }

    /// Another name beside one on `path` that some stores take for the same name; nil if there is
    /// none.
    package func otherSpelling(of path: RelativePath) -> String? {
        otherSpellings.withLock { $0.spelling(of: path, in: root) }.map { displayText($0) }
    }

    /// Fails if a directory on the way to `path`, or it itself, is there under another name only:
    /// what is put there would be found beneath that one.
    ///
    /// What is absent is free. With `makes`, the caller makes it next.
    func requireOwn(_ path: RelativePath?, makes: Bool) throws(LocalError) {
        guard let path else { return }
        try ownNames.withLock { known throws(LocalError) in
            try known.require(path, in: root, makes: makes)
        }
    }
}

/// The kinds of names that were seen to be possible.
struct KnownNames: Sendable {
    /// What every file system takes.
    private static let ordinaryLength = 100
    private static let special = [UInt8](#""*:<>?|\"#.utf8)

    private var kinds: UInt32 = 0
    private var longest = Self.ordinaryLength

    /// One bit for each character that some disks refuse, and for kinds of them.
    private static func kinds(of name: ArraySlice<UInt8>) -> UInt32 {
        var kinds: UInt32 = 0
        for byte in name {
            switch byte {
            // Letters and digits, which most bytes are.
            case 0x61...0x7A, 0x30...0x39, 0x41...0x5A: break
            case ..<0x20, 0x7F: kinds |= 1
            case 0x80..<0xF0: kinds |= 2
            case 0xF0...: kinds |= 4
            default:
                if let index = special.firstIndex(of: byte) { kinds |= 16 << UInt32(index) }
            }
        }
        if name.last == UInt8(ascii: ".") || name.last == UInt8(ascii: " ") { kinds |= 8 }
        return kinds
    }

    func contains(_ name: ArraySlice<UInt8>) -> Bool {
        name.count <= longest && Self.kinds(of: name) & ~kinds == 0
    }

    /// True if all names of a path are of such kinds.
    func containsAll(of path: ArraySlice<UInt8>) -> Bool {
        guard let slash = path.firstIndex(of: UInt8(ascii: "/")) else { return contains(path) }
        return contains(path[..<slash]) && containsAll(of: path[(slash + 1)...])
    }

    mutating func insert(_ name: ArraySlice<UInt8>) {
        kinds |= Self.kinds(of: name)
        longest = max(longest, name.count)
    }
}
