@testable import ObjectStorage

/// What is encoded is decoded to what it was, and decoding agrees with a plain reading of the rule.
func judgePercent(_ bytes: [UInt8]) throws(FuzzFailure) {
    for keepsSlash in [true, false] {
        let text = percentEncode(bytes, keepsSlash: keepsSlash)
        try require(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(text) is not plain")
        let isForSlash = !keepsSlash && text.utf8.contains(UInt8(ascii: "/"))
        try require(!isForSlash, "\(text) keeps a slash")
        for style in [PercentEncodingStyle.strict, .form] {
            let decoded = percentDecode([UInt8](text.utf8), style: style)
            try require(decoded == bytes, "\(text) is decoded to something else")
        }
    }
    for style in [PercentEncodingStyle.strict, .form] {
        let decoded = percentDecode(bytes, style: style)
        try require(decoded == plainlyDecoded(bytes, style), "decoded another way")
        if let decoded { try require(decoded.count <= bytes.count, "decoding adds bytes") }
    }
}

/// The same byte by byte, without a care for speed.
private func plainlyDecoded(_ bytes: [UInt8], _ style: PercentEncodingStyle) -> [UInt8]? {
    var result: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "%"):
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            let isPlain = rest.prefix(2).allSatisfy { !"+-".utf8.contains($0) && $0 < 0x80 }
            guard rest.count >= 2, isPlain, let value = UInt8(digits, radix: 16) else { return nil }
            result.append(value)
            rest = rest.dropFirst(2)
        case UInt8(ascii: "+") where style == .form: result.append(0x20)
        default: result.append(byte)
        }
    }
    return result
}
