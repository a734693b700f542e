/// Kinds of ASCII characters; no byte of a longer character is one of them.
extension UInt8 {
    /// One of `0` to `9`.
    @inlinable package var isDigit: Bool { self >= 0x30 && self <= 0x39 }

    /// One of `a` to `z`.
    @inlinable package var isSmallLetter: Bool { self >= 0x61 && self <= 0x7A }

    /// One of `A` to `Z`.
    @inlinable package var isCapital: Bool { self >= 0x41 && self <= 0x5A }

    /// A letter in either case.
    @inlinable package var isLetter: Bool { (self | 0x20).isSmallLetter }

    /// A letter in either case, or a digit.
    @inlinable package var isLetterOrDigit: Bool { isLetter || isDigit }

    /// A letter in either case, a digit, or one of `others`.
    @inlinable
    package func isLetterOrDigit(or others: String) -> Bool {
        isLetterOrDigit || others.utf8.contains(self)
    }

    /// A digit or one of `a` to `f`.
    @inlinable package var isSmallHexadecimal: Bool { isDigit || self >= 0x61 && self <= 0x66 }

    /// A digit or one of `a` to `f` in either case.
    @inlinable package var isHexadecimal: Bool {
        isSmallHexadecimal || self >= 0x41 && self <= 0x46
    }

    /// A space or a tab.
    @inlinable package var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// A space, a tab, or what ends a line.
    @inlinable package var isWhiteSpace: Bool { isBlank || self == 0x0A || self == 0x0D }

    /// A capital as a small letter, any other byte as it is.
    @inlinable package var withoutCase: UInt8 { isCapital ? self | 0x20 : self }
}

extension [UInt8] {
    /// Appends `%` and the two digits of `byte`, with capitals.
    @inlinable
    package mutating func append(escaping byte: UInt8) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }
        append(UInt8(ascii: "%"))
        append(digit(byte >> 4))
        append(digit(byte & 15))
    }
}
