internal import ObjectStorage
internal import SyncModel

/// Encrypted objects of a simulation, which has one password.
enum SealedObjects {
    static let cipher: ContentCipher = {
        do {
            return try ContentCipher(
                EncryptionPassword([UInt8]("a password\nanother one\n".utf8), source: "simulation")
            )
        } catch {
            preconditionFailure("the password is one: \(error)")
        }
    }()

    /// The object of a file, as another machine writes it.
    static func object(of bytes: [UInt8], _ token: String, _ key: ObjectKey) -> [UInt8] {
        let body = SealedBody(
            .bytes(bytes),
            plainSize: Int64(bytes.count),
            cipher: cipher,
            nonce: cipher.nonce(of: token, key)
        )
        var object: [UInt8] = []
        do {
            try unsafe body.read { unsafe object.append(contentsOf: $0) }
        } catch {
            preconditionFailure("what is in memory can be read: \(error)")
        }
        return object
    }

    /// The file of an object; nil for what is not encrypted, or damaged.
    static func file(of object: [UInt8]) -> [UInt8]? {
        let header = object.prefix(Int(SealedFormat.headerLength))
        guard SealedFormat.plainSize(of: Int64(object.count)) != nil,
            let nonce = SealedNonce(header: header)
        else { return nil }
        var (file, rest, block) = ([UInt8](), object.dropFirst(header.count), Int64(0))
        while !rest.isEmpty {
            let sealed = [UInt8](rest.prefix(Int(SealedFormat.sealedBlockSize)))
            var plain = [UInt8](repeating: 0, count: sealed.count)
            let isOpen = unsafe sealed.withUnsafeBytes { source in
                unsafe plain.withUnsafeMutableBytes { target in
                    guard let start = target.baseAddress else { return false }
                    return unsafe cipher.open(source, into: start, nonce.ofBlock(block))
                }
            }
            guard isOpen else { return nil }
            file += plain.dropLast(Int(SealedFormat.tagLength))
            (rest, block) = (rest.dropFirst(sealed.count), block + 1)
        }
        return file
    }
}

/// What was sent under each nonce: of two contents under one, their difference could be computed.
struct SentNonces {
    private var nonces: [ArraySlice<UInt8>: String] = [:]
    private var bodies: [String: [UInt8]] = [:]

    /// Takes a body, or what came of it; false if it must not have been sent.
    mutating func isNew(_ body: [UInt8], of call: ServiceCall) -> Bool {
        let upload = call.text("uploadId")
        let part = call.text("partNumber") ?? ""
        var name = upload.map { "\($0) \(part)" } ?? ""
        if upload == nil || part == "1" {
            guard body.count >= 32 else { return true }
            let nonce = body[8..<32]
            if upload == nil { name = "\(nonce)" }
            let owner = upload ?? name
            if let known = nonces[nonce], known != owner { return false }
            nonces[nonce] = owner
        }
        let known = bodies[name] ?? []
        let isSame = zip(known, body).allSatisfy { $0 == $1 }
        if isSame, body.count > known.count { bodies[name] = body }
        return isSame
    }
}
