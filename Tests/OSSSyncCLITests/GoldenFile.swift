import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Compares a text with the file of that name in `Golden/`.
///
/// With `OSSSYNC_UPDATE_GOLDEN=1` the file is rewritten, and the test fails all the same, so that
/// nobody takes the rewriting for a passed test.
func expectGolden(
    _ text: String,
    _ name: String,
    file: String = #filePath,
    location: SourceLocation = #_sourceLocation
) throws {
    let folder =
        file.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        .joined(separator: "/") + "/Golden/"
    if ProcessInfo.processInfo.environment["OSSSYNC_UPDATE_GOLDEN"] == "1" {
        try text.write(toFile: folder + name, atomically: false, encoding: .utf8)
        Issue.record("\(name) was rewritten", sourceLocation: location)
        return
    }
    let recorded = try String(contentsOfFile: folder + name, encoding: .utf8)
    #expect(text == recorded, sourceLocation: location)
}
