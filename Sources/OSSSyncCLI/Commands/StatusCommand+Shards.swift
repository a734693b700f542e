internal import OSSSync

/// `osssync status` of a sharded mirror.
extension StatusCommand {
    /// A line for each shard; exit status 1 with `--exit-code` while the newest round is not done.
    func writeShards(_ shards: [ShardState], _ mirror: DirectoryMirror) throws -> ExitCode {
        let round = try mirror.round(nil)
        if context.output.isJSON {
            for shard in shards { context.say(Self.line(shard)) }
        } else {
            context.say("'\(String(terminalSafe: mirror.directory))' and \(mirror.remote.display)")
            context.say("  sharded: " + countText(shards.count, "shard", "shards"))
            if let round {
                let state = round.isFinished ? "finished" : "not finished"
                context.say(
                    "  newest round: '\(round.name)', \(round.direction.rawValue), \(state)"
                )
            }
            for shard in shards { context.say("  " + Self.text(shard, round)) }
            context.say("  differences: not looked for in a sharded mirror")
        }
        let isDone = round?.isFinished ?? false
        return context.arguments.has(.exitCode) && !isDone ? .incomplete : .success
    }

    private static func text(_ shard: ShardState, _ newest: RoundReport?) -> String {
        var text = "\(shard.number): " + ShardCommand.rangeText(shard.firstKey, shard.endKey)
        if let holder = shard.holder { return text + ", in work by \(holder)" }
        guard let round = shard.round else { return text + ", not done" }
        if let count = shard.recorded { text += ", " + countText(count, "item", "items") }
        if round != newest?.name { return text + ", last done in round '\(round)'" }
        text += shard.isComplete ? ", done" : ", done with problems; run it again"
        if shard.deletionsWaiting > 0, newest?.isFinished == false {
            text += ", " + countText(shard.deletionsWaiting, "deletion waits", "deletions wait")
        }
        return text
    }

    private static func line(_ shard: ShardState) -> JSONLine {
        [
            "event": "shard",
            "shard": shard.number,
            "first_key": KeyText.encoded(shard.firstKey),
            "end_key": shard.endKey.map(KeyText.encoded),
            "round": shard.round,
            "complete": shard.isComplete,
            "recorded": shard.recorded,
            "deletions_waiting": shard.deletionsWaiting,
            "holder": shard.holder,
        ]
    }
}
