internal import OSSSync

/// `osssync shard`.
struct ShardCommand: Sendable {
    private static let largestCount = 1_000

    let context: CommandContext

    func run() async throws -> ExitCode {
        let arguments = context.arguments
        var options = CutOptions()
        options.isDryRun = arguments.has(.dryRun)
        options.count = try arguments.value(of: .count, .count(1...Self.largestCount))
        if let file = arguments.values[.cuts] {
            guard options.count == nil else { throw UsageError.contradiction("--cuts", "--count") }
            options.bounds = try Self.bounds(in: file)
        }
        let tasks = try arguments.value(of: .tasks, .count(1...Self.largestCount))
        options.connectionLimit = try RunOptions(arguments).connectionLimit
        let mirror = try context.mirror()
        try context.requirePlain(mirror)
        let isJSON = context.output.isJSON
        let shards = try await mirror.cut(options) { message in
            if isJSON {
                context.say(EventJSON.warning(message))
            } else {
                context.complain(message)
            }
        }
        if options.isJoining, !isJSON {
            if !context.output.isQuiet { context.say(Self.joined(mirror, options)) }
            return .success
        }
        if options.choosesCount, shards.count == 1 {
            let text = Self.small(mirror, shards[0])
            if isJSON {
                context.say(EventJSON.warning(text))
            } else if !context.output.isQuiet {
                context.say(text)
            }
            return .success
        }
        for shard in shards {
            if isJSON {
                context.say(Self.line(shard))
            } else if !context.output.isQuiet {
                context.say(Self.text(shard))
            }
        }
        if isJSON {
            if let tasks, let line = Self.estimateLine(shards, tasks) { context.say(line) }
        } else if !context.output.isQuiet {
            let count = countText(shards.count, "shard", "shards")
            let path = String(terminalSafe: mirror.directory)
            context.say(
                options.isDryRun
                    ? "'\(path)' would have \(count)" : "'\(path)' now has \(count)"
            )
            if let text = Self.sums(shards) { context.say(text) }
            if let tasks, let text = Self.estimate(shards, tasks) { context.say(text) }
        }
        return .success
    }

    private static func joined(_ mirror: DirectoryMirror, _ options: CutOptions) -> String {
        "'\(String(terminalSafe: mirror.directory))' "
            + (options.isDryRun ? "would have" : "has") + " one manifest, and is not sharded"
    }

    /// What there is to say of a mirror for which shards are of no use.
    private static func small(_ mirror: DirectoryMirror, _ whole: ShardReport) -> String {
        let (objects, bytes) = (whole.objects ?? 0, whole.bytes ?? 0)
        return "'\(String(terminalSafe: mirror.directory))' with "
            + "\(countText(objects, "item", "items")) (\(sizeText(bytes))) is small enough for "
            + "one machine: it needs no shards and was not sharded. To shard it anyway, specify "
            + "--count N"
    }

    /// The keys of a file, one a line and percent-encoded.
    private static func bounds(in file: String) throws(UsageError) -> [[UInt8]] {
        func refusal(_ expected: String) -> UsageError {
            .badValue(.cuts, file, expected)
        }
        let content = try PathList.content(of: file, option: .cuts)
        var bounds: [[UInt8]] = []
        for (index, line) in content.split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        ).enumerated() where !line.isEmpty {
            guard let key = KeyText.key(of: [UInt8](line)), !key.isEmpty else {
                throw refusal("line \(index + 1) is not a percent-encoded key")
            }
            if let last = bounds.last, !last.lexicographicallyPrecedes(key) {
                throw refusal("line \(index + 1) is not behind the line before it")
            }
            bounds.append(key)
        }
        return bounds
    }

    private static func text(_ shard: ShardReport) -> String {
        var text = "\(shard.number): " + rangeText(shard.firstKey, shard.endKey)
        if let objects = shard.objects, let bytes = shard.bytes {
            text += ", " + countText(objects, "item", "items") + " (\(sizeText(bytes)))"
        }
        return text
    }

    private static func sums(_ shards: [ShardReport]) -> String? {
        var (objects, bytes): (Int, Int64) = (0, 0)
        for shard in shards {
            guard let some = shard.objects, let size = shard.bytes else { return nil }
            (objects, bytes) = (objects + some, bytes + size)
        }
        return "together \(countText(objects, "item", "items")) (\(sizeText(bytes)))"
    }

    private static func estimate(_ shards: [ShardReport], _ tasks: Int) -> String? {
        guard let duration = ShardReport.assumedDuration(of: shards, tasks: tasks) else {
            return nil
        }
        let speed = sizeText(ShardReport.assumedBytesPerSecond)
        return "a first round by \(countText(tasks, "task", "tasks")) at once takes about "
            + "\(hoursText(duration)), if each moves \(speed) or 1,000 small files a second"
    }

    /// `3.4 h`, or `12 min` for less than an hour.
    private static func hoursText(_ duration: Duration) -> String {
        let minutes = Int(duration.components.seconds / 60)
        guard minutes >= 60 else { return "\(max(1, minutes)) min" }
        let tenths = minutes / 6
        return "\(tenths / 10).\(tenths % 10) h"
    }

    private static func estimateLine(_ shards: [ShardReport], _ tasks: Int) -> JSONLine? {
        guard let duration = ShardReport.assumedDuration(of: shards, tasks: tasks) else {
            return nil
        }
        return [
            "event": "estimate",
            "shards": shards.count,
            "tasks": tasks,
            "objects": shards.reduce(0) { $0 + ($1.objects ?? 0) },
            "bytes": shards.reduce(Int64(0)) { $0 + ($1.bytes ?? 0) },
            "seconds": Int(duration.components.seconds),
        ]
    }

    /// `from 'a' to before 'b'`.
    static func rangeText(_ first: [UInt8], _ end: [UInt8]?) -> String {
        let from = first.isEmpty ? "from the beginning" : "from '\(KeyText.shown(first))'"
        return from + (end.map { " to before '\(KeyText.shown($0))'" } ?? " to the end")
    }

    private static func line(_ shard: ShardReport) -> JSONLine {
        let isCounted = shard.objects != nil && shard.bytes != nil
        return [
            "event": "cut",
            "shard": shard.number,
            "first_key": KeyText.encoded(shard.firstKey),
            "end_key": shard.endKey.map(KeyText.encoded),
            "objects": isCounted ? shard.objects : nil,
            "bytes": isCounted ? shard.bytes : nil,
        ]
    }
}

/// `osssync finish`: with the options that the round began with.
struct FinishCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        try DirectoryMirror.requireMirror(in: context.directory())
        let mirror = try context.mirror()
        let name = context.arguments.values[.round]
        guard let round = try mirror.round(name) else {
            throw TransferError(
                code: .configuration,
                message: name.map { "there is no round '\(String(terminalSafe: $0))'" }
                    ?? "no round has begun; 'osssync pull DIR --shard K/M --round NAME' begins one"
            )
        }
        guard let arguments = ParsedArguments(ofRun: round.command, and: context.typed) else {
            throw TransferError(
                code: .configuration,
                message: "round '\(round.name)' was not begun by a task with --shard"
            )
        }
        var options = try RunOptions(arguments)
        options.connectionLimit = DescriptorLimit.raised().requests(of: options.connectionLimit)
        let reporter = context.reporter
        reporter.startTicking()
        defer { reporter.finish() }
        do {
            let summary = try await mirror.finish(
                round: round.name,
                round.direction,
                options: options
            ) { reporter.handle($0) }
            return ExitCode(summary)
        } catch {
            guard error.code == .locked, context.skipsIfLocked else { throw error }
            context.say(skipped: error, round.direction.rawValue)
            return .success
        }
    }
}

extension CommandContext {
    /// The shards that a run is limited to; nil for all.
    func shardSelection(_ direction: SyncDirection) throws -> ShardSelection? {
        guard let text = arguments.values[.shard] else {
            guard arguments.values[.round] == nil else {
                throw UsageError.missingCompanion("--round", needs: "--shard K/M")
            }
            return nil
        }
        func refusal(_ expected: String) -> UsageError {
            .badValue(.shard, text, expected)
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = parseCount(String(parts[1]), in: 1...1_000_000),
            let task = parseCount(String(parts[0]), in: 0...(count - 1))
        else {
            throw refusal("expected K/M, such as 0/4 for the first of four tasks, K less than M")
        }
        guard let round = arguments.values[.round] else {
            throw UsageError.missingCompanion("--shard", needs: "--round NAME")
        }
        for option in typed.given.map(\.option) {
            guard let reason = option.shardRefusal else { continue }
            throw UsageError.badArgument(option.name, expected: reason)
        }
        let words = arguments.words { $0.isKept && $0.shardRefusal == nil }
        return ShardSelection(
            task: task,
            of: count,
            round: round,
            command: [direction.rawValue] + words
        )
    }
}
