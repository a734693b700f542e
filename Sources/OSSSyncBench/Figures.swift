/// Values of one figure over several runs.
struct Figure {
    var values: [Double] = []

    mutating func add(_ value: Double) { values.append(value) }

    var median: Double { sorted.isEmpty ? 0 : sorted[sorted.count / 2] }
    private var sorted: [Double] { values.sorted() }

    /// `median (least … most)` with so many digits.
    func text(_ digits: Int) -> String {
        guard let least = sorted.first, let most = sorted.last else { return "none" }
        func rounded(_ value: Double) -> String {
            var scale = 1.0
            for _ in 0..<digits { scale *= 10 }
            let whole = Int64((value * scale).rounded())
            guard digits > 0 else { return String(whole) }
            let fraction = String(whole.magnitude % UInt64(scale))
            let padding = String(repeating: "0", count: max(0, digits - fraction.utf8.count))
            return "\(whole / Int64(scale)).\(padding)\(fraction)"
        }
        return "\(rounded(median)) (\(rounded(least)) … \(rounded(most)))"
    }
}

/// The three figures of a program's runs.
struct CostFigures {
    var wall = Figure()
    var processor = Figure()
    var memory = Figure()

    mutating func add(_ cost: Cost) {
        wall.add(cost.wall)
        processor.add(cost.processor)
        memory.add(Double(cost.memory) / 1_048_576)
    }

    func print(_ name: String) {
        Swift.print("\(name):")
        Swift.print("  seconds            \(wall.text(3))")
        Swift.print("  processor seconds  \(processor.text(3))")
        Swift.print("  peak memory, MiB   \(memory.text(1))")
    }
}
