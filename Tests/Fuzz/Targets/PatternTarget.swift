import SyncModel
import SyncPlanner

@testable import SyncEngine

/// A pattern and a path: it fits if a plain reading of the rules, with no care for time, says so.
func judgePattern(_ bytes: [UInt8]) throws(FuzzFailure) {
    let lines = bytes.split(
        separator: UInt8(ascii: "\n"),
        maxSplits: 1,
        omittingEmptySubsequences: false
    )
    let path = lines.count > 1 ? lines[1] : []
    do throws(FileFilter.InvalidPattern) {
        _ = try FileFilter(ignoreFile: bytes).excludes(ObjectKey(path))
    } catch {
        try requirePrintable(error.message, "a refusal")
    }
    // The plain reading takes time that doubles with each star.
    let stars = lines[0].count { $0 == UInt8(ascii: "*") }
    guard lines[0].count <= 32, path.count <= 24, stars <= 6 else { return }
    guard let pattern = try? PathPattern(lines[0]) else { return }
    let slash = UInt8(ascii: "/")
    let names = path.split(separator: slash, omittingEmptySubsequences: false)
    let isDirectory = bytes.count.isMultiple(of: 2)
    let found = pattern.matches(names, isDirectory: isDirectory)
    guard let expected = plainly(lines[0], names, isDirectory: isDirectory) else { return }
    try require(
        found == expected,
        "\(displayText(lines[0])) against \(displayText(path)) is \(found)"
    )
}

/// Nil where the pattern has what the plain reading does not know: brackets and escapes.
private func plainly(
    _ pattern: ArraySlice<UInt8>,
    _ names: [ArraySlice<UInt8>],
    isDirectory: Bool
) -> Bool? {
    let text = String(decoding: pattern, as: UTF8.self)
    let path = names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    // Only what both sides see as the same characters.
    guard (text + path).utf8.allSatisfy({ $0 > 0 && $0 < 0x80 }),
        !text.utf8.contains(UInt8(ascii: "[")),
        !text.utf8.contains(UInt8(ascii: "\\"))
    else { return nil }
    var rest = pattern
    let slash = UInt8(ascii: "/")
    if rest.last == slash {
        if !isDirectory { return false }
        rest = rest.dropLast()
    }
    let isAnchored = rest.contains(slash)
    if rest.first == slash { rest = rest.dropFirst() }
    var pieces = rest.split(separator: slash, omittingEmptySubsequences: false)
    if !isAnchored { pieces.insert(ArraySlice("**".utf8), at: 0) }
    return fits(pieces[...], names[...])
}

private func fits(
    _ pieces: ArraySlice<ArraySlice<UInt8>>,
    _ names: ArraySlice<ArraySlice<UInt8>>
) -> Bool {
    guard let piece = pieces.first else { return names.isEmpty }
    let others = pieces.dropFirst()
    guard isAnyDirectories(piece) else {
        guard let name = names.first else { return false }
        return fitsName(piece, name) && fits(others, names.dropFirst())
    }
    // Two in a row mean what one means.
    if others.first.map(isAnyDirectories) == true { return fits(others, names) }
    // At the end it stands for at least one name, elsewhere also for none.
    let least = others.isEmpty ? 1 : 0
    guard names.count >= least else { return false }
    return (least...names.count).contains { fits(others, names.dropFirst($0)) }
}

/// True for two stars; git takes more of them for two.
private func isAnyDirectories(_ piece: ArraySlice<UInt8>) -> Bool {
    piece.count >= 2 && piece.allSatisfy { $0 == UInt8(ascii: "*") }
}

private func fitsName(_ piece: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
    guard let byte = piece.first else { return name.isEmpty }
    switch byte {
    case UInt8(ascii: "*"):
        return (0...name.count).contains { fitsName(piece.dropFirst(), name.dropFirst($0)) }
    case UInt8(ascii: "?"): return !name.isEmpty && fitsName(piece.dropFirst(), name.dropFirst())
    default: return name.first == byte && fitsName(piece.dropFirst(), name.dropFirst())
    }
}
