package import SyncModel

// A state directory is known by the file ``identityName`` in it, whatever its own name is.
extension MirrorDirectory {
    /// The first file of a state directory.
    package static let identityName = "identity"
    /// What it begins with, and what no downloaded file of its name begins with.
    package static let identityHeading = "osssync-state 1"
    /// The same of any form of the file.
    private static let identityMark = [UInt8]("osssync-state ".utf8)
    /// What stands before the name of the state in the second line.
    private static let stateMark = #"{"state":""#
    private static let nameLength = 26
    private static let maximumLength = 64 << 10

    /// True if the directory is the state of a mirror.
    static func isState(_ directory: OpenDirectory) -> Bool {
        beginning(of: directory, identityMark.count).map { $0 == identityMark } ?? false
    }

    /// Fails for a directory within the mirror that is no state and holds something: as a state it
    /// would not be walked, and what it holds not be mirrored.
    ///
    /// - Throws: `notAState`.
    static func requireState(_ path: String, within root: OpenDirectory) throws(LocalError) {
        let (calls, flags) = (root.calls, SystemCalls.directoryFlags)
        let here = SystemCalls.workingDirectory
        // Whatever else is wrong with it is found where it is opened.
        guard let opened = try? calls.open(at: here, PathBytes(path.utf8), flags: flags, mode: 0)
        else { return }
        let directory = OpenDirectory(adopting: opened, calls: calls)
        let ordinary = try root.status(of: PathBytes(RelativePath.stateDirectoryName.utf8))
        guard try directory.isWithin(root), !isState(directory),
            try ordinary?.isSameObject(as: directory.status()) != true,
            try directory.status(of: PathBytes("manifest.db")) == nil
        else { return }
        var isForeign = false
        try unsafe calls.readNames(in: directory.descriptor) { name, _ in
            // What a killed process left that made it.
            isForeign = unsafe PartialName(String(decoding: name, as: UTF8.self)) == nil
            return !isForeign
        }
        if isForeign { throw .notAState(path: displayText(path.utf8)) }
    }

    /// Fails for a path in the state of another mirror, where nothing is mirrored.
    ///
    /// - Throws: `unsafeDirectory`.
    package func requireNoState(above path: RelativePath) throws(LocalError) {
        for place in sequence(first: path, next: \.parent) {
            guard let opened = try? root.directory(beneath: place), Self.isState(opened) else {
                continue
            }
            throw .unsafeDirectory(
                path: place.display,
                reason: "it is the state directory of a mirror, in which nothing is mirrored"
            )
        }
    }

    /// Refuses to give a file a name by which its directory would be taken for a state: whoever may
    /// write to the bucket must not end the mirroring of a directory.
    func refuseIdentity(
        _ path: RelativePath,
        _ holder: OpenDirectory,
        _ name: PathBytes
    ) throws(LocalError) {
        guard !keepsPartialsBeside, !path.isLink, path.name.elementsEqual(Self.identityName.utf8)
        else { return }
        let descriptor = try calls.open(
            at: holder.descriptor,
            name,
            flags: SystemCalls.readingFlags,
            mode: 0
        )
        let file = OpenFile(adopting: descriptor, name: Self.identityName, calls: calls)
        let beginning = try file.read(at: 0, length: Self.identityMark.count)
        if beginning == Self.identityMark { throw .identityOfState(path) }
    }

    private static func beginning(of directory: OpenDirectory, _ length: Int) -> [UInt8]? {
        // What cannot be read is no state of this user's.
        let name = PathBytes(identityName.utf8)
        guard (try? directory.status(of: name))??.kind == .file,
            let descriptor = try? directory.calls.open(
                at: directory.descriptor,
                name,
                flags: SystemCalls.readingFlags,
                mode: 0
            )
        else { return nil }
        let file = OpenFile(adopting: descriptor, name: identityName, calls: directory.calls)
        return try? file.read(at: 0, length: length)
    }

    /// The name of a state, which its first file has; a new one with `makes`, for a state that is
    /// to be known before anything else is in it.
    static func stateName(of state: OpenDirectory, makes: Bool) -> String? {
        if let text = beginning(of: state, maximumLength) {
            let line = text.split(separator: UInt8(ascii: "\n")).dropFirst().first
            guard let line, line.starts(with: stateMark.utf8) else { return nil }
            let name = line.dropFirst(stateMark.utf8.count).prefix { $0 != UInt8(ascii: "\"") }
            let isPlain = name.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
            guard isPlain, !name.isEmpty, name.count <= 64 else { return nil }
            return String(decoding: name, as: UTF8.self)
        }
        guard makes else { return nil }
        let name = newStateName()
        let text = [UInt8]("\(identityHeading)\n\(stateMark)\(name)\"}\n".utf8)
        let content = text + [UInt8]("check \(CRC64(of: text).value)\n".utf8)
        // Where nothing can be written, whatever is written next says so.
        let folder = StateFolder(directory: state, path: "")
        guard let isMade = try? folder.create(identityName, content) else { return nil }
        return isMade ? name : stateName(of: state, makes: false)
    }

    /// A name that no state has.
    package static func newStateName() -> String {
        let digits = SystemCalls.randomNumbers(3).map { String($0, radix: 36) }.joined()
        return String(digits.prefix(nameLength))
    }

    /// True if both paths lead to one directory.
    package static func isSameDirectory(
        _ path: String,
        _ other: String
    ) throws(LocalError) -> Bool {
        let (one, another) = (
            try openRoot(path, createsIfMissing: false, calls: .standard),
            try openRoot(other, createsIfMissing: false, calls: .standard)
        )
        return try one.status().isSameObject(as: another.status())
    }

    /// The content of the first file of the state directory at `path`; nil if that is none.
    package static func identity(at path: String) -> [UInt8]? {
        (try? openRoot(path, createsIfMissing: false, calls: .standard))
            .flatMap { beginning(of: $0, maximumLength) }
    }
}
