internal import SyncModel

/// The longest error document that is read.
let errorBodyLimit = 64 << 10

extension StorageRequest {
    /// The error that a response is; `region` is the one that the request was signed for.
    func failure(
        _ response: HTTPResponse,
        dialect: StorageDialect,
        region: String?,
        now: Timestamp
    ) -> StorageError {
        let head = response.head
        if head.status == 407 {
            return failure(.transport(.proxyFailed(reason: "it asks for credentials")))
        }
        // HEAD has no body; OSS sends the document in a header.
        let document =
            ServiceErrorDocument(body: response.body)
            ?? head[dialect.headerPrefix, "err"].flatMap { ServiceErrorDocument(headerValue: $0) }
        return failure(
            document,
            status: head.status,
            head: head,
            fallbackCode: fallbackCode(head.status, isEmpty: response.body.isEmpty),
            dialect: dialect,
            region: region,
            now: now
        )
    }

    /// The error that a document describes, regardless of the status that came with it.
    func failure(
        _ document: ServiceErrorDocument?,
        status: Int,
        head: ResponseHead,
        fallbackCode: String,
        dialect: StorageDialect,
        region: String?,
        now: Timestamp
    ) -> StorageError {
        let serverDate = head["date"].flatMap { Timestamp(httpText: $0) }
        let message = document?.serviceMessage.map { text in
            String(displayText(text.utf8.prefix(1_024)).unicodeScalars.prefix(256))
        }
        return StorageError(
            kind: .service(status: status, code: document?.code ?? fallbackCode),
            operation: operation,
            key: key,
            ec: document?.ec ?? head[dialect.headerPrefix, "ec"],
            requestID: document?.requestID ?? head[dialect.headerPrefix, "request-id"],
            serviceMessage: message,
            endpointHint: document?.endpoint ?? redirectHost(head),
            regionHint: regionHint(document, head, dialect, asked: region),
            retryAfter: head["retry-after"].flatMap {
                retryAfterDuration($0, serverDate: serverDate ?? now)
            },
            serverTime: document?.serverTime ?? serverDate
        )
    }

    func failure(_ kind: StorageError.Kind, head: ResponseHead? = nil) -> StorageError {
        StorageError(
            kind: kind,
            operation: operation,
            key: key,
            requestID: head.flatMap { $0["x-oss-request-id"] ?? $0["x-amz-request-id"] }
        )
    }

    private func regionHint(
        _ document: ServiceErrorDocument?,
        _ head: ResponseHead,
        _ dialect: StorageDialect,
        asked: String?
    ) -> String? {
        // Amazon names the region with every answer, also where nothing is wrong with it.
        let text = head[dialect.headerPrefix, "bucket-region"] ?? document?.region
        return text.flatMap { Endpoint.isRegion($0) && $0 != asked ? $0 : nil }
    }

    private func fallbackCode(_ status: Int, isEmpty: Bool) -> String {
        if status == 304 { return isConditional ? "NotModified" : "" }
        if status == 412 { return "PreconditionFailed" }
        return isEmpty ? "" : StorageError.unreadableCode
    }

    /// Where a redirect points: only its host, for the query may be signed.
    private func redirectHost(_ head: ResponseHead) -> String? {
        guard (300..<400).contains(head.status), let location = head["location"],
            let rest = bytes(of: location, after: "://")
        else { return nil }
        let ends = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        let host = rest.prefix { !ends.contains($0) }
        return host.split(separator: UInt8(ascii: "@")).last.map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}

/// Reads `Retry-After`: seconds or an HTTP date; nil for what is neither or has passed.
func retryAfterDuration(_ text: String, serverDate: Timestamp) -> Duration? {
    let limit: Int64 = 86_400
    if let seconds = parseDecimal(text.utf8) { return .seconds(min(seconds, limit)) }
    guard let date = Timestamp(httpText: text), date > serverDate else { return nil }
    return .seconds(min(date.seconds - serverDate.seconds, limit))
}
