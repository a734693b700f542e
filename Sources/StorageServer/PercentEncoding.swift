/// Percent-encodes everything but `A–Z a–z 0–9 - . _ ~`, and `/` if asked, with upper-case digits.
func percentEncoded(_ bytes: some Sequence<UInt8>, keepingSlash: Bool) -> String {
    var result: [UInt8] = []
    for byte in bytes {
        if isUnreserved(byte) || keepingSlash && byte == UInt8(ascii: "/") {
            result.append(byte)
        } else {
            result.appendEscape(byte)
        }
    }
    return String(decoding: result, as: UTF8.self)
}

private func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        true
    default: false
    }
}

extension [UInt8] {
    fileprivate mutating func appendEscape(_ byte: UInt8) {
        append(UInt8(ascii: "%"))
        append(digit(byte >> 4))
        append(digit(byte & 15))
    }

    private func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }
}

/// Encodes as S3's listings do: like a form, but with slashes as they are.
func formEncoded(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for byte in bytes {
        switch byte {
        case UInt8(ascii: " "): result.append(UInt8(ascii: "+"))
        case UInt8(ascii: "*"), UInt8(ascii: "/"): result.append(byte)
        case UInt8(ascii: "~"): result.appendEscape(byte)
        default: if isUnreserved(byte) { result.append(byte) } else { result.appendEscape(byte) }
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
