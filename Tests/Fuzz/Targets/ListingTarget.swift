import SyncModel

@testable import ObjectStorage

/// Documents of every kind: read or refused with words; what was read can be sent back and comes
/// out the same.
func judgeListing(_ bytes: [UInt8]) throws(FuzzFailure) {
    let kind = bytes.first ?? 0
    let style: PercentEncodingStyle = kind & 0x80 == 0 ? .strict : .form
    let problem: String?
    do throws(XMLFailure) {
        problem = try findProblem(kind & 0x0F, [UInt8](bytes.dropFirst()), style)
    } catch {
        return try requirePrintable(error.message, "a refusal")
    }
    if let problem { throw FuzzFailure(problem) }
}

/// What is wrong with what a document was read as; nil if nothing is.
private func findProblem(
    _ kind: UInt8,
    _ body: [UInt8],
    _ style: PercentEncodingStyle
) throws(XMLFailure) -> String? {
    switch kind {
    case 2:
        let page = try decodeListVersions(body, style: style)
        if page.entries.contains(where: { $0.key.isEmpty }) { return "a version without a key" }
    case 3:
        let parts = try decodeListParts(body).parts
        let ascends = zip(parts, parts.dropFirst()).allSatisfy { $0.number < $1.number }
        if !ascends { return "parts in disorder" }
        if parts.contains(where: { $0.size < 0 || !$0.etag.isUsable }) { return "no part" }
    case 4:
        let uploads = try decodeListUploads(body, style: style).entries
        let isLong = uploads.contains { $0.upload.text.utf8.count > UploadID.maximumLength }
        if isLong { return "a long upload ID" }
    case 5: _ = try decodeDelete(body, style: style)
    case 6: _ = try decodeInitiateUpload(body, style: style)
    case 7: _ = try decodeCompleteUpload(body, style: style)
    case 8: _ = try decodeCopyObject(body)
    default:
        // What is read in place is what any reader of XML reads.
        if let page = PlainListing.read(body, style: style),
            (try? decodeAnyListObjects(body, style: style)) != page
        {
            return "a plain page reads differently"
        }
        return problem(of: try decodeListObjects(body, style: style), style)
    }
    return nil
}

/// What is wrong with a page that was read; nil if nothing is.
private func problem(of page: ListObjectsDocument, _ style: PercentEncodingStyle) -> String? {
    for object in page.objects {
        if object.key.isEmpty || object.size < 0 || !object.etag.isUsable {
            return "an object that none can be"
        }
        if object.storageClass.name.utf8.count > 200 { return "a long storage class" }
    }
    if page.isTruncated != (page.next != nil) { return "a page goes on without a token" }
    let listed = ListPage(
        objects: page.objects,
        commonPrefixes: page.commonPrefixes,
        next: page.next
    )
    var validator = ListingValidator()
    let isProven =
        (try? validator.accept(listed, request: ListRequest(prefix: ObjectKey("")))) != nil
    if isProven {
        let keys = page.objects.map(\.key)
        if !zip(keys, keys.dropFirst()).allSatisfy(<) { return "a proven page is in disorder" }
    }
    // Written again and read again.
    guard let text = written(page, style) else { return nil }
    guard let again = try? decodeListObjects([UInt8](text.utf8), style: style) else {
        return "what was written again can't be read: \(text)"
    }
    let isSame =
        again.objects.map(\.key) == page.objects.map(\.key)
        && again.objects.map(\.size) == page.objects.map(\.size)
        && again.objects.map(\.etag) == page.objects.map(\.etag)
        && again.isTruncated == page.isTruncated
    return isSame ? nil : "what was written again reads differently: \(text)"
}

/// The page as a store would send it; nil if a key is too long when it is encoded.
private func written(_ page: ListObjectsDocument, _ style: PercentEncodingStyle) -> String? {
    var text =
        "<ListBucketResult><EncodingType>url</EncodingType>"
        + "<IsTruncated>\(page.isTruncated)</IsTruncated>"
    if page.next != nil { text += "<NextContinuationToken>t</NextContinuationToken>" }
    for object in page.objects {
        var tag = ""
        for scalar in object.etag.quoted.unicodeScalars { tag += "&#\(scalar.value);" }
        let key = percentEncode(object.key.bytes, keepsSlash: true)
        guard key.utf8.count <= XMLLimits.keyTextBytes else { return nil }
        text += "<Contents><Key>\(key)</Key><Size>\(object.size)</Size>"
        text += "<ETag>\(tag)</ETag></Contents>"
    }
    return text + "</ListBucketResult>"
}
