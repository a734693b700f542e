package import SyncModel
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

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

extension MirrorDirectory {
    /// Fails where a file could not get its name, before its content is fetched.
    ///
    /// A place is asked once for the files of a directory that come one after the other; of names,
    /// only those are tried that not every disk takes, and one of each kind.
    ///
    /// - Throws: `nameRefused`, `nameTaken` by another directory, `otherFileSystem`, or why nothing
    ///   can be written there.
    package func requirePlace(of path: RelativePath, replaces: Bool) throws(LocalError) {
        for name in path.bytes.split(separator: UInt8(ascii: "/")) {
            try requireName(name, path)
        }
        let place = try place(path.parent)
        if let refusal = place.refusal { throw refusal.naming(path) }
        guard replaces, !path.isLink,
            let old = try parent(of: path).status(of: PathBytes(path.name))
        else { return }
        let user = SystemCalls.effectiveUser
        let isOthers = place.isShared && user != 0 && old.owner != user
        guard place.isFixed || old.isFixed || isOthers else { return }
        throw .systemCall(SystemCallError(call: "renameat2", errno: EPERM, path: path.display))
    }

    /// Fails where a new file or directory could not get its name, as far as a look tells: nothing
    /// is written.
    ///
    /// - Throws: `nameRefused` or `nameTaken`; whatever else it meets, the run itself reports.
    package func requireSeenPlace(of path: RelativePath) throws(LocalError) {
        for name in path.bytes.split(separator: UInt8(ascii: "/"))
        where !knownNames.withLock({ $0.contains(name) }) {
            do throws(LocalError) {
                _ = try root.status(of: PathBytes(name))
            } catch {
                guard case .nameRefused = error.naming(path) else { continue }
                throw error.naming(path)
            }
        }
        let collision = path.isDirectory ? nil : try? nameCollision(path)
        if let collision = collision ?? nil { throw collision }
        do throws(LocalError) {
            if path.isDirectory { try requireOwnNames(path, makes: false) }
        } catch {
            if case .nameTaken = error { throw error }
        }
    }

    /// True if ``requirePlace(of:replaces:)`` has nothing to ask for a new file.
    package func isKnownPlace(of path: RelativePath) -> Bool {
        let isKnown = opened.withLock { opened in
            guard let place = opened.place else { return false }
            return place.path == path.parent && place.refusal == nil
        }
        guard isKnown else { return false }
        return knownNames.withLock { known in
            path.bytes.split(separator: UInt8(ascii: "/")).allSatisfy { known.contains($0) }
        }
    }

    private func place(_ path: RelativePath?) throws(LocalError) -> KnownPlace {
        if let known = opened.withLock({ $0.place }), known.path == path { return known }
        let place: KnownPlace
        do throws(LocalError) {
            try requireOwnNames(path, makes: false)
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
        if place.refusal?.isAccessDenied != true { opened.withLock { $0.place = place } }
        return place
    }

    private func look(
        at directory: OpenDirectory,
        _ path: RelativePath?
    ) throws(LocalError) -> KnownPlace {
        let status = try directory.status()
        var refusal = calls.writingRefusal(directory.descriptor, path?.display ?? self.path)
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

    /// Tries a name of a kind that was not tried before, with an empty temporary file.
    private func requireName(
        _ name: ArraySlice<UInt8>,
        _ path: RelativePath
    ) throws(LocalError) {
        guard !knownNames.withLock({ $0.contains(name) }) else { return }
        do throws(LocalError) {
            try tryName(PathBytes(name))
        } catch {
            let refusal = error.naming(path)
            // Any other failure is met, and reported, where the file is written.
            if case .nameRefused = refusal { throw refusal }
            return
        }
        knownNames.withLock { $0.insert(name) }
    }

    private func tryName(_ name: PathBytes) throws(LocalError) {
        let directory = try partials
        let temporary = fileName(newNames.next())
        let descriptor = try calls.open(
            at: directory.descriptor,
            temporary,
            flags: SystemCalls.creationFlags,
            mode: 0o600
        )
        SystemCalls.close(descriptor)
        // One of this name that a kill left there is as good.
        let moved = Result { () throws(LocalError) in
            try calls.renameExclusively(
                from: directory.descriptor,
                temporary,
                to: directory.descriptor,
                name
            )
        }
        if (try? moved.get()) != true {
            try calls.unlink(at: directory.descriptor, temporary)
        }
        _ = try moved.get()
        try calls.unlink(at: directory.descriptor, name)
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

    mutating func insert(_ name: ArraySlice<UInt8>) {
        kinds |= Self.kinds(of: name)
        longest = max(longest, name.count)
    }
}
