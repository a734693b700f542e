internal import CLibrary
internal import OSSSync

/// `osssync put`.
struct PutCommand: Sendable {
    private static let callbackBody =
        "bucket=${bucket}&key=${object}&etag=${etag}&size=${size}"

    let context: CommandContext

    func run() async throws -> ExitCode {
        let arguments = try SingleOptions(context.arguments)
        var options = UploadOptions()
        options.progressInterval = .milliseconds(250)
        if let size = arguments.partSize { options.partSize = size }
        if let streams = arguments.streams { options.streams = streams }
        options.streams = DescriptorLimit.raised().requests(of: options.streams)
        options.properties = try RunOptions(context.arguments).properties
        options.ifExists = arguments.replaces ? .replace : .fail
        options.callback = try callback()
        let (file, object) = try places()
        try options.properties.check(for: object.dialect)
        let client = try BucketClient(
            object.bucket,
            dialect: object.dialect,
            sources: context.sources,
            connectionLimit: options.streams
        )
        let target = try context.uploadTarget(object, by: client)
        if arguments.replaces, target.cipher == nil {
            try await client.requireNotEncrypted(object.key)
        }
        let report = TransferReport(context, .upload, of: object.text)
        guard file != SingleOptions.stream else {
            return try await send(target, object, options, arguments.partSize, report)
        }
        options.recordDirectory = try RecordFolder.path(context.sources)
        if options.recordDirectory == nil {
            report.warn("HOME is not set, so an interrupted upload cannot be resumed")
        }
        let upload = try ResumableUpload(
            of: absolutePath(file),
            to: target,
            options: options,
            onNotice: report.note
        )
        let outcome: ResumableUpload.Outcome
        do throws(TransferError) {
            outcome = try await report.following(upload.transfer.progress) {
                () throws(TransferError) in
                try await upload.run()
            }
        } catch {
            throw Self.advising(error, object)
        }
        guard case .finished(let made) = outcome else { return .interrupted }
        tell(made, object, report)
        if case .failed = made.callback { return .incomplete }
        return .success
    }

    /// Sends standard input.
    private func send(
        _ target: UploadTarget,
        _ object: ObjectReference,
        _ given: UploadOptions,
        _ partSize: Int64?,
        _ report: TransferReport
    ) async throws -> ExitCode {
        var options = given
        options.partSize = partSize ?? RunOptions.standard.partSize
        let chosen = options
        let made: UploadedObject
        do throws(TransferError) {
            made = try await report.streaming(showsItem: true) { () throws(TransferError) in
                try await target.write(
                    from: STDIN_FILENO,
                    name: "standard input",
                    options: chosen,
                    onNotice: report.note,
                    onProgress: report.note(sent:)
                )
            }
        } catch {
            throw Self.advising(error, object)
        }
        tell(made, object, report)
        if case .failed = made.callback { return .incomplete }
        return .success
    }

    private func places() throws -> (file: String, object: ObjectReference) {
        guard let file = context.positional(0), let text = context.positional(1) else {
            throw UsageError.noCommand
        }
        guard file == SingleOptions.stream || !isDirectory(file) else {
            throw UsageError.badArgument(
                String(terminalSafe: file),
                expected: "it is a directory; use osssync push"
            )
        }
        let target = try ObjectReference(parsing: text)
        guard target.isDirectory else { return (file, target) }
        guard file != SingleOptions.stream else {
            throw UsageError.badArgument(
                target.display,
                expected: "standard input has no name; specify the whole key of the object"
            )
        }
        let name = file.utf8.split(separator: UInt8(ascii: "/")).last
        return (file, target.appending(name.map { String(decoding: $0, as: UTF8.self) } ?? ""))
    }

    private func callback() throws(UsageError) -> UploadCallback? {
        let body = context.arguments.values[.callbackBody]
        guard let url = context.arguments.values[.callbackURL] else {
            guard body == nil else {
                throw .badArgument("--callback-body", expected: "it needs --callback-url")
            }
            return nil
        }
        return UploadCallback(url: url, body: body ?? Self.callbackBody)
    }

    private static func advising(_ error: TransferError, _ object: ObjectReference) -> TransferError
    {
        guard error.code == .alreadyExists else { return error }
        return TransferError(
            code: error.code,
            message: "'\(object.display)' already exists and was not replaced; "
                + "use --force to replace it",
            underlying: error,
            requestID: error.requestID
        )
    }

    private func tell(
        _ made: UploadedObject,
        _ object: ObjectReference,
        _ report: TransferReport
    ) {
        var answer: String?
        switch made.callback {
        case .answered(let json): answer = json
        case .failed(let reason):
            report.warn(
                "the object was uploaded, but its callback failed: "
                    + "\(reason)"
            )
        case .unknown: report.warn("the object was uploaded; the result of its callback is unknown")
        case nil: break
        }
        if context.output.isJSON {
            context.say([
                "event": "uploaded",
                "key": made.key,
                "size": made.size,
                "etag": made.etag,
                "crc64": made.crc64.map { String($0) },
                "version": made.versionID,
                "callback": answer,
            ])
        } else if !context.output.isQuiet {
            context.say("uploaded '\(object.display)' (\(report.text))")
            if let answer { context.say(String(terminalSafe: answer)) }
        }
    }
}
