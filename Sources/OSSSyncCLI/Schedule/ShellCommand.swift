internal import CLibrary
internal import OSSSync

/// A command line for the shell; a user's text in it is in quotes.
struct ShellCommand: Sendable {
    let line: String

    /// Runs it with this program's outputs; false if it failed.
    func run() -> Bool { unsafe system(line) == 0 }

    /// What it prints, and its exit status, which is -1 if it has none.
    func output() -> (bytes: [UInt8], status: Int32) {
        guard let stream = unsafe popen(line, "r") else { return ([], -1) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, stream)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        let status = unsafe pclose(stream)
        return (bytes, status & 0x7F == 0 ? status >> 8 & 0xFF : -1)
    }

    /// Gives it this text to read; false if it failed.
    func feed(_ text: String) -> Bool {
        guard let stream = unsafe popen(line, "w") else { return false }
        let bytes = [UInt8](text.utf8)
        let isWritten = unsafe fwrite(bytes, 1, bytes.count, stream) == bytes.count
        return unsafe pclose(stream) == 0 && isWritten
    }

    /// True if a program of this name is on the PATH.
    static func isThere(_ program: String, path: String?) -> Bool {
        (path ?? "/usr/bin:/bin").split(separator: ":").contains { folder in
            unsafe access("\(folder)/\(program)", X_OK) == 0
        }
    }
}
