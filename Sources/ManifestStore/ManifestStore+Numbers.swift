extension ManifestStore {
    private enum Setting {
        static let current = "run.number"
        static let pending = "run.number-pending"
    }

    package func runNumber() throws(ManifestError) -> RunNumber {
        RunNumber(
            current: try setting(Setting.current).flatMap { Int64($0) },
            pending: try setting(Setting.pending).flatMap { Int64($0) }
        )
    }

    /// Settings that make the manifest accept a marker with this number, and no other.
    package static func settings(accepting marked: Int64?) -> [(name: String, value: String?)] {
        [(Setting.current, marked.map { "\($0)" }), (Setting.pending, nil)]
    }

    /// From now on, the first change of an entry is preceded by `mark`, which writes `number` into
    /// the directory's marker.
    ///
    /// The manifest notes durably beforehand that the number may be there: a run that is cut off
    /// anywhere leaves a marker that the next one accepts.
    package func number(
        _ number: Int64,
        mark: @escaping @Sendable (Int64) throws(ManifestError) -> Void
    ) {
        numbering = .waiting(next: number, mark)
    }

    /// The run only reads the directory: a disk that is full there does not keep it from recording
    /// what it does, without a number then.
    package func goOnUnnumbered() {
        goesOnUnnumbered = true
    }

    /// Gives the run its number although it changes no entry.
    package func takeNumber() throws(ManifestError) {
        guard let number = try beginNumber() else { return }
        try setSetting(Setting.current, "\(number)")
        numbering = numbering.settled
    }

    /// Gives the end of a run that changed an entry, or of one that was cut off before it, a number
    /// as its beginning had one: a copy of the directory made meanwhile is an older one.
    ///
    /// A marker that cannot be written leaves the run open; the next one ends it.
    package func endNumber() throws(ManifestError) {
        let (last, mark): (Int64, RunNumbering.Mark)
        switch numbering {
        case .none: return
        case .waiting(let number, let found):
            guard try runNumber().isOpen else { return }
            (last, mark) = (number, found)
        case .marked(let number, let found), .settled(let number, let found):
            (last, mark) = (number, found)
        }
        // Until the marker has the new number, the one that it has must stay accepted.
        if case .marked = numbering { try setSetting(Setting.current, "\(last)") }
        numbering = .none
        do {
            try write(last + 1, mark)
        } catch {
            if case .notMarked = error { return }
            throw error
        }
        try setSetting(Setting.current, "\(last + 1)")
    }

    /// The number that the next transaction is to make the current one; nil if there is none.
    func beginNumber() throws(ManifestError) -> Int64? {
        switch numbering {
        case .none, .settled: return nil
        case .marked(let number, _): return number
        case .waiting(let number, let mark):
            do {
                try write(number, mark)
            } catch {
                guard case .notMarked(_, isOutOfRoom: true) = error, goesOnUnnumbered else {
                    throw error
                }
                numbering = .none
                return nil
            }
            numbering = .marked(number, mark)
            return number
        }
    }

    /// Writes the number into the marker, which the manifest accepts from before on.
    ///
    /// The marker has the current number so far: there is one pending number only.
    private func write(_ number: Int64, _ mark: RunNumbering.Mark) throws(ManifestError) {
        try setSetting(Setting.pending, "\(number)")
        try makeDurable()
        try mark(number)
    }

    func currentNumber(_ number: Int64) -> [(name: String, value: String?)] {
        [(Setting.current, "\(number)")]
    }
}
