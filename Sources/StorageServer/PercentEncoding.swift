/// Percent-encodes everything but `A–Z a–z 0–9 - . _ ~`, and `/` if asked, with upper-case digits.
func percentEncoded(_ bytes: some Sequence<UInt8>, keepingSlash: Bool) -> String {
    let digits = [UInt8]("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in bytes {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            result.append(byte)
        case UInt8(ascii: "/") where keepingSlash:
            result.append(byte)
        default:
            result.append(UInt8(ascii: "%"))
            result.append(digits[Int(byte >> 4)])
            result.append(digits[Int(byte & 15)])
        }
    }
    return String(decoding: result, as: UTF8.self)
}

/// Encodes as S3's listings do: like a form, but with slashes as they are.
func formEncoded(_ bytes: [UInt8]) -> [UInt8] {
    let encoded = percentEncoded(bytes, keepingSlash: true).utf8
    var result: [UInt8] = []
    var rest = Substring(decoding: encoded, as: UTF8.self).utf8
    while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "~"): result.append(contentsOf: "%7E".utf8)
        case UInt8(ascii: "%") where rest.starts(with: "20".utf8):
            result.append(UInt8(ascii: "+"))
            rest.removeFirst(2)
        case UInt8(ascii: "%") where rest.starts(with: "2A".utf8):
            result.append(UInt8(ascii: "*"))
            rest.removeFirst(2)
        default: result.append(byte)
        }
    }
    return result
}

/// Decodes `%XX`; a percent sign without two hexadecimal digits stands for itself.
///
/// `plusIsSpace` is for queries, where clients that encode forms write a space as `+`; a plus sign
/// is `%2B` in every client.
func percentDecoded(_ bytes: some Sequence<UInt8>, plusIsSpace: Bool) -> [UInt8] {
    let bytes = [UInt8](bytes)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
        let byte = bytes[index]
        if byte == UInt8(ascii: "%"), index + 2 < bytes.count,
            let high = hexadecimalValue(bytes[index + 1]),
            let low = hexadecimalValue(bytes[index + 2])
        {
            result.append(high << 4 | low)
            index += 3
            continue
        }
        result.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        index += 1
    }
    return result
}

/// The bytes that pairs of hexadecimal digits stand for; other characters count as 0.
func hexadecimalBytes(_ digits: [UInt8]) -> [UInt8] {
    stride(from: 0, to: digits.count - 1, by: 2).map { index in
        (hexadecimalValue(digits[index]) ?? 0) << 4 | (hexadecimalValue(digits[index + 1]) ?? 0)
    }
}

private func hexadecimalValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
}
