internal import CLibrary
internal import OSSSync

/// The directories that were linked on this account, for `osssync mirrors`: a line for each in
/// `~/.config/osssync/mirrors`.
///
/// No run needs it: what cannot be written is added by the next run, and of two lines for one
/// directory the last counts.
struct MirrorList: Sendable {
    struct Entry: Sendable, Hashable {
        /// The real path.
        var directory: String
        /// Nil if the state is in the directory.
        var stateDirectory: String?
        /// The remote, if its contents are encrypted: runs of other mirrors must not wait for the
        /// disk of this one to know it.
        var encrypted: String?

        fileprivate func isOfSame(_ other: Entry) -> Bool {
            directory == other.directory && stateDirectory == other.stateDirectory
        }
    }

    private static let greatestSize = 1 << 20

    private let folder: String

    /// Nil for a user without a home.
    init?(homeDirectory: String?) {
        guard let homeDirectory else { return nil }
        folder = homeDirectory + "/.config/osssync"
    }

    private var path: String { folder + "/mirrors" }

    /// In the order in which they were linked; none if there is no list.
    func entries() -> [Entry] {
        guard let bytes = try? InputFile(limit: Self.greatestSize).content(of: path) else {
            return []
        }
        var known: [Entry] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
                .map { Self.decoded($0) }
            guard fields[0].utf8.first == UInt8(ascii: "/") else { continue }
            let rest = fields.dropFirst().map { $0.isEmpty ? nil : $0 } + [nil, nil]
            let entry = Entry(directory: fields[0], stateDirectory: rest[0], encrypted: rest[1])
            if let index = known.firstIndex(where: entry.isOfSame) {
                known[index] = entry
            } else {
                known.append(entry)
            }
        }
        return known
    }

    /// False for a list that cannot be read, to which nothing is added.
    private var isReadable: Bool {
        unsafe access(path, F_OK) != 0
            || (try? InputFile(limit: Self.greatestSize).content(of: path)) != nil
    }

    /// Adds an entry that is missing.
    func add(_ entry: Entry) {
        guard !entries().contains(entry), isReadable else { return }
        for path in [String(folder.dropLast("/osssync".count)), folder] {
            _ = unsafe mkdir(path, 0o700)
        }
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = unsafe open(path, flags, mode_t(0o600))
        guard descriptor >= 0 else { return }
        defer { _ = close(descriptor) }
        _ = OutputStream(descriptor: descriptor).write(Self.line(entry))
    }

    /// Removes what was unlinked.
    func remove(_ entry: Entry) {
        let all = entries()
        guard all.contains(where: entry.isOfSame) else { return }
        let rest = all.filter { !entry.isOfSame($0) }.map(Self.line).joined()
        _ = replaceFile(path, with: rest, mode: 0o600)
    }

    private static func line(_ entry: Entry) -> String {
        let rest =
            entry.stateDirectory == nil && entry.encrypted == nil
            ? [] : [entry.stateDirectory ?? ""] + [entry.encrypted].compactMap(\.self)
        return ([entry.directory] + rest).map(encoded).joined(separator: "\t") + "\n"
    }

    /// A path in which no byte ends a field or a line.
    private static func encoded(_ path: String) -> String {
        path.unicodeScalars.map { scalar in
            guard scalar.value < 0x20 || scalar.value == 0x7F || scalar == "%" else {
                return String(scalar)
            }
            return "%" + String(0x100 + scalar.value, radix: 16).dropFirst()
        }.joined()
    }

    private static func decoded(_ field: Substring) -> String {
        var (bytes, rest) = ([UInt8](), [UInt8](field.utf8)[...])
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2,
                let code = UInt8(digits, radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension CommandContext {
    var mirrorList: MirrorList? { MirrorList(homeDirectory: sources.homeDirectory) }

    /// The directory as the list has it.
    private var listed: MirrorList.Entry? {
        guard let directory = place.flatMap({ MirrorPlace.realPath($0.directory) }) else {
            return nil
        }
        return MirrorList.Entry(
            directory: directory,
            stateDirectory: sources.options.stateDirectory.map(absolutePath)
        )
    }

    /// Adds the directory to the list if it is linked by now.
    func list(_ mirror: DirectoryMirror) {
        guard var entry = listed, linkedRemote != nil else { return }
        entry.encrypted = mirror.isEncrypted ? mirror.remote.text : nil
        mirrorList?.add(entry)
    }

    func unlistMirror() {
        guard let entry = listed else { return }
        mirrorList?.remove(entry)
    }
}
