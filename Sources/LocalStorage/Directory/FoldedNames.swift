internal import SyncModel

// File systems that take `A` and `a`, or an accented letter and the letter followed by its accent,
// for one name.

/// The names of the directories on the way to the one that was asked for last.
struct OwnNames {
    private struct Level {
        let path: RelativePath
        let number: OutOfReach.Number
        /// The directories in it, by what its file system may take for one name; nil until a name
        /// needs them.
        var names: [FoldedName: [[UInt8]]]?
    }

    /// Each directory lies in the one before it; the first one lies in the root.
    private var levels: [Level] = []
    private var namesOfRoot: [FoldedName: [[UInt8]]]?

    mutating func require(
        _ path: RelativePath,
        in root: OpenDirectory,
        makes: Bool
    ) throws(LocalError) {
        let components = Array(sequence(first: path, next: \.parent).reversed())
        var directory = openShared(components, root)
        for component in components.dropFirst(levels.count) {
            let name = PathBytes(component.name)
            guard let status = try directory.status(of: name) else {
                if makes { note(component.name) }
                return
            }
            let isDirectory = status.kind == .directory
            if let other = isDirectory
                ? found(component.name, directory) : directory.nameFound(by: component.name)
            {
                throw .nameTaken(component, by: displayText(other))
            }
            // Whatever else is in the way is met where the directory is opened.
            guard isDirectory, let next = try? directory.subdirectory(name) else { return }
            levels.append(Level(path: component, number: OutOfReach.Number(status)))
            directory = next
        }
    }

    /// Keeps the directories that are on the way to this path, too, and returns the last of them:
    /// another one may have its name by now.
    private mutating func openShared(
        _ components: [RelativePath],
        _ root: OpenDirectory
    ) -> OpenDirectory {
        let shared = zip(levels, components).prefix { level, component in
            level.path.bytes.elementsEqual(component.bytes)
        }
        levels.removeSubrange(shared.count...)
        guard let last = levels.last else { return root }
        if let directory = try? root.directory(beneath: last.path),
            let status = try? directory.status(), OutOfReach.Number(status) == last.number
        {
            return directory
        }
        levels = []
        return root
    }

    /// The other directory that `name`, which leads to one, leads to.
    private mutating func found(
        _ name: ArraySlice<UInt8>,
        _ directory: OpenDirectory
    ) -> ArraySlice<UInt8>? {
        guard directory.mayFold(name) else { return nil }
        let folded = FoldedName(name)
        // What came since they were read is looked for once more.
        for isFresh in [false, true] {
            if isFresh || names == nil { read(directory) }
            guard let alike = names?[folded] else { continue }
            return alike.contains { $0.elementsEqual(name) } ? nil : alike.first?[...]
        }
        return nil
    }

    private mutating func read(_ directory: OpenDirectory) {
        var read: [FoldedName: [[UInt8]]] = [:]
        // One that may not be read is as if names did not fold in it.
        try? unsafe directory.calls.readNames(in: directory.descriptor) { name, type in
            guard type == .directory || type == .unknown else { return true }
            let name = unsafe [UInt8](name)
            read[FoldedName(name), default: []].append(name)
            return true
        }
        names = read
    }

    /// Remembers a name that is about to be made in the last directory, where others were read.
    private mutating func note(_ name: ArraySlice<UInt8>) {
        guard names != nil else { return }
        names?[FoldedName(name), default: []].append([UInt8](name))
    }

    private var names: [FoldedName: [[UInt8]]]? {
        get { levels.isEmpty ? namesOfRoot : levels[levels.count - 1].names }
        set {
            if levels.isEmpty {
                namesOfRoot = newValue
            } else {
                levels[levels.count - 1].names = newValue
            }
        }
    }
}

/// Names that have another spelling beside them: some stores take both for one.
struct OtherSpellings {
    private struct Level {
        /// Empty for the root.
        let path: [UInt8]
        /// Only names that have another one of their spelling, which are few.
        let names: [FoldedName: [[UInt8]]]
    }

    /// Each directory lies in the one before it.
    private var levels: [Level] = []

    /// True if the directories on the way to `path` were read, and have no two spellings of a name.
    func areNone(of path: RelativePath) -> Bool {
        let directory = path.bytes.dropLast(path.name.count + 1)
        return levels.contains { $0.path.elementsEqual(directory) }
            && levels.allSatisfy { $0.names.isEmpty }
    }

    /// The other spelling of a name on `path`; nil if all are the only ones of theirs.
    mutating func spelling(of path: RelativePath, in root: OpenDirectory) -> [UInt8]? {
        var found: [UInt8]?
        for (index, component) in sequence(first: path, next: \.parent).reversed().enumerated() {
            let parent = component.parent
            let above = parent?.bytes ?? []
            if index >= levels.count || levels[index].path != above {
                levels.removeSubrange(min(index, levels.count)...)
                let directory = parent.map { try? root.directory(beneath: $0) } ?? root
                levels.append(Level(path: above, names: directory.map(Self.names) ?? [:]))
            }
            let names = levels[index].names
            guard found == nil, !names.isEmpty else { continue }
            let alike = names[FoldedName(component.name)] ?? []
            found = alike.first { !$0.elementsEqual(component.name) }
        }
        return found
    }

    /// The names of a directory that are not the only ones of their spelling; none of one that
    /// cannot be read.
    private static func names(in directory: OpenDirectory) -> [FoldedName: [[UInt8]]] {
        var known: Set<Int> = []
        var repeated: Set<Int> = []
        try? unsafe directory.calls.names(in: directory.descriptor) { name, _ in
            let hash = unsafe hash(of: name)
            if !known.insert(hash).inserted { repeated.insert(hash) }
        }
        guard !repeated.isEmpty else { return [:] }
        var found: [FoldedName: [[UInt8]]] = [:]
        try? unsafe directory.calls.names(in: directory.descriptor) { name, _ in
            guard unsafe repeated.contains(hash(of: name)) else { return }
            let name = unsafe [UInt8](name)
            found[FoldedName(name), default: []].append(name)
        }
        return found.filter { $0.value.count > 1 }
    }

    /// The same for all spellings of a name.
    private static func hash(of name: UnsafeBufferPointer<UInt8>) -> Int {
        guard unsafe name.allSatisfy({ $0 < 0x80 }) else {
            return unsafe FoldedName([UInt8](name)).hashValue
        }
        let hash: UInt64 = unsafe name.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in
            (hash ^ UInt64(byte.withoutCase)) &* 0x100_0000_01b3
        }
        return Int(truncatingIfNeeded: hash)
    }
}

extension OpenDirectory {
    /// The entry that `name`, which leads to one, leads to where the file system takes two names
    /// for one; nil if it is `name` itself.
    func nameFound(by name: some Collection<UInt8>) -> ArraySlice<UInt8>? {
        // Reading the directory for each name that is taken would cost the square of its size.
        guard mayFold(name), let names = try? DirectoryNames(of: self) else { return nil }
        let folded = FoldedName(name)
        var other: ArraySlice<UInt8>?
        for element in names.elements {
            let found = names.bytes(of: element)
            if found.elementsEqual(name) { return nil }
            if FoldedName(found) == folded { other = found }
        }
        return other
    }

    /// False if `name` is certainly the entry that it leads to: in ASCII only the case can fold,
    /// and then the name leads to an entry with each letter in its other case, too.
    func mayFold(_ name: some Collection<UInt8>) -> Bool {
        guard name.allSatisfy({ $0 < 0x80 }) else { return true }
        let turned = name.map { $0.isLetter ? $0 ^ 0x20 : $0 }
        guard !turned.elementsEqual(name) else { return false }
        // They need not have one inode number: some file systems give each name its own.
        return [[UInt8](name), turned].allSatisfy { name in
            (try? status(of: PathBytes(name))) ?? nil != nil
        }
    }
}
