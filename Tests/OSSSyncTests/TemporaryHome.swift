import Foundation

@testable import OSSSync

/// A home directory of a test, removed with this object.
final class TemporaryHome {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-home-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func path(_ name: String) -> String { folder.path + "/" + name }

    /// Writes a file, making the directories above it.
    @discardableResult
    func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        let file = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: file.path
        )
        return file.path
    }

    /// Sources of this home; nothing of this machine's environment is in them.
    func sources(
        _ environment: [String: String] = [:],
        _ change: (inout ConnectionOptions) -> Void = { _ in }
    ) -> ConfigurationSources {
        var options = ConnectionOptions()
        change(&options)
        // Without this, the last source would ask the network.
        let quiet = ["ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true"]
        return ConfigurationSources(
            options: options,
            environment: quiet.merging(environment) { $1 },
            homeDirectory: folder.path,
            hostName: "host"
        )
    }

    /// Resolves `oss://bucket/` with nothing but these sources.
    func resolve(
        _ environment: [String: String] = [:],
        link: LinkFile? = nil,
        remote: String = "oss://bucket",
        _ change: (inout ConnectionOptions) -> Void = { _ in }
    ) throws(TransferError) -> ResolvedConnection {
        try ResolvedConnection(
            BucketLocation(parsing: remote),
            link: link,
            sources: sources(environment, change)
        )
    }

    /// A link of `oss://bucket/` that says what `change` does.
    static func link(_ change: (inout ConnectionOptions) -> Void) -> LinkFile {
        var options = ConnectionOptions()
        change(&options)
        return LinkFile(
            remote: BucketLocation(dialect: .oss, bucket: "bucket", prefix: ""),
            options: options,
            previous: nil
        )
    }
}
