package import ObjectStorage
package import ObjectTransfer

/// A request that OSS makes to an app's own server once an object is stored.
///
/// The server has to answer with status 200 and a JSON document within five seconds; the document
/// comes back as ``UploadCallback/Reply/answered(json:)``.
public struct UploadCallback: Sendable, Hashable {
    /// How values are written into ``body``.
    @nonexhaustive
    public enum BodyType: Sendable, Hashable {
        /// `application/x-www-form-urlencoded`, values percent-encoded.
        case form
        /// `application/json`, texts quoted.
        case json

        fileprivate var name: String {
            switch self {
            case .form: "application/x-www-form-urlencoded"
            case .json: "application/json"
            }
        }
    }

    /// One to five URLs, separated by semicolons, which are tried in order.
    public var url: String
    /// The `Host` header of the request; nil for the URL's own.
    public var host: String?
    /// The request's body, in which `${bucket}`, `${object}`, `${etag}`, `${size}`, `${mimeType}`
    /// and `${x:name}` stand for what they name.
    public var body: String
    /// How values are written into the body.
    public var bodyType: BodyType
    /// The app's own values, by names that begin with `x:` and are in lower case.
    public var variables: [String: String]

    /// Makes a callback; the service takes at most 5 KiB of all of it.
    public init(
        url: String,
        host: String? = nil,
        body: String,
        bodyType: BodyType = .form,
        variables: [String: String] = [:]
    ) {
        self.url = url
        self.host = host
        self.body = body
        self.bodyType = bodyType
        self.variables = variables
    }

    package var wire: ObjectStorage.UploadCallback {
        var parameters = [
            JSONText.Member(name: "callbackUrl", value: .string(url)),
            JSONText.Member(name: "callbackBody", value: .string(body)),
            JSONText.Member(name: "callbackBodyType", value: .string(bodyType.name)),
        ]
        if let host {
            parameters.append(JSONText.Member(name: "callbackHost", value: .string(host)))
        }
        let values = variables.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { JSONText.Member(name: $0.key, value: .string($0.value)) }
        return ObjectStorage.UploadCallback(
            parameters: JSONText.object(parameters).text,
            variables: values.isEmpty ? nil : JSONText.object(values).text
        )
    }
}

extension UploadCallback {
    /// What became of an upload's callback; the object is stored in every case.
    @nonexhaustive
    public enum Reply: Sendable, Hashable {
        /// The app's server answered this JSON document.
        case answered(json: String)
        /// The callback failed, for this reason; safe to print.
        case failed(message: String)
        /// The store's response was lost and a HEAD request found the object: what the app's server
        /// answered is unknown.
        case unknown

        package init(_ ending: CallbackEnding) {
            self =
                switch ending {
                case .answered(let body): .answered(json: String(decoding: body, as: UTF8.self))
                case .failed(let message): .failed(message: message)
                case .unknown: .unknown
                }
        }
    }
}
