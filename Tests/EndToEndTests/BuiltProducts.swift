import Foundation

/// Where the programs of this build are.
enum BuiltProducts {
    /// The folder that holds this test bundle holds the programs too.
    static let folder: URL = {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        for candidate in [bundle, bundle.deletingLastPathComponent()] {
            let program = candidate.appendingPathComponent("osssync").path
            if FileManager.default.isExecutableFile(atPath: program) { return candidate }
        }
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return root.appendingPathComponent(".build/debug")
    }()

    static var osssync: URL { folder.appendingPathComponent("osssync") }
    static var server: URL { folder.appendingPathComponent("osssync-server") }
}
