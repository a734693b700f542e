/// An answer that is an error document: oss-protocol, "Errors and retries".
struct ServiceError: Error, Sendable {
    let status: Int
    let code: String
    let message: String
    /// The precise cause, `dddd-dddddddd`.
    let ec: String
    /// Further elements of the document, in order.
    var details: [(name: String, value: String)] = []
    /// Further headers of the answer.
    var headers: [(name: String, value: String)] = []

    init(
        _ status: Int,
        _ code: String,
        _ message: String,
        ec: String = "0000-00000000",
        details: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.ec = ec
        self.details = details
    }
}

extension ServiceError {
    static func noSuchBucket(_ name: String) -> Self {
        Self(
            404,
            "NoSuchBucket",
            "The specified bucket does not exist.",
            ec: "0015-00000101",
            details: [("BucketName", name)]
        )
    }

    static func noSuchKey(_ key: String) -> Self {
        Self(
            404,
            "NoSuchKey",
            "The specified key does not exist.",
            ec: "0026-00000001",
            details: [("Key", key)]
        )
    }

    static func noSuchVersion(_ key: String, _ version: String) -> Self {
        Self(
            404,
            "NoSuchVersion",
            "The specified version does not exist.",
            details: [("Key", key), ("VersionId", version)]
        )
    }

    static func noSuchUpload(_ id: String, ec: String) -> Self {
        Self(
            404,
            "NoSuchUpload",
            "The specified upload does not exist. The upload ID may be invalid, or the upload may "
                + "have been aborted or completed.",
            ec: ec,
            details: [("UploadId", id)]
        )
    }

    static func invalidArgument(
        _ message: String,
        name: String? = nil,
        value: String? = nil,
        ec: String = "0017-00000000"
    ) -> Self {
        var details: [(name: String, value: String)] = []
        if let name { details.append(("ArgumentName", name)) }
        if let value { details.append(("ArgumentValue", value)) }
        return Self(400, "InvalidArgument", message, ec: ec, details: details)
    }

    static func preconditionFailed(_ condition: String) -> Self {
        Self(
            412,
            "PreconditionFailed",
            "At least one of the pre-conditions you specified did not hold.",
            details: [("Condition", condition)]
        )
    }

    static func fileAlreadyExists(_ key: String) -> Self {
        Self(
            409,
            "FileAlreadyExists",
            "The object you specified already exists and can not be overwritten.",
            ec: "0026-00000002",
            details: [("Key", key)]
        )
    }

    static func invalidDigest(_ value: String) -> Self {
        Self(
            400,
            "InvalidDigest",
            "The Content-MD5 you specified was invalid.",
            details: [("Content-MD5", value)]
        )
    }

    static func malformedXML(_ detail: String, ec: String = "0042-00000205") -> Self {
        Self(
            400,
            "MalformedXML",
            "The XML you provided was not well-formed or did not validate against our published "
                + "schema.",
            ec: ec,
            details: [("ErrorDetail", detail)]
        )
    }

    static func invalidObjectState(_ key: String) -> Self {
        Self(
            403,
            "InvalidObjectState",
            "The operation is not valid for the object's state",
            ec: "0016-00000330",
            details: [("ObjectName", key)]
        )
    }

    static func accessDenied(_ message: String, ec: String) -> Self {
        Self(403, "AccessDenied", message, ec: ec)
    }

    static func notImplemented(header: String) -> Self {
        Self(
            400,
            "NotImplemented",
            "A header you provided implies functionality that is not implemented.",
            details: [("Header", header)]
        )
    }

    static func notImplemented(operation: String) -> Self {
        Self(501, "NotImplemented", "This server does not implement \(operation).")
    }

    static func methodNotAllowed(_ message: String) -> Self {
        Self(405, "MethodNotAllowed", message)
    }

    static func internalError(_ message: String) -> Self {
        Self(500, "InternalError", message)
    }
}
