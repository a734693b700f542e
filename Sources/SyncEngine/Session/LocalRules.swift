internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// `ignore` in the state of a mirrored directory: what runs skip on this machine only.
///
/// It is never mirrored. A program that saves it empties it for a moment, or takes its name away,
/// and a run without its rules could send what they hide: it is read again until it is the same for
/// a second.
enum LocalRules {
    static let fileName = "ignore"
    /// The setting in the manifest that shows that the last run found the file.
    private static let setting = "filter.local"
    private static let settling = Duration.seconds(1)
    private static let maximumReadings = 10

    /// The rules of the file; none if there is no such file.
    ///
    /// - Throws: `TransferError` of code `configuration` if it cannot be read or understood.
    static func read(
        in directory: MirrorDirectory,
        _ manifest: ManifestStore,
        _ environment: EngineEnvironment,
        records: Bool
    ) async throws -> FileFilter {
        let wasThere = try await manifest.setting(setting) != nil
        let text = try await settledText(in: directory, environment, wasThere: wasThere)
        if records, wasThere != (text != nil) {
            try await manifest.setSetting(setting, text == nil ? nil : "1")
        }
        do throws(FileFilter.InvalidPattern) {
            return try FileFilter(ignoreFile: text ?? [], named: ".osssync/\(fileName)")
        } catch {
            throw unusable(directory, error.message)
        }
    }

    private static func settledText(
        in directory: MirrorDirectory,
        _ environment: EngineEnvironment,
        wasThere: Bool
    ) async throws -> [UInt8]? {
        var found = try content(in: directory)
        let recent = environment.now() - settling
        if let found, found.isWhole, found.identity.modified < recent { return found.text }
        if found == nil, !wasThere { return nil }
        for _ in 1..<maximumReadings {
            try await environment.sleep(settling)
            let again = try content(in: directory)
            if again == found, again?.isWhole != false { return again?.text }
            found = again
        }
        throw TransferError(
            code: .refused,
            message: "'\(path(directory))' keeps changing; nothing was transferred. "
                + "Run again once it is saved"
        )
    }

    private static func content(
        in directory: MirrorDirectory
    ) throws(TransferError) -> StateFileContent? {
        do throws(LocalError) {
            return try directory.sharedState.content(fileName)
        } catch {
            throw unusable(directory, error.message)
        }
    }

    private static func path(_ directory: MirrorDirectory) -> String {
        displayText((directory.state.path + "/" + fileName).utf8)
    }

    private static func unusable(_ directory: MirrorDirectory, _ reason: String) -> TransferError {
        TransferError(
            code: .configuration,
            message: "'\(path(directory))' cannot be used: \(reason); nothing was transferred"
        )
    }
}
