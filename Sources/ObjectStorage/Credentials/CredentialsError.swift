internal import CLibrary
internal import SyncModel

/// Why there are no credentials; no case holds a secret.
package enum CredentialsError: Error, Sendable, Hashable {
    /// This source is not set up; another one may be.
    case absent(source: String)
    /// No source is set up; the variables are what the user could set.
    case none(tried: [String], variables: KeyNames = .oss)
    /// A profile that was asked for by name is in none of the files.
    case noProfile(String, tried: [String])
    case incomplete(source: String, missing: String)
    case invalid(source: String, reason: String)
    /// A file with secrets that other users can access.
    case exposedFile(path: String, reason: String)
    case unreadableFile(path: String, errno: Int32)
    case unsupportedMode(source: String, mode: String)
    /// A way of the aws tools to get credentials that osssync does not know.
    case unsupportedSetting(source: String, profile: String, setting: String)
    case processFailed(reason: String)
    case requestFailed(source: String, reason: String)
    /// What a closure of the app answered.
    case app(source: String, AppFailure)
    case cancelled

    static let isOfOther = "belongs to another user"

    package var message: String {
        switch self {
        case .absent(let source): "\(source): not set up"
        case .none(let tried, let variables):
            "no credentials were found (tried: "
                + tried.map(displayed(_:)).joined(separator: ", ")
                + "); set \((variables.id + variables.secret).joined(separator: " and "))"
        case .noProfile(let name, let tried):
            "there is no profile '\(displayed(name))' in "
                + tried.map(displayed(_:)).joined(separator: ", ")
        case .incomplete(let source, let missing):
            "\(displayed(source)) has credentials without \(missing)"
        case .invalid(let source, let reason): "\(displayed(source)): \(displayed(reason))"
        case .exposedFile(let path, let reason):
            "'\(displayed(path))' holds secrets and \(reason); "
                + (reason == Self.isOfOther
                    ? "put one of your own in its place"
                    : "run: chmod 600 '\(displayed(path))'")
        case .unreadableFile(let path, let errno):
            "'\(displayed(path))' can't be read (\(reason(errno)))"
        case .unsupportedMode(let source, let mode):
            "\(displayed(source)) asks for credentials of the mode '\(displayed(mode))', which "
                + "osssync does not support; use an access key, a credentials process or the "
                + "ECS role"
        case .unsupportedSetting(let source, let profile, let setting):
            "the profile '\(displayed(profile))' in '\(displayed(source))' gets its credentials "
                + "from '\(displayed(setting))', which osssync does not support; create another "
                + "profile with: credential_process = \(exporting) --profile \(displayed(profile))"
        case .processFailed(let reason): "the credentials process \(displayed(reason))"
        case .requestFailed(let source, let reason): "\(displayed(source)): \(displayed(reason))"
        case .app(let source, .passing(let reason)): "to \(displayed(source)): \(reason)"
        case .app(let source, .refused(let reason, _)): "\(displayed(source)): \(reason)"
        case .cancelled: "cancelled while credentials were fetched"
        }
    }

    /// The aws tool knows every way, and prints what osssync reads.
    private var exporting: String { "aws configure export-credentials" }

    private func reason(_ errno: Int32) -> String {
        switch errno {
        case EACCES, EPERM: "permission denied"
        case ELOOP: "too many symbolic links"
        default: "error \(errno)"
        }
    }

    private func displayed(_ text: String) -> String { displayText(text.utf8) }
}
