internal import OSSBucket
internal import OSSSync

/// `osssync init`.
struct InitCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        if context.arguments.has(.unlink) { return try unlink() }
        let mirror = try context.mirror()
        try context.requirePlain(mirror)
        try mirror.requirePassword()
        let client = try mirror.bucketClient()
        try await client.checkAccess(prefix: mirror.remote.prefix)
        try await mirror.requirePrefix()
        if context.arguments.has(.checkWrite) {
            try await client.checkWriteAccess(prefix: mirror.remote.prefix)
        }
        try mirror.writeLink(confirms: true)
        context.list(mirror)
        tell("linked", mirror.directory, mirror.remote)
        if context.sources.options.encryptionPasswordCommand != nil, !context.output.isQuiet {
            context.complain(
                "the command for the password is not recorded, because other users may be able to "
                    + "change the directory; for later runs, write 'encryption-password-command' "
                    + "into ~/.config/osssync/config"
            )
        }
        return .success
    }

    /// Makes no request and needs no credentials.
    private func unlink() throws -> ExitCode {
        if context.arguments.has(.checkWrite) {
            throw UsageError.contradiction("--unlink", "--check-write")
        }
        let directory = try context.directory()
        let remote = try DirectoryMirror.unlink(
            directory: directory,
            stateDirectory: context.arguments.values[.stateDirectory]
        )
        context.unlistMirror()
        tell("unlinked", directory, remote)
        return .success
    }

    private func tell(_ event: String, _ directory: String, _ remote: BucketLocation) {
        let shown = String(terminalSafe: directory)
        if context.output.isJSON {
            context.say(["event": event, "directory": directory, "remote": remote.display])
        } else if !context.output.isQuiet {
            let joint = event == "linked" ? "with" : "from"
            context.say("\(event) '\(shown)' \(joint) \(remote.display)")
        }
    }
}
