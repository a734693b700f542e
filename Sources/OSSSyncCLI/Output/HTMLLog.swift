internal import OSSSync

/// The past runs of a mirror as one page that needs nothing else, for `osssync log --html`.
struct HTMLLog: Sendable {
    /// A line of the table of runs.
    struct Run: Sendable {
        var number: Int64
        var started: Int64
        var direction: String
        var outcome: String
        var transferred: Int64 = 0
        var bytes: Int64 = 0
        var deleted: Int64 = 0
        var failed: Int64 = 0
        var message = ""
    }

    /// An item that failed.
    struct Failure: Sendable {
        var run: Int64
        var action: String
        var key: String
        var reason: String
    }

    /// What every such page begins with, by which a later one knows that it may replace it.
    static let beginning = "<!DOCTYPE html>\n<!-- osssync log -->\n"
    /// The outcome of a run that has not ended.
    static let running = "is running"
    private static let daysShown = 366

    var directory: String
    var remote: String
    /// The latest first.
    var runs: [Run]
    /// The largest first.
    var largest: [(key: String, size: Int64)]
    /// Of the last runs, the latest first.
    var failures: [Failure]
    /// In seconds since 1970 UTC.
    var now: Int64

    var text: String {
        Self.beginning + """
            <html lang="en"><head><meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <title>osssync: \(Self.escaped(directory))</title>
            <style>\(Self.style)</style></head><body>
            <h1>\(Self.escaped(directory))</h1>
            <p>\(Self.escaped(remote)), \(Self.local(now)) (\(CommandContext.zoneText))</p>
            <h2>Calendar</h2>
            <p>Days <span class="ok">with a complete run</span>, days \
            <span class="bad">on which none was complete</span>, and days without any.</p>
            <table class="days">\(calendar)</table>
            <h2>Runs</h2>
            <table><tr><th class="n">run</th><th>start</th><th></th><th>outcome</th>\
            <th class="n">transferred</th><th class="n">bytes</th><th></th>\
            <th class="n">deleted</th><th class="n">failed</th><th>message</th></tr>\
            \(rows)</table>
            <h2>Failed items</h2>
            \(failed)
            <h2>Largest files</h2>
            <table><tr><th class="n">size</th><th>key</th></tr>\(files)</table>
            </body></html>

            """
    }

    /// Text that is not markup, in elements and in quoted attributes.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    private static func local(_ seconds: Int64) -> String {
        StoreTime(secondsSince1970: seconds).localText
    }

    /// A row for each month, the latest first, with a cell for each day.
    private var calendar: String {
        var days: [String: (runs: Int, complete: Int)] = [:]
        for run in runs {
            let day = String(Self.local(run.started).prefix(10))
            days[day, default: (0, 0)].runs += 1
            if run.outcome == "complete" { days[day, default: (0, 0)].complete += 1 }
        }
        var months: [(name: String, cells: String)] = []
        var last = ""
        for number in 0..<Self.daysShown {
            let day = String(Self.local(now - Int64(number) * 86_400).prefix(10))
            // Twice in the night in which clocks are put back.
            guard day != last else { continue }
            last = day
            let found = days[day] ?? (0, 0)
            let state = found.runs == 0 ? "" : found.complete > 0 ? "ok" : "bad"
            let title = "\(day): \(found.runs) runs, \(found.complete) complete"
            let cell = "<td class=\"\(state)\" title=\"\(title)\">\(day.suffix(2))</td>"
            if months.last?.name != String(day.prefix(7)) {
                months.append((String(day.prefix(7)), ""))
            }
            months[months.count - 1].cells = cell + months[months.count - 1].cells
        }
        if let first = Int(last.suffix(2)), first > 1, !months.isEmpty {
            // The month in which it begins, so that its days stand below those of the others.
            let before = "<td class=\"none\" colspan=\"\(first - 1)\"></td>"
            months[months.count - 1].cells = before + months[months.count - 1].cells
        }
        return months.map { "<tr><th>\($0.name)</th>\($0.cells)</tr>" }.joined()
    }

    private var rows: String {
        let most = max(1, runs.map(\.bytes).max() ?? 1)
        return runs.map { run in
            let width = Int(Double(run.bytes) / Double(most) * 100)
            let state = run.outcome == "complete" || run.outcome == Self.running ? "" : "bad"
            return "<tr class=\"\(state)\"><td class=\"n\">\(run.number)</td>"
                + "<td>\(Self.local(run.started))</td><td>\(Self.escaped(run.direction))</td>"
                + "<td>\(Self.escaped(run.outcome))</td><td class=\"n\">\(run.transferred)</td>"
                + "<td class=\"n\">\(sizeText(run.bytes))</td>"
                + "<td class=\"bar\"><i style=\"width:\(width)%\"></i></td>"
                + "<td class=\"n\">\(run.deleted)</td><td class=\"n\">\(run.failed)</td>"
                + "<td class=\"text\">\(Self.escaped(run.message))</td></tr>\n"
        }.joined()
    }

    private var failed: String {
        guard !failures.isEmpty else { return "<p>None.</p>" }
        let rows = failures.map { item in
            "<tr><td class=\"n\">\(item.run)</td><td>\(Self.escaped(item.action))</td>"
                + "<td class=\"text\">\(Self.escaped(item.key))</td>"
                + "<td class=\"text\">\(Self.escaped(item.reason))</td></tr>\n"
        }.joined()
        return "<table><tr><th class=\"n\">run</th><th>item</th><th>key</th><th>reason</th></tr>"
            + rows + "</table>"
    }

    private var files: String {
        largest.map { file in
            "<tr><td class=\"n\">\(sizeText(file.size))</td>"
                + "<td class=\"text\">\(Self.escaped(file.key))</td></tr>\n"
        }.joined()
    }

    private static let style = """
        :root{color-scheme:light dark;--ok:#8fd19e;--bad:#f0a8a0;--bar:#6aa0e0;--line:#ccc}
        @media(prefers-color-scheme:dark){
        :root{--ok:#2c6e3c;--bad:#8a3a33;--bar:#4a78b0;--line:#444}}
        body{font:14px/1.4 system-ui,sans-serif;margin:2em;max-width:80em}
        table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:left;
        border-bottom:1px solid var(--line)}.text{overflow-wrap:anywhere;min-width:12em}
        .n{text-align:right}.days td{border:1px solid var(--line);padding:.1em .3em}
        .days .none{border-left:0}.ok{background:var(--ok)}
        .bad{background:var(--bad)}.bar{width:8em}
        .bar i{display:block;height:.7em;background:var(--bar)}
        """
}
