import SyncModel

@testable import ObjectStorage

/// Whatever answers an error, its message can be shown and its parts are bounded.
func judgeError(_ bytes: [UInt8]) throws(FuzzFailure) {
    let input = bytes.dropFirst()
    let first = bytes.first ?? 0
    let document =
        first & 1 == 0
        ? ServiceErrorDocument(body: [UInt8](input))
        : ServiceErrorDocument(headerValue: String(decoding: input, as: UTF8.self))
    if let document {
        try require(!document.code.isEmpty, "an error without a code")
        try require(document.fields.count <= 256, "\(document.fields.count) fields")
    }
    let statuses = [200, 301, 307, 400, 403, 404, 409, 412, 416, 429, 500, 503]
    let head = ResponseHead(
        status: statuses[Int(first >> 1) % statuses.count],
        headers: [("x-oss-err", String(decoding: input, as: UTF8.self))]
    )
    let request = StorageRequest("GetObject", .get, ObjectKey(input.prefix(50)))
    for dialect in [StorageDialect.oss, .s3] {
        let error = request.failure(
            HTTPResponse(head: head, body: [UInt8](input), sent: nil),
            dialect: dialect,
            region: nil,
            now: Timestamp(seconds: 1_700_000_000)
        )
        try requirePrintable(error.message, "a message")
        try requirePrintable(error.requestID ?? "", "a request's id")
        try require((error.requestID ?? "").unicodeScalars.count <= 128, "a long id")
        try require((error.serviceMessage ?? "").unicodeScalars.count <= 256, "a long message")
        if case .otherRegion(let region) = error.retryClass {
            try require(Endpoint.isRegion(region), "\(region) is no region")
        }
        _ = error.isAccessDenied || error.isThrottled
    }
}
