internal import SyncModel

/// The passwords of encrypted contents, as rclone takes them.
package struct EncryptionPassword: Sendable {
    let first: Secret
    /// Nil for the salt that rclone has of its own.
    let second: Secret?

    /// A first line, and perhaps a second one.
    package init(_ bytes: [UInt8], source: String) throws(CredentialsError) {
        guard isValidUTF8(bytes) else { throw .invalid(source: source, reason: "it is not UTF-8") }
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard let line = lines.first, !line.isEmpty else {
            throw .invalid(source: source, reason: "its first line must be the password")
        }
        guard lines.count <= 2 else {
            throw .invalid(
                source: source,
                reason: "it must have the password, and in a second line at most a second one"
            )
        }
        first = Secret(String(decoding: line, as: UTF8.self))
        second = lines.count == 2 ? Secret(String(decoding: lines[1], as: UTF8.self)) : nil
    }

    /// Reads a file that only its owner can read.
    package init(file path: String) throws(CredentialsError) {
        guard let file = try ConfigurationFile(path: path) else {
            throw .invalid(source: path, reason: "there is no such file of passwords")
        }
        try file.requirePrivacy()
        try self.init(file.bytes, source: path)
    }

    /// Runs a program that prints them, like one that prints credentials.
    package init(
        command: String,
        environment: [String: String],
        timeLimit: Duration
    ) throws(CredentialsError) {
        let process = try CredentialsProcess(
            command: command,
            environment: environment,
            timeLimit: timeLimit
        )
        let source = "the program that prints the passwords"
        let output: [UInt8]
        do throws(CredentialsError) {
            output = try process.output(quotesMessages: false) { Task.isCancelled }
        } catch {
            guard case .processFailed(let reason) = error else { throw error }
            throw .invalid(source: source, reason: "it " + reason)
        }
        try self.init(output, source: source)
    }
}
