internal import SyncModel
internal import Synchronization

/// Matches one key after another, and caches the results for the directories above the last one.
///
/// Results do not depend on earlier keys: a key costs as much as all its directories, cached or
/// not, and one that costs too much is never matched to its end. Anyone with write access to the
/// bucket chooses both the rules and the keys.
final class FilterCursor: Sendable {
    enum Verdict: Sendable, Hashable {
        case included, excluded
        /// The rules and the name are such that the answer takes too long.
        case tooCostly
    }

    /// Enough for a thousand patterns of paths; a pattern without jokers costs nothing.
    static let maximumSteps = 1 << 18

    private struct Parent {
        /// Where its name ends in the path.
        let end: Int
        /// Steps up to here, those of its own parents included.
        let steps: Int
        let verdict: Verdict
    }

    private struct State {
        var path: [UInt8] = []
        var parents: [Parent] = []
    }

    private let filter: FileFilter
    private let state = Mutex(State())

    init(_ filter: FileFilter) {
        self.filter = filter
    }

    func classify(_ key: ObjectKey) -> Verdict {
        !filter.hasPatterns ? .included : state.withLock { classify(key, &$0) }
    }

    private func classify(_ key: ObjectKey, _ state: inout State) -> Verdict {
        let isDirectory = key.isDirectoryMarker
        let bytes = isDirectory ? key.bytes.dropLast() : key.bytes[...]
        let slash = UInt8(ascii: "/")
        let names = bytes.split(separator: slash, omittingEmptySubsequences: false)
        Self.forgetOthers(than: bytes, &state)
        if let last = state.parents.last, last.verdict != .included { return last.verdict }
        var used = state.parents.last?.steps ?? 0
        for depth in (state.parents.count + 1)..<max(state.parents.count + 1, names.count) {
            let verdict = classify(names.prefix(depth), isDirectory: true, &used)
            let end = names[depth - 1].endIndex
            state.parents.append(Parent(end: end, steps: used, verdict: verdict))
            if verdict != .included {
                state.path = [UInt8](bytes[..<end])
                return verdict
            }
        }
        state.path = [UInt8](bytes[..<(state.parents.last?.end ?? 0)])
        return classify(names[...], isDirectory: isDirectory, &used)
    }

    private func classify(
        _ names: ArraySlice<ArraySlice<UInt8>>,
        isDirectory: Bool,
        _ used: inout Int
    ) -> Verdict {
        var steps = Self.maximumSteps - used
        let excludes = filter.excludes(names, isDirectory: isDirectory, steps: &steps)
        used = Self.maximumSteps - steps + 1
        guard let excludes, used < Self.maximumSteps else { return .tooCostly }
        return excludes ? .excluded : .included
    }

    /// Drops the directories that do not contain this path.
    private static func forgetOthers(than bytes: ArraySlice<UInt8>, _ state: inout State) {
        var common = 0
        let limit = min(bytes.count, state.path.count)
        while common < limit, bytes[common] == state.path[common] { common += 1 }
        while let last = state.parents.last {
            let isShared =
                last.end <= common && bytes.count > last.end
                && bytes[last.end] == UInt8(ascii: "/")
            if isShared { return }
            state.parents.removeLast()
        }
    }
}
