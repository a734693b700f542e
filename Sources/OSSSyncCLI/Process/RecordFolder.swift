internal import CLibrary
internal import OSSSync

/// Where the records of single transfers are kept, which belong to no mirrored directory.
enum RecordFolder {
    /// The folder, with those above it made; nil if there is no home to have it in.
    ///
    /// - Throws: `TransferError` of code `localState`.
    static func path(_ sources: ConfigurationSources) throws(TransferError) -> String? {
        // What is given is the user's own word: only its last part is made.
        if let given = sources.options.stateDirectory { return given }
        guard let base = base(sources) else { return nil }
        let folder = base + "/osssync/transfers"
        // Up to the last part, which the library makes.
        var end = folder.utf8.startIndex
        while let slash = folder.utf8[end...].dropFirst().firstIndex(of: UInt8(ascii: "/")) {
            try make(String(decoding: folder.utf8[..<slash], as: UTF8.self))
            end = slash
        }
        return folder
    }

    private static func base(_ sources: ConfigurationSources) -> String? {
        // The specification of these folders ignores relative paths.
        if let given = sources.environment["XDG_STATE_HOME"], given.utf8.first == UInt8(ascii: "/")
        {
            return given
        }
        #if os(macOS)
        return sources.homeDirectory.map { $0 + "/Library/Application Support" }
        #else
        return sources.homeDirectory.map { $0 + "/.local/state" }
        #endif
    }

    private static func make(_ path: String) throws(TransferError) {
        guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let reason = unsafe String(cString: strerror(errno))
        // One above all may be neither ours nor missing.
        var status = stat()
        if unsafe stat(path, &status) == 0 { return }
        throw TransferError(
            code: .localState,
            message:
                "the folder '\(String(terminalSafe: path))' for records of transfers cannot be "
                + "created: \(reason); specify another one with --state-dir"
        )
    }
}

/// The path from the root, without "." and doubled slashes.
///
/// Records know a file by its path, from whichever directory it is named. ".." stays, because a
/// symbolic link may be before it.
func absolutePath(_ path: String) -> String {
    var whole = path
    if path.utf8.first != UInt8(ascii: "/"), let here = workingDirectory() {
        whole = here + "/" + path
    }
    guard whole.utf8.first == UInt8(ascii: "/") else { return path }
    let parts = whole.utf8.split(separator: UInt8(ascii: "/")).map {
        String(decoding: $0, as: UTF8.self)
    }
    return "/" + parts.filter { $0 != "." }.joined(separator: "/")
}

/// True if something that `path` leads to is a directory.
func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

private func workingDirectory() -> String? {
    guard let pointer = unsafe getcwd(nil, 0) else { return nil }
    defer { unsafe free(pointer) }
    return unsafe String(validatingCString: pointer)
}
