internal import OSSSync

/// The calendar of the runs, and their bytes as a chart.
extension RunPage {
    private static let mostDays = 366
    /// Those that the chart has room for: fewer bars are not wider.
    private static let (leastBars, mostBars) = (40, 120)
    private static let chartHeight = 80.0

    /// The months from the first run on, the latest first.
    var calendar: HTML {
        let days = days
        let found = Dictionary(days.map { ($0.day, $0) }) { first, _ in first }
        guard let first = days.first?.day else { return "" }
        var months: [(name: String, cells: [HTML])] = []
        var last = ""
        for number in 0..<Self.mostDays {
            let day = String(time(now - Int64(number) * 86_400).prefix(10))
            let month = String(day.prefix(7))
            guard day >= first else { break }
            // Twice in the night in which clocks are put back.
            guard day != last else { continue }
            last = day
            if months.last?.name != month { months.append((month, [])) }
            months[months.count - 1].cells.insert(cell(day, found[day]), at: 0)
        }
        let shown = months.map { month -> HTML in
            "<div><h3>\(month.name)</h3><div class=\"days\">\(month.cells)</div></div>"
        }
        let older = Array(shown.dropFirst(Self.openMonths))
        let rest: HTML =
            older.isEmpty
            ? ""
            : """
            <details><summary>\(countText(older.count, "earlier month", "earlier months"))\
            </summary><div class="months">\(older)</div></details>
            """
        return """
            <section><h2>Days</h2><p><b class="ok">✓</b> with a complete run, \
            <b class="bad">✗</b> with none that was complete, <b>·</b> without any</p>\
            <div class="months">\(Array(shown.prefix(Self.openMonths)))</div>\(rest)</section>
            """
    }

    private func cell(_ day: String, _ found: (day: String, runs: Int, complete: Int)?) -> HTML {
        let kind = found.map { $0.complete > 0 ? "ok" : "bad" } ?? "none"
        let mark = found.map { $0.complete > 0 ? "✓" : "✗" } ?? "·"
        let runs = found?.runs ?? 0
        let title = "\(day): \(countText(runs, "run", "runs")), \(found?.complete ?? 0) complete"
        let column = Self.weekday(day) + 1
        return """
            <i class="\(kind)" style="grid-column:\(column)" title="\(title)">\
            \(String(day.suffix(2)))\(mark)</i>
            """
    }

    /// From 0 for Monday to 6 for Sunday, of a day such as `2026-01-31`.
    static func weekday(_ day: String) -> Int {
        let number = dayNumber(day)
        // 1970 began on a Thursday.
        return number < 0 ? 0 : (number + 3) % 7
    }

    /// How many days a day such as `2026-01-31` is after the first of 1970; -1 for what is no day.
    static func dayNumber(_ day: String) -> Int {
        let parts = day.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3,
            let noon = WallClock.seconds(
                year: parts[0],
                month: parts[1],
                day: parts[2],
                clock: [12, 0, 0],
                isUTC: true
            )
        else { return -1 }
        return Int(noon / 86_400)
    }

    /// Those that counted what both sides have, the latest first.
    var sizedRuns: [PastRun] {
        overview.runs.filter { run in
            run.paths.isEmpty && ["complete", "incomplete"].contains(run.end?.outcome)
        }
    }

    /// What both sides had after the last runs, as a curve.
    var curve: HTML {
        let runs = [PastRun](sizedRuns.prefix(Self.mostBars).reversed())
        guard runs.count > 1, let first = runs.first, let last = runs.last,
            let largest = runs.compactMap(\.end?.bytesInBoth).max(), largest > 0
        else { return "" }
        let points = runs.enumerated().map { index, run -> HTML in
            let share = Double(run.end?.bytesInBoth ?? 0) / Double(largest)
            let height = Int(share * (Self.chartHeight - 2))
            return "\(index * 5),\(Int(Self.chartHeight) - 1 - height) "
        }
        func size(_ run: PastRun) -> String { sizeText(run.end?.bytesInBoth ?? 0) }
        return """
            <section><h2>Size of the mirror</h2><figure>\
            <svg viewBox="0 0 \((runs.count - 1) * 5) \(Int(Self.chartHeight))" \
            preserveAspectRatio="none" role="img" aria-label="Size of the mirror">\
            <polyline points="\(points)" /></svg>\
            <figcaption>\(size(first)) after run \(first.number), \(size(last)) after run \
            \(last.number); the scale begins at 0.</figcaption></figure></section>
            """
    }

    /// The bytes of the last runs, a bar for each.
    var charts: HTML {
        let runs = overview.runs.prefix(Self.mostBars).filter { $0.end != nil }.reversed()
        guard let largest = runs.max(by: { $0.bytes < $1.bytes }), largest.bytes > 0,
            runs.count > 1, let first = runs.first
        else { return "" }
        // Between a first run and a usual night are often six orders of magnitude.
        let scale = Self.logarithm(largest.bytes)
        let bars = runs.enumerated().map { index, run -> HTML in
            let height = Int(Self.logarithm(run.bytes) / scale * Self.chartHeight)
            return """
                <rect x="\(index * 5)" y="\(Int(Self.chartHeight) - height)" width="4" \
                height="\(height)"/>
                """
        }
        return """
            <section><h2>Bytes of each run</h2><figure>\
            <svg viewBox="0 0 \(max(bars.count, Self.leastBars) * 5) \(Int(Self.chartHeight))" \
            preserveAspectRatio="none" role="img" aria-label="Bytes of each run">\(bars)</svg>\
            <figcaption>From run \(first.number) on; the largest was run \(largest.number) with \
            \(sizeText(largest.bytes)). The scale is logarithmic.</figcaption></figure></section>
            """
    }

    private static func logarithm(_ bytes: Int64) -> Double {
        // To a quarter of a power of two, without the functions of C.
        let value = UInt64(max(0, bytes)) + 1
        let power = 63 - value.leadingZeroBitCount
        return Double(power) + Double(value) / Double(UInt64(1) << power) - 1
    }

    static let style: HTML = """
        :root{color-scheme:light dark;--ok:#116329;--bad:#a40e26;--warn:#7a4a00;--okb:#d3f2da;\
        --badb:#ffdcd7;--bar:#2f6fd0;--line:#d0d4da;--soft:#57606a;--page:#fff;--ink:#1f2328}
        @media(prefers-color-scheme:dark){:root{--ok:#7ee2a0;--bad:#ff9d94;--warn:#f0c060;\
        --okb:#12351f;--badb:#4a1a18;--bar:#5b94f0;--line:#3a4049;--soft:#9aa4b0;--page:#15181c;\
        --ink:#e6e9ec}}
        *{box-sizing:border-box}body{font:15px/1.45 system-ui,sans-serif;margin:0 auto;padding:1em;\
        max-width:64em;background:var(--page);color:var(--ink);overflow-wrap:anywhere}
        h1{font-size:1.4em;margin:0}h2{font-size:1.1em;margin:1.4em 0 .4em}\
        h3{font-size:.9em;margin:0 0 .2em;font-weight:normal;color:var(--soft)}
        p{margin:.2em 0}header p,.soft,footer,small,figcaption,time{color:var(--soft)}
        footer{margin-top:2em;font-size:.85em}small{display:block}figure{margin:0}
        .headline{font-size:1.1em;margin-top:.8em}.headline span{display:block}
        ul{list-style:none;margin:0;padding:0}li{padding:.35em 0;border-top:1px solid var(--line)}
        table{border-collapse:collapse;width:100%}td,th{padding:.25em .8em .25em 0;text-align:left;\
        vertical-align:top;border-top:1px solid var(--line);font-weight:normal}
        .pair td:first-child,th{white-space:nowrap;width:1%}th,caption{color:var(--soft);\
        text-align:left}
        .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(18em,1fr));gap:0 2em;\
        align-items:start}
        .ok{color:var(--ok)}.bad{color:var(--bad)}.warn{color:var(--warn)}
        .bar{height:.6em;border:1px solid var(--line);border-radius:.3em;overflow:hidden;\
        margin:.2em 0}.bar i{display:block;height:100%;background:var(--bar)}
        .months{display:grid;grid-template-columns:repeat(auto-fill,minmax(18em,1fr));gap:1em}
        .days{display:grid;grid-template-columns:repeat(7,1fr);gap:2px}
        .days i{font-style:normal;font-size:.8em;text-align:center;border-radius:.2em;\
        padding:.15em 0;white-space:nowrap}
        .days .ok{background:var(--okb)}.days .bad{background:var(--badb)}\
        .days .none{color:var(--soft)}
        svg{width:100%;height:6em;display:block;fill:var(--bar);border-bottom:1px solid var(--line)}
        polyline{fill:none;stroke:var(--bar);stroke-width:2;vector-effect:non-scaling-stroke}
        details{margin:.6em 0}summary{cursor:pointer;padding:.3em 0}
        """
}

extension PastRun {
    fileprivate var bytes: Int64 { end?.bytes ?? 0 }
}
