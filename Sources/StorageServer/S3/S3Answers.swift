extension Answer {
    /// Headers of OSS that S3 has no counterpart of.
    private static let onlyOSS: Set<String> = [
        "content-md5", "x-oss-hash-crc64ecma", "x-oss-object-type", "x-oss-ec", "x-oss-err",
        "x-oss-server-time", "x-oss-next-append-position",
    ]

    /// The same answer as S3 says it.
    mutating func translateToS3() {
        headers = headers.compactMap { header in
            let name = header.name.lowercased()
            if Self.onlyOSS.contains(name) { return nil }
            if name == "etag" { return (header.name, header.value.lowercased()) }
            if name == "x-oss-storage-class" {
                let shown = StorageClassNames.shown(header.value, in: .s3)
                return shown == "STANDARD" ? nil : ("x-amz-storage-class", shown)
            }
            guard name.hasPrefix("x-oss-") else { return header }
            return ("x-amz-" + header.name.dropFirst(6), header.value)
        }
    }
}

extension ServiceError {
    /// The error that S3 has in the place of one of OSS.
    var inS3: ServiceError {
        switch code {
        case "NotImplemented": replaced(501, code, message)
        case "SymlinkTargetNotExist":
            replaced(404, "NoSuchKey", "The specified key does not exist.")
        case "OperationNotSupported":
            replaced(
                403,
                "InvalidObjectState",
                "Restore is not allowed for the object's current storage class"
            )
        case "InvalidRange": replaced(416, code, "The requested range is not satisfiable")
        case "EntityTooSmall":
            replaced(
                400,
                code,
                "Your proposed upload is smaller than the minimum allowed object size."
            )
        default: self
        }
    }

    private func replaced(_ status: Int, _ code: String, _ message: String) -> ServiceError {
        var result = ServiceError(status, code, message, details: details)
        result.headers = headers
        return result
    }

    /// The error document of S3.
    func s3Document(requestID: String, hostID: String, resource: String) -> [UInt8] {
        var xml = XMLWriter(root: "Error")
        xml.element("Code", code)
        xml.element("Message", message)
        for detail in details { xml.element(detail.name, detail.value) }
        xml.element("Resource", resource)
        xml.element("RequestId", requestID)
        xml.element("HostId", hostID)
        return xml.finish()
    }

    static func keyTooLong(_ length: Int) -> ServiceError {
        ServiceError(
            400,
            "KeyTooLongError",
            "Your key is too long",
            details: [("Size", String(length)), ("MaxSizeAllowed", "1024")]
        )
    }
}
