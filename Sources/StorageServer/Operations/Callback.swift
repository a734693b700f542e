internal import SyncModel

/// An upload callback: oss-protocol 3.22.
struct Callback {
    private let urls: [String]
    private let host: String?
    private let template: String
    private let bodyType: String
    private let variables: [String: String]

    /// Nil if the request asks for none.
    init?(_ request: Request) throws(ServiceError) {
        let parameter = request.parameter("callback")
        let header = request.header("x-oss-callback")
        if parameter != nil, header != nil {
            throw .invalidArgument("The callback is given twice.", name: "callback")
        }
        guard let encoded = header ?? parameter else { return nil }
        let invalid = ServiceError.invalidArgument(
            "The callback configuration is not base64 of JSON.",
            name: "x-oss-callback",
            value: encoded
        )
        let variableText =
            request.header("x-oss-callback-var") ?? request.parameter("callback-var")
        guard encoded.utf8.count + (variableText?.utf8.count ?? 0) <= 5_120,
            let fields = Base64.decode(encoded).flatMap(JSONValue.parse)?.object,
            let url = fields["callbackUrl"]?.string, let body = fields["callbackBody"]?.string
        else { throw invalid }
        urls = url.split(separator: ";").map(String.init)
        guard (1...5).contains(urls.count) else { throw invalid }
        template = body
        host = fields["callbackHost"]?.string
        bodyType = fields["callbackBodyType"]?.string ?? "application/x-www-form-urlencoded"
        var variables: [String: String] = [:]
        if let variableText {
            guard let object = Base64.decode(variableText).flatMap(JSONValue.parse)?.object else {
                throw invalid
            }
            variables = object.compactMapValues(\.string)
        }
        self.variables = variables
    }

    /// Posts, and answers what the receiver answered, or 203: the object is stored either way.
    func answer(
        _ context: OperationContext,
        object: NewObject,
        headers: [(name: String, value: String)]
    ) throws -> Answer {
        let body = expanded(context, object: object)
        var failure = "The callback has no URL that can be used."
        for url in urls {
            guard let target = CallbackTarget(url) else { continue }
            let reply: CallbackReply
            do {
                reply = try target.post(body, type: bodyType, host: host ?? target.authority)
            } catch let error as CallbackFailure {
                failure = error.message
                continue
            }
            guard reply.status == 200 else {
                failure = "Error status : \(reply.status)."
                continue
            }
            guard JSONValue.parse(reply.body) != nil else {
                failure = "Response body is not valid json format."
                continue
            }
            return Answer(
                200,
                headers: headers + [("Content-Type", "application/json")],
                body: .bytes(reply.body)
            )
        }
        var error = ServiceError(203, "CallbackFailed", failure, ec: "0007-00000203")
        error.headers = headers
        throw error
    }

    private func expanded(_ context: OperationContext, object: NewObject) -> [UInt8] {
        let isJSON = bodyType == "application/json"
        let contentType = object.headers.first { $0.name == "content-type" }?.value ?? ""
        var values = variables
        values["bucket"] = context.bucketName
        values["object"] = context.keyText
        values["etag"] = object.content.etag
        values["size"] = String(object.content.size)
        values["mimeType"] = contentType
        values["crc64"] = object.content.crc64.map { String($0.value) }
        values["contentMd5"] = object.content.md5
        var result = ""
        var rest = template[...]
        while let start = rest.firstRange(ofText: "${") {
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else { break }
            result += rest[..<start.lowerBound]
            let name = String(rest[start.upperBound..<end])
            let value = values[name] ?? ""
            let isNumber = name == "size"
            if isJSON {
                result += isNumber ? value : jsonString(value)
            } else {
                result += percentEncoded(value.utf8, keepingSlash: false)
            }
            rest = rest[rest.index(after: end)...]
        }
        return [UInt8]((result + rest).utf8)
    }
}

extension Substring {
    fileprivate func firstRange(ofText text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) {
                return start..<index(start, offsetBy: text.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
