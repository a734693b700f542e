internal import OSSSync

/// A page on a mirror for a browser: what runs now, what past runs did, and what needs attention.
///
/// It needs nothing else: neither scripts nor fonts, and no request. Beside each colour is a text.
struct RunPage: Sendable {
    /// What every such page begins with, by which a later one knows that it may replace it.
    static let beginning = "<!DOCTYPE html>\n<!-- osssync page -->\n"
    /// What follows, by which pages of other mirrors are told from those of this one.
    var owner: String {
        let markup: HTML = "<!-- of \(directory) with the state \(state ?? "in it") -->\n"
        return markup.text
    }
    /// Between two pages of a run.
    static let interval = Duration.seconds(5)
    /// Runs and months that are shown without being opened.
    static let (openRuns, openMonths) = (20, 3)
    private static let longestMessage = 300

    /// Safe to print.
    var directory: String
    /// Safe to print.
    var remote: String
    /// The directory of its state, safe to print; nil if that is in the mirror.
    var state: String?
    var overview = MirrorOverview()
    /// What works now; nil for a page that is not written again.
    var live: LiveRun?
    /// Why the last command failed, safe to print; nil if it did not.
    var failure: String?
    /// What is in the trash here; nil if that is not known.
    var trash: TrashReport?
    /// The bucket has a trash of this mirror, or had one.
    var hasRemoteTrash = false
    /// In seconds since 1970 UTC.
    var now: Int64

    var text: String {
        let refresh: HTML =
            live == nil
            ? "" : "<meta http-equiv=\"refresh\" content=\"\(Self.interval.components.seconds)\" />"
        let page: HTML = """
            <html lang="en"><head><meta charset="utf-8" />
            <meta http-equiv="Content-Security-Policy" \
            content="default-src 'none'; style-src 'unsafe-inline'" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="referrer" content="no-referrer" />\(refresh)
            <title>\(directory) - osssync</title><style>\(Self.style)</style></head><body>
            <header><h1><bdi>\(directory)</bdi></h1><p><bdi>\(remote)</bdi></p></header>
            \(headline)\(running)\(attention)\(calendar)\(curve)\(charts)\(lastRun)\(totals)\
            \(pastRuns)
            <footer>Written \(time(now)) (\(CommandContext.zoneText)) by osssync.</footer>
            </body></html>

            """
        return Self.beginning + owner + page.text
    }

    func time(_ seconds: Int64) -> String { StoreTime(secondsSince1970: seconds).localText }

    /// When a run ended, as exactly as the journal knows it.
    private static func end(of run: PastRun) -> Int64 {
        run.started.secondsSince1970 + Int64(run.end?.seconds ?? 0)
    }

    static func isComplete(_ run: PastRun) -> Bool {
        run.end?.outcome == "complete" && run.paths.isEmpty
    }

    /// From the first day with a run to the last one; today only counts if it had a run.
    var dayCount: Int {
        guard let first = overview.runs.last else { return 0 }
        let start = Self.dayNumber(String(time(first.started.secondsSince1970).prefix(10)))
        let today = String(time(now).prefix(10))
        let isOpen = days.last?.day != today
        return max(days.count, Self.dayNumber(today) - start + (isOpen ? 0 : 1))
    }

    /// Days with a run, oldest first, and how many of the runs were complete.
    var days: [(day: String, runs: Int, complete: Int)] {
        var days: [(day: String, runs: Int, complete: Int)] = []
        for run in overview.runs.reversed() where run.end != nil || !run.isRunning {
            let day = String(time(run.started.secondsSince1970).prefix(10))
            if days.last?.day != day { days.append((day, 0, 0)) }
            days[days.count - 1].runs += 1
            if Self.isComplete(run) { days[days.count - 1].complete += 1 }
        }
        return days
    }
}

// MARK: - Now

extension RunPage {
    private var headline: HTML {
        let last = overview.runs.first(where: Self.isComplete)
        let ago = last.map { roughText(now - Self.end(of: $0)) }
        let good = days.count { $0.complete > 0 }
        let count: HTML =
            days.isEmpty
            ? ""
            : "<span>\(good) of \(countText(dayCount, "day", "days")) with a complete run</span>"
        let complete: HTML =
            last.map { "Last complete run \(time(Self.end(of: $0)))" } ?? "No complete run yet"
        let age: HTML = ago.map { ", \($0) before this page" } ?? ""
        let problem: HTML = failure.map { "<p class=\"bad\">✗ Failed: \($0)</p>" } ?? ""
        return "<p class=\"headline\"><b>\(complete)</b>\(age)\(count)</p>\(problem)"
    }

    private var running: HTML {
        guard let live else { return "" }
        let view = ProgressView(live)
        let rows = live.progress.active.map { transfer -> HTML in
            let done =
                transfer.size > 0 ? Double(transfer.bytesFinished) / Double(transfer.size) : 0
            let verb = transfer.action == .upload ? "↑ " : "↓ "
            let text = ProgressView.text(of: transfer)
            let name: HTML = "\(verb)<bdi>\(transfer.displayKey)</bdi>"
            return "<li>\(name)\(bar(done))<small>\(text)</small></li>"
        }
        let waiting: HTML = live.waiting.map { "<p class=\"warn\">⏳ Waiting: \($0)</p>" } ?? ""
        return """
            <section><h2>Running at \(String(time(now).suffix(8)))</h2>\
            <p class="soft">This page reloads every \(Self.interval.components.seconds) seconds. \
            If its time stands still, the run was killed, or its machine is off.</p>\
            <p>\(view.plain)</p>\(bar(view.fraction ?? 0))\(waiting)\
            <ul class="now">\(rows)</ul></section>
            """
    }

    private func bar(_ share: Double) -> HTML {
        let percent = Int((min(1, max(0, share)) * 100).rounded(.down))
        return "<div class=\"bar\"><i style=\"width:\(percent)%\"></i></div>"
    }
}

// MARK: - What the runs did

extension RunPage {
    private var attention: HTML {
        let items = overview.problems.map { item -> HTML in
            let kind = item.action == "conflict" ? "conflict" : item.state
            let reason: HTML = item.message.map { "<small>\(shortened($0))</small>" } ?? ""
            let color = item.state == "failed" ? "bad" : "warn"
            return """
                <li><b class="\(color)">\(kind)</b> <bdi>\(item.displayKey)</bdi>\(reason)</li>
                """
        }
        var notes = overview.conflictCopies.map { name -> HTML in
            """
            <li><b class="warn">conflict copy</b> <bdi>\(name)</bdi><small>merge it with its file, \
            and delete it</small></li>
            """
        }
        if overview.damagedFiles > 0 {
            let count = countText(overview.damagedFiles, "file", "files")
            notes.append(
                """
                <li><b class="bad">damaged</b> \(count) here; \
                <code>osssync verify --repair DIR</code> downloads them again</li>
                """
            )
        }
        if overview.furtherProblems > 0 {
            notes.append(
                "<li>and \(overview.furtherProblems) more; <code>osssync log DIR RUN</code></li>"
            )
        }
        guard !(items + notes).isEmpty else { return "" }
        return "<section><h2>Needs attention</h2><ul>\(items)\(notes)</ul></section>"
    }

    private var lastRun: HTML {
        guard let run = overview.runs.first(where: { $0.end != nil }), !overview.largest.isEmpty
        else { return "" }
        let files = overview.largest.map { file -> HTML in
            "<tr><td>\(sizeText(file.size))</td><td><bdi>\(file.name)</bdi></td></tr>"
        }
        let directories = overview.directories.prefix(10).map { sum -> HTML in
            """
            <tr><td>\(sizeText(sum.bytes))</td><td><bdi>\(sum.name)</bdi> \
            (\(countText(sum.files, "file", "files")))</td></tr>
            """
        }
        let more = overview.directories.count - directories.count
        let rest: HTML = more > 0 ? "<tr><td></td><td>and \(more) more</td></tr>" : ""
        return """
            <section><h2>What run \(run.number) transferred</h2><div class="pair">\
            <table><caption>By directory</caption>\(directories)\(rest)</table>\
            <table><caption>Largest files</caption>\(files)</table></div></section>
            """
    }

    private var totals: HTML {
        var rows: [HTML] = []
        func add(_ name: HTML, _ value: String) {
            rows.append("<tr><th>\(name)</th><td>\(value)</td></tr>")
        }
        if !overview.runs.isEmpty {
            if let run = sizedRuns.first, let end = run.end {
                let items = countText(Int(end.itemsInBoth), "item", "items")
                add(
                    "In both places",
                    "\(items), \(sizeText(end.bytesInBoth)), after run \(run.number)"
                )
            }
            if overview.freed > 0 {
                let names = countText(overview.freed, "freed path", "freed paths")
                add("Only in the bucket", "\(names); osssync pull DIR PATH brings one back")
            }
            let share =
                overview.verifiedShare.map { "; \(Int($0 * 100))% of the next verify" } ?? ""
            let last = overview.lastVerification.map { "complete \($0.localText)" }
            add("Verified", (last ?? "never complete") + share)
        }
        if let trash {
            let files = countText(trash.files, "file", "files")
            add("Trash here", trash.files == 0 ? "empty" : "\(files), \(sizeText(trash.bytes))")
        }
        if hasRemoteTrash { add("Trash in the bucket", "osssync trash DIR shows it") }
        guard !rows.isEmpty else { return "" }
        return "<section><h2>State</h2><table>\(rows)</table></section>"
    }

    private var pastRuns: HTML {
        let rows = overview.runs.map(row)
        guard !rows.isEmpty else { return "" }
        let (first, older) = (
            Array(rows.prefix(Self.openRuns)), Array(rows.dropFirst(Self.openRuns))
        )
        let rest: HTML =
            older.isEmpty
            ? ""
            : "<details><summary>\(older.count) older runs</summary><ul>\(older)</ul></details>"
        return "<section><h2>Runs</h2><ul>\(first)</ul>\(rest)</section>"
    }

    private func row(_ run: PastRun) -> HTML {
        let start: HTML =
            "\(run.number) \(run.direction) <time>\(time(run.started.secondsSince1970))</time>"
        guard let end = run.end else {
            let outcome: HTML =
                run.isRunning
                ? "<b class=\"warn\">is running</b>" : "<b class=\"bad\">did not end</b>"
            return "<li>\(outcome) \(start)</li>"
        }
        let notes = [EventText.limit(run.paths), end.message].compactMap(\.self)
        let message: HTML =
            notes.isEmpty ? "" : "<small>\(shortened(notes.joined(separator: "; ")))</small>"
        let kind = end.outcome == "complete" ? "ok" : "bad"
        return """
            <li><b class="\(kind)">\(end.outcome)</b> \(start) \
            <span>\(LogCommand.counts(end))</span>\(message)</li>
            """
    }

    private func shortened(_ text: String) -> String {
        text.unicodeScalars.count <= Self.longestMessage
            ? text : String(text.prefix(Self.longestMessage)) + "…"
    }
}
