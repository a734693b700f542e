internal import CLibrary
internal import OSSSync

/// `osssync keygen`: makes the passwords of encrypted contents; makes no request.
struct KeygenCommand: Sendable {
    let context: CommandContext

    func run() throws -> ExitCode {
        guard let path = context.positional(0) else {
            throw UsageError.missingChoice("a FILE", command: .keygen)
        }
        let shown = String(terminalSafe: path)
        let text = try EncryptionPasswords.random()
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let descriptor = unsafe open(path, flags, mode_t(0o600))
        guard descriptor >= 0 else {
            if errno == EEXIST {
                throw TransferError(
                    code: .refused,
                    message: "'\(shown)' exists, and what it opens could not be read without it; "
                        + "nothing was changed"
                )
            }
            throw failure(shown)
        }
        let isWritten =
            OutputStream(descriptor: descriptor).write(text) && fsync(descriptor) == 0
            && isNameDurable(path)
        let error = isWritten ? nil : failure(shown)
        _ = close(descriptor)
        if let error {
            _ = unsafe unlink(path)
            throw error
        }
        context.say(
            """
            wrote two passwords to '\(shown)', which only you can read
            Keep a copy of it where nothing that happens to this machine can reach it, such as in \
            a password manager and on paper: without it nobody can read what was encrypted with \
            it, and nothing can replace it. Whoever has it, and can read the bucket, can read all.
            Next: osssync init --encrypt --encryption-password-file '\(shown)' DIR REMOTE
            """
        )
        return .success
    }

    /// False if a power cut may take the file's name, and with it all that was encrypted.
    private func isNameDurable(_ path: String) -> Bool {
        let names = absolutePath(path).utf8.split(separator: UInt8(ascii: "/")).dropLast()
        let folder = "/" + names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        return fsync(descriptor) == 0
    }

    private func failure(_ shown: String) -> TransferError {
        TransferError(
            code: .localState,
            message: "'\(shown)' could not be written: \(systemErrorText())"
        )
    }
}
