internal import OSSSync

/// `osssync explain`.
struct ExplainCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let explanation = try await context.mirror().explain(
            path: context.paths[0],
            of: [
                .pull: context.options(of: .pull), .push: context.options(of: .push),
                .sync: context.options(of: .sync),
            ]
        )
        if context.output.isJSON {
            context.say(Self.json(explanation))
        } else {
            for line in Self.text(explanation) { context.say(line) }
        }
        return .success
    }

    static func text(_ explanation: Explanation) -> [String] {
        let never =
            explanation.displayKey.hasSuffix("/")
            ? "no; only an empty directory has an object of its own" : "no"
        var lines = [
            explanation.displayKey,
            "  recorded: " + (explanation.recorded.map(text) ?? never),
            "  here:     " + (explanation.local.map(text) ?? "no"),
            "  bucket:   " + (explanation.remote.map(text) ?? "no"),
        ]
        lines += explanation.issues.map { "  note:     " + $0 }
        for direction in SyncDirection.allCases {
            guard let outlook = explanation.outlooks[direction] else { continue }
            lines.append("  \(direction.rawValue) would " + text(outlook))
        }
        let times = [explanation.recorded, explanation.local, explanation.remote]
        if times.contains(where: { $0?.time != nil }) {
            lines.append("  (\(CommandContext.zoneText))")
        }
        return lines
    }

    private static func text(_ version: Explanation.Version) -> String {
        var parts = [version.size.map(sizeText) ?? "directory"]
        if let time = version.time { parts.append(time.localText) }
        if let etag = version.etag { parts.append("ETag \(etag)") }
        if let crc64 = version.crc64 { parts.append("CRC-64 \(crc64)") }
        if version.isDamaged { parts.append("the file was found damaged") }
        switch version.change {
        case .same?: parts.append("as recorded")
        case .touched?: parts.append("the time or inode is another than recorded")
        case .changed?: parts.append("changed since it was recorded")
        case nil: break
        }
        return parts.joined(separator: ", ")
    }

    private static func text(_ outlook: Explanation.Outlook) -> String {
        let excluded = outlook.rule.map { "excluded by \($0)" } ?? outlook.reason
        if outlook.isExcluded, outlook.action == nil { return "skip it: " + excluded }
        let verb =
            switch outlook.action {
            case nil: "do nothing"
            case .adopt?: "compare it"
            case .mode?: "carry its permissions"
            case .conflict?: "report a conflict"
            case .download?, .upload?, .skip?: "\(outlook.action?.rawValue ?? "") it"
            case let action?: action.verb
            }
        if outlook.isExcluded { return "\(verb): \(excluded)" }
        let rule = outlook.rule.map { " (included by \($0))" } ?? ""
        let copied = outlook.bytesCopied > 0 ? "; up to " + copiedText(outlook.bytesCopied) : ""
        return "\(verb): \(outlook.reason)\(rule)\(copied)"
    }

    private static func json(_ explanation: Explanation) -> JSONLine {
        let outlooks = explanation.outlooks.mapValues(json)
        return [
            "event": "explanation",
            "key": JSONKey(explanation.key, explanation.displayKey),
            "recorded": explanation.recorded.map(json),
            "local": explanation.local.map(json),
            "remote": explanation.remote.map(json),
            "notes": explanation.issues,
            "pull": outlooks[.pull] ?? [:],
            "push": outlooks[.push] ?? [:],
            "sync": outlooks[.sync] ?? [:],
        ]
    }

    private static func json(_ outlook: Explanation.Outlook) -> JSONLine {
        [
            "action": outlook.action?.rawValue ?? "nothing",
            "reason": outlook.reason,
            "excluded": outlook.isExcluded,
            "rule": outlook.rule,
            "bytes_copied": outlook.bytesCopied,
        ]
    }

    private static func json(_ version: Explanation.Version) -> JSONLine {
        [
            "size": version.size,
            "modified": version.time?.text,
            "etag": version.etag,
            "crc64": version.crc64.map { String($0) },
            "change": version.change?.rawValue,
            "damaged": version.isDamaged ? true : nil,
        ]
    }
}
