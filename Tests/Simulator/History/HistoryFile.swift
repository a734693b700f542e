internal import Foundation

/// Histories as files.
enum HistoryFile {
    static func read(_ path: String) -> History? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return try? JSONDecoder().decode(History.self, from: data)
    }

    static func write(_ history: History, to path: String) -> Bool {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(history) else { return false }
        let folder = (path as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        return FileManager.default.createFile(atPath: path, contents: data + [0x0A])
    }
}
