internal import SyncModel

/// The first file of a state directory, by which that is known, whatever its own name is.
package enum IdentityFile {
    package static let name = "identity"
    /// What it begins with, and what no downloaded file of its name begins with.
    package static let heading = "osssync-state 1"
    /// The same of any form of the file.
    private static let mark = [UInt8]("osssync-state ".utf8)
    /// What stands before the name of the state in the second line.
    private static let stateMark = #"{"state":""#
    private static let nameLength = 26
    private static let maximumLength = 64 << 10

    /// True if the directory is the state of a mirror.
    static func isState(_ directory: OpenDirectory) -> Bool {
        beginning(of: directory, mark.count).map { $0 == mark } ?? false
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

    /// Refuses to give a file a name by which its directory would be taken for a state: whoever may
    /// write to the bucket must not end the mirroring of a directory.
    static func refuse(
        _ path: RelativePath,
        _ holder: OpenDirectory,
        _ name: PathBytes
    ) throws(LocalError) {
        guard !path.isLink, FoldedName.mayBeOne(path.name, Self.name) else { return }
        let beginning = try holder.file(name, Self.name).read(at: 0, length: mark.count)
        if beginning == mark { throw .identityOfState(path) }
    }

    private static func beginning(of directory: OpenDirectory, _ length: Int) -> [UInt8]? {
        // What cannot be read is no state of this user's.
        let bytes = PathBytes(name.utf8)
        guard (try? directory.status(of: bytes))??.kind == .file else { return nil }
        return try? directory.file(bytes, name).read(at: 0, length: length)
    }

    /// The name of a state, which its first file has; a new one with `makes`, for a state that is
    /// to be known before anything else is in it.
    static func stateName(of state: OpenDirectory, makes: Bool) -> String? {
        if let text = beginning(of: state, maximumLength) {
            let line = text.split(separator: UInt8(ascii: "\n")).dropFirst().first
            guard let line, line.starts(with: stateMark.utf8) else { return nil }
            let name = line.dropFirst(stateMark.utf8.count).prefix { $0 != UInt8(ascii: "\"") }
            let isPlain = name.allSatisfy { $0.isSmallLetter || $0.isDigit }
            guard isPlain, !name.isEmpty, name.count <= 64 else { return nil }
            return String(decoding: name, as: UTF8.self)
        }
        guard makes else { return nil }
        let own = newStateName()
        let text = [UInt8]("\(heading)\n\(stateMark)\(own)\"}\n".utf8)
        let content = text + [UInt8]("check \(CRC64(of: text).value)\n".utf8)
        // Where nothing can be written, whatever is written next says so.
        let folder = StateFolder(directory: state, path: "")
        guard let isMade = try? folder.create(name, content) else { return nil }
        return isMade ? own : stateName(of: state, makes: false)
    }

    /// A name that no state has.
    package static func newStateName() -> String {
        let digits = SystemCalls.randomNumbers(3).map { String($0, radix: 36) }.joined()
        return String(digits.prefix(nameLength))
    }

    /// The content of the first file of the state directory at `path`; nil if that is none.
    package static func content(at path: String) -> [UInt8]? {
        (try? GivenPath.open(path)).flatMap { beginning(of: $0, maximumLength) }
    }
}
