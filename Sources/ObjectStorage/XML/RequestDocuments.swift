package import SyncModel

/// The body of CompleteMultipartUpload; parts must ascend.
package func encodeCompleteUpload(_ parts: [UploadedPart]) -> [UInt8] {
    var text = [UInt8]("<CompleteMultipartUpload>".utf8)
    text.reserveCapacity(64 + parts.count * 144)
    for part in parts {
        text += "<Part><PartNumber>".utf8
        text += String(part.number.value).utf8
        text += "</PartNumber><ETag>\"".utf8
        appendEscaped(part.etag.text.utf8, to: &text)
        text += "\"</ETag>".utf8
        if let checksum = part.crc32c {
            text += "<ChecksumCRC32C>\(checksumText(checksum))</ChecksumCRC32C>".utf8
        }
        text += "</Part>".utf8
    }
    text += "</CompleteMultipartUpload>".utf8
    return text
}

/// The body of DeleteMultipleObjects; at most 1,000 objects, none with a control character in its
/// key, which XML can't express.
package func encodeDelete(
    _ objects: [(key: ObjectKey, versionID: VersionID?)],
    isQuiet: Bool
) -> [UInt8] {
    var text = [UInt8]("<Delete><Quiet>\(isQuiet)</Quiet>".utf8)
    text.reserveCapacity(64 + objects.count * 96)
    for object in objects {
        text += "<Object><Key>".utf8
        appendEscaped(object.key.bytes, to: &text)
        text += "</Key>".utf8
        if let version = object.versionID {
            text += "<VersionId>".utf8
            appendEscaped(version.text.utf8, to: &text)
            text += "</VersionId>".utf8
        }
        text += "</Object>".utf8
    }
    text += "</Delete>".utf8
    return text
}

/// The body of RestoreObject; without a tier the store takes its standard one.
package func encodeRestore(days: Int, tier: String?, style: RestoreStyle) -> [UInt8] {
    let namespace = style.namespace.map { " xmlns=\"\($0)\"" } ?? ""
    var text = [UInt8]("<RestoreRequest\(namespace)><Days>\(days)</Days>".utf8)
    if let tier {
        text += "<\(style.parametersName)><Tier>".utf8
        appendEscaped(tier.utf8, to: &text)
        text += "</Tier></\(style.parametersName)>".utf8
    }
    text += "</RestoreRequest>".utf8
    return text
}

/// Appends character data; control characters become references of two digits or more, as the
/// official clients write them.
private func appendEscaped(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
    for byte in bytes {
        switch byte {
        case UInt8(ascii: "&"): text += "&amp;".utf8
        case UInt8(ascii: "<"): text += "&lt;".utf8
        case UInt8(ascii: ">"): text += "&gt;".utf8
        case UInt8(ascii: "\""): text += "&quot;".utf8
        case 0x00..<0x0A: text += "&#0\(byte);".utf8
        case 0x0A..<0x20, 0x7F: text += "&#\(byte);".utf8
        default: text.append(byte)
        }
    }
}
