internal import OSSSync

/// What the commands have that need no remote.
extension CommandContext {
    /// The paths that the command is limited to.
    var paths: [String] { place?.paths ?? [] }

    /// The same with those of `--files-from`, which is read now.
    func limitedPaths() throws(UsageError) -> [String] {
        guard let file = arguments.values[.filesFrom] else { return paths }
        return paths + (try PathList(reading: file).paths)
    }

    func localMirror() throws(UsageError) -> LocalMirror {
        let directory = try directory()
        if let lost = lostLink(directory) { throw .lostLink(lost) }
        return LocalMirror(
            directory: directory,
            stateDirectory: sources.options.stateDirectory,
            homeDirectory: sources.homeDirectory,
            environment: SystemClocks.engine(hostName: sources.hostName)
        )
    }

    /// `2026-01-02 03:04:05`, local time, or as many blanks.
    func timeText(_ time: StoreTime?) -> String {
        time?.localText ?? String(repeating: " ", count: 19)
    }

    /// Said once where local times are shown: `local time, +01:00`.
    static var zoneText: String {
        "local time, " + StoreTime(secondsSince1970: WallClock.now().seconds).localOffset
    }
}
