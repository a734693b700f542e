internal import ObjectStorage
internal import SyncModel

/// One page of a listing before it is written down.
struct ListingPage {
    var keys: [ObjectKey]
    var prefix: ObjectKey
    /// Nil on the last page.
    var next: String?
    var isTruncated: Bool
    /// Where it begins; nil at the start.
    var after: ObjectKey?
}

extension VirtualService {
    /// The page that is asked for, as it truly is.
    func page(_ call: ServiceCall) -> ListingPage {
        let prefix = ObjectKey(call.query["prefix"] ?? [])
        let token = call.text("continuation-token").flatMap(Self.key(ofToken:))
        let after = token ?? call.query["start-after"].map { ObjectKey($0) }
        let rest = bucket.keys.filter { key in
            key.hasPrefix(prefix) && (after.map { $0 < key } ?? true)
        }
        let asked = Int(call.text("max-keys") ?? "") ?? 1_000
        let keys = [ObjectKey](rest.prefix(max(1, min(asked, pageSize))))
        let isTruncated = keys.count < rest.count
        return ListingPage(
            keys: keys,
            prefix: prefix,
            next: isTruncated ? keys.last.map(Self.token(after:)) : nil,
            isTruncated: isTruncated,
            after: after
        )
    }

    static func token(after key: ObjectKey) -> String { "k" + hexadecimalText(key.bytes) }

    private static func key(ofToken token: String) -> ObjectKey? {
        let digits = [UInt8](token.utf8.dropFirst())
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count - 1, by: 2) {
            let text = String(decoding: digits[start...(start + 1)], as: UTF8.self)
            guard let byte = UInt8(text, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return ObjectKey(bytes)
    }

    func document(_ page: ListingPage) -> ServiceAnswer {
        var text =
            "<ListBucketResult><Name>\(bucketName)</Name>"
            + "<Prefix>\(Self.encoded(page.prefix))</Prefix><MaxKeys>1000</MaxKeys>"
            + "<EncodingType>url</EncodingType><IsTruncated>\(page.isTruncated)</IsTruncated>"
        if let next = page.next {
            text += "<NextContinuationToken>\(next)</NextContinuationToken>"
        }
        for key in page.keys {
            guard let object = bucket.objects[key] else { continue }
            let time = CivilTime(object.modified).extendedText(milliseconds: 0)
            text +=
                "<Contents><Key>\(Self.encoded(key))</Key>"
                + "<LastModified>\(time)</LastModified><ETag>\"\(object.etag)\"</ETag>"
            if isOSS { text += "<Type>\(object.target == nil ? "Normal" : "Symlink")</Type>" }
            let storageClass =
                isOSS || object.storageClass != "Standard"
                ? object.storageClass : "STANDARD"
            text +=
                "<Size>\(object.stored.count)</Size>"
                + "<StorageClass>\(storageClass)</StorageClass></Contents>"
        }
        return .document(text + "<KeyCount>\(page.keys.count)</KeyCount></ListBucketResult>")
    }
}
