// The names are Apple's, and so are their descriptions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// What this package calls of CryptoKit, for `Tests/Portable/platforms`: never called, and no proof
// that Apple's SDKs declare it so.

public import Foundation

public protocol HashFunction {
    associatedtype Digest: Sequence where Digest.Element == UInt8

    init()

    mutating func update(bufferPointer: UnsafeRawBufferPointer)

    func finalize() -> Digest
}

extension HashFunction {
    public static func hash<D: DataProtocol>(data: D) -> Digest { Self().finalize() }

    public mutating func update<D: DataProtocol>(data: D) {}
}

public enum Insecure {
    public struct MD5: HashFunction, Sendable {
        public init() {}

        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}

        public func finalize() -> [UInt8] { [] }
    }

    public struct SHA1: HashFunction, Sendable {
        public init() {}

        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}

        public func finalize() -> [UInt8] { [] }
    }
}

public struct SHA256: HashFunction, Sendable {
    public init() {}

    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}

    public func finalize() -> [UInt8] { [] }
}

public struct SymmetricKey: Sendable {
    public init<D: ContiguousBytes>(data: D) {}
}

public struct HMAC<Hash: HashFunction> {
    public static func authenticationCode<D: DataProtocol>(
        for data: D,
        using key: SymmetricKey
    ) -> [UInt8] { [] }
}
