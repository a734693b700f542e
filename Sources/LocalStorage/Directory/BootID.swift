internal import CLibrary
internal import SyncModel

extension MirrorDirectory {
    /// See ``SystemCalls/bootID``.
    package var bootID: String { calls.bootID }
}

extension SystemCalls {
    /// Identifies this boot of the operating system: what a killed process wrote is still readable
    /// within the same boot, and may be lost after a power cut.
    ///
    /// Empty if the system does not provide it; then unsynchronized data is not trusted.
    var bootID: String {
        #if canImport(Glibc)
        let descriptor = try? open(
            at: Self.workingDirectory,
            PathBytes(bootIDPath.utf8),
            flags: Self.readingFlags,
            mode: 0
        )
        // No boot ID is an answer of its own, which callers treat as "another boot".
        guard let descriptor,
            let bytes = try? OpenFile(adopting: descriptor, name: "boot_id", calls: self)
                .read(at: 0, length: 64)
        else { return "" }
        return displayText(bytes.prefix { $0 != UInt8(ascii: "\n") })
        #else
        var buffer = [CChar](repeating: 0, count: 64)
        var length = buffer.count
        let code = unsafe sysctlbyname("kern.bootsessionuuid", &buffer, &length, nil, 0)
        guard code == 0 else { return "" }
        return displayText(buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
        #endif
    }
}
