internal import OSSSync

/// `osssync get`.
struct GetCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let arguments = try SingleOptions(context.arguments)
        var options = DownloadOptions()
        options.ifExists = arguments.replaces ? .replace : .fail
        options.progressInterval = .milliseconds(250)
        if let size = arguments.partSize { options.partSize = size }
        if let streams = arguments.streams { options.streams = streams }
        options.streams = DescriptorLimit.raised().requests(of: options.streams)
        let isStream = context.positional(1) == SingleOptions.stream
        let takesEncrypted = isStream && arguments.replaces
        var (source, subject, path) = try source(options.streams, takesEncrypted)
        if let opened = try source.opened(by: context.sources) {
            source = opened
        } else if takesEncrypted {
            source.takesEncrypted = true
        }
        guard !isStream else {
            return try await write(source, subject, options, arguments)
        }
        options.recordDirectory = try RecordFolder.path(context.sources)
        let report = TransferReport(context, .download, of: subject)
        if options.recordDirectory == nil {
            report.warn("HOME is not set, so an interrupted download cannot be resumed")
        }
        let download = try ResumableDownload(
            from: source,
            to: path,
            options: options,
            onNotice: report.note
        )
        let outcome: ResumableDownload.Outcome
        do throws(TransferError) {
            let progress = download.transfer.progress
            outcome = try await report.following(progress) { () throws(TransferError) in
                try await download.run()
            }
        } catch {
            throw Self.advising(error, subject)
        }
        guard case .finished(let file) = outcome else { return .interrupted }
        tell(file, report)
        return .success
    }

    /// Writes the object, and nothing else, to standard output.
    private func write(
        _ source: DownloadSource,
        _ subject: String,
        _ options: DownloadOptions,
        _ arguments: SingleOptions
    ) async throws -> ExitCode {
        guard !context.output.isJSON else {
            throw UsageError.badArgument(
                "--json",
                expected: "standard output is for the object; specify a file"
            )
        }
        let report = TransferReport(context, .download, of: subject)
        let object: StreamedObject?
        do throws(TransferError) {
            object = try await report.streaming(showsItem: false) { () throws(TransferError) in
                try await source.write(
                    to: OutputStream.standardOutput.descriptor,
                    name: "standard output",
                    partSize: arguments.partSize ?? Self.heldPart,
                    streams: min(options.streams, arguments.streams ?? Self.heldParts),
                    onProgress: { report.note(moved: $0, of: $1) }
                )
            }
        } catch {
            throw Self.advising(error, subject)
        }
        // The reader of a pipe that has gone wants to hear nothing.
        guard let object else { return .incomplete }
        if !object.isVerified { report.warn(Self.unverified) }
        return .success
    }

    /// Parts of a stream are held in memory.
    private static let heldPart: Int64 = 8 << 20
    private static let heldParts = 4

    private static let unverified =
        "the store provides no checksum of the content, so only its length was checked"

    /// What is fetched, what messages call it, and where it goes.
    private func source(
        _ streams: Int,
        _ takesEncrypted: Bool
    ) throws -> (DownloadSource, subject: String, path: String) {
        guard let text = context.positional(0), let target = context.positional(1) else {
            throw UsageError.noCommand
        }
        let asked = context.arguments.values[.headURL]
        let path = absolutePath(target)
        let isPlace = target.utf8.last == UInt8(ascii: "/") || isDirectory(path)
        let input = try SignedURLInput.reading(text)
        if input != nil || SignedURLInput.isURL(text) {
            guard asked == nil || input?.head == nil else {
                throw UsageError.contradiction(
                    "--head-url",
                    "a second line of \(String(terminalSafe: text))"
                )
            }
            let (get, head) = (input?.get ?? text, input?.head ?? asked)
            guard !isPlace else {
                throw UsageError.badArgument(
                    String(terminalSafe: target),
                    expected: "specify a file, because a URL does not always contain the object's "
                        + "name"
                )
            }
            let source = try DownloadSource.presigned(
                PresignedURLs(get: get, head: head),
                connection: try ConnectionSettings(
                    to: get,
                    sources: context.sources,
                    connectionLimit: streams
                )
            )
            // What follows the question mark is the permission.
            return (source, String(get.prefix { $0 != "?" }), path)
        }
        guard asked == nil else {
            throw UsageError.badArgument(
                String(terminalSafe: text),
                expected: "--head-url is only for a signed URL"
            )
        }
        let object = try context.object(text)
        let client = try BucketClient(
            object.bucket,
            dialect: object.dialect,
            sources: context.sources,
            connectionLimit: streams
        )
        let source = DownloadSource.object(client, key: object.key)
        return (
            takesEncrypted ? source : try context.opened(source, of: object), object.text,
            isPlace ? absolutePath(path + "/" + object.name) : path
        )
    }

    private static func advising(_ error: TransferError, _ subject: String) -> TransferError {
        let message =
            switch error.code {
            case .alreadyExists: error.message + "; use --force to replace it"
            case .notFound: "there is no object '\(String(terminalSafe: subject))'"
            default: error.message
            }
        return TransferError(
            code: error.code,
            message: message,
            underlying: error,
            requestID: error.requestID
        )
    }

    private func tell(_ file: DownloadedFile, _ report: TransferReport) {
        if !file.isVerified {
            report.warn(Self.unverified)
        }
        if context.output.isJSON {
            context.say([
                "event": "downloaded",
                "path": file.path,
                "size": file.info.size,
                "etag": file.info.etag,
                "crc64": String(file.crc64),
                "verified": file.isVerified,
            ])
        } else if !context.output.isQuiet {
            context.say("downloaded '\(String(terminalSafe: file.path))' (\(report.text))")
        }
    }
}
