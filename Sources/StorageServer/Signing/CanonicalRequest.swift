internal import SyncModel

/// The texts that signatures are made of, built from what arrived: oss-protocol, "Signing".
enum CanonicalRequest {
    /// `/bucket/key`, `/bucket/` or `/`, undecoded form not considered: the service encodes again.
    static func resource(_ request: Request) -> [UInt8] {
        guard let bucket = request.bucket else { return [UInt8]("/".utf8) }
        return [UInt8]("/\(bucket)/".utf8) + (request.key?.bytes ?? [])
    }

    /// The canonical request of OSS V4.
    static func v4(
        _ request: Request,
        additionalHeaders: [String],
        leavingOut omitted: String?
    ) -> String {
        var pairs: [(name: String, value: String)] = []
        for item in request.query where item.name != omitted {
            let name = percentEncoded(item.name.utf8, keepingSlash: false)
            pairs.append((name, percentEncoded(item.value.utf8, keepingSlash: false)))
        }
        pairs.sort { $0.name == $1.name ? $0.value < $1.value : $0.name < $1.name }
        let query = pairs.map { $0.value.isEmpty ? $0.name : $0.name + "=" + $0.value }
            .joined(separator: "&")
        let headers = signedHeaders(request, additional: additionalHeaders)
            .map { "\($0.name):\($0.value)\n" }.joined()
        return [
            request.method.rawValue,
            percentEncoded(resource(request), keepingSlash: true),
            query,
            headers,
            additionalHeaders.sorted().joined(separator: ";"),
            "UNSIGNED-PAYLOAD",
        ].joined(separator: "\n")
    }

    /// The headers that V4 signs, sorted; several of one name joined with commas.
    private static func signedHeaders(
        _ request: Request,
        additional: [String]
    ) -> [(name: String, value: String)] {
        var values: [String: String] = [:]
        for header in request.headers
        where header.name.hasPrefix("x-oss-") || header.name == "content-type"
            || header.name == "content-md5" || additional.contains(header.name)
        {
            let value = trimmed(header.value)
            values[header.name] = values[header.name].map { $0 + "," + value } ?? value
        }
        return values.sorted { bytesPrecede([UInt8]($0.key.utf8), [UInt8]($1.key.utf8)) }
            .map { ($0.key, $0.value) }
    }

    /// The string to sign of OSS V1; `date` is the Date header or, in a URL, the expiry.
    static func v1(_ request: Request, date: String) -> [UInt8] {
        var text = [UInt8](
            [
                request.method.rawValue,
                request.header("content-md5") ?? "",
                request.header("content-type") ?? "",
                date,
            ].joined(separator: "\n").utf8
        )
        text.append(UInt8(ascii: "\n"))
        let headers = request.headers.filter { $0.name.hasPrefix("x-oss-") }
            .sorted { bytesPrecede([UInt8]($0.name.utf8), [UInt8]($1.name.utf8)) }
        for header in headers {
            text.append(contentsOf: "\(header.name):\(trimmed(header.value))\n".utf8)
        }
        text.append(contentsOf: resource(request))
        let parameters = request.query
            .filter { v1Subresources.contains($0.name) || $0.name.hasPrefix("x-oss-") }
            .sorted { bytesPrecede([UInt8]($0.name.utf8), [UInt8]($1.name.utf8)) }
            .map { $0.value.isEmpty ? $0.name : $0.name + "=" + $0.value }
        if !parameters.isEmpty {
            text.append(contentsOf: ("?" + parameters.joined(separator: "&")).utf8)
        }
        return text
    }

    private static func trimmed(_ text: String) -> String {
        func isBlank(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") || byte == 9 }
        guard isBlank(text.utf8.first) || isBlank(text.utf8.last) else { return text }
        var rest = text.utf8[...]
        while isBlank(rest.first) { rest.removeFirst() }
        while isBlank(rest.last) { rest.removeLast() }
        return String(Substring(rest))
    }

    /// Query parameters that are part of V1's resource, as `oss2` 2.19.1 has them.
    private static let v1Subresources = Set(
        """
        acl append bucketInfo callback callback-var continuation-token delete location objectMeta \
        partNumber position restore response-cache-control response-content-disposition \
        response-content-encoding response-content-language response-content-type \
        response-expires security-token sequential stat symlink tagging uploadId uploads \
        versionId versioning versions accessPoint accessPointPolicy asyncFetch \
        bucketArchiveDirectRead cname comp cors encryption endTime group httpsConfig inventory \
        inventoryId lifecycle link live logging metaQuery objectInfo policy publicAccessBlock qos \
        qosInfo qosRequester redundancyTransition referer regionList replication \
        replicationLocation replicationProgress requestPayment requesterQosInfo resourceGroup \
        resourcePool resourcePoolBuckets resourcePoolInfo startTime status style styleName \
        transferAcceleration vod website worm wormExtend wormId cloudboxes
        """.split(separator: " ").map(String.init)
    )
}
