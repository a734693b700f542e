internal import CLibrary
internal import SyncModel

struct CallbackReply {
    let status: Int
    let body: [UInt8]
}

struct CallbackFailure: Error {
    let message: String
}

/// A receiver of callbacks, over plain HTTP.
struct CallbackTarget {
    private static let timeoutInSeconds = 5
    private static let replyLimit = 1 << 20

    let authority: String
    private let host: String
    private let port: String
    private let path: String

    /// Nil for anything but `http://host[:port][/path]`.
    init?(_ url: String) {
        guard url.hasPrefix("http://") else { return nil }
        let rest = url.dropFirst("http://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        authority = String(rest[..<slash])
        path = slash == rest.endIndex ? "/" : String(rest[slash...])
        let pair = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard pair.count <= 2, let name = pair.first, !name.isEmpty else { return nil }
        host = String(name)
        port = pair.count == 2 ? String(pair[1]) : "80"
    }

    /// Sends `body` and waits for the whole answer.
    func post(_ body: [UInt8], type: String, host headerHost: String) throws -> CallbackReply {
        let descriptor = try connected()
        defer { close(descriptor) }
        let head =
            "POST \(path) HTTP/1.1\r\nHost: \(headerHost)\r\nContent-Type: \(type)\r\n"
            + "Content-Length: \(body.count)\r\nUser-Agent: aliyun-oss-callback\r\n"
            + "Connection: close\r\n\r\n"
        var rest = ([UInt8](head.utf8) + body)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw CallbackFailure(message: "Sending failed: \(errno).") }
            rest = rest.dropFirst(count)
        }
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while reply.count <= Self.replyLimit {
            if let complete = try Self.parse(reply) { return complete }
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                throw CallbackFailure(message: "The callback server did not answer.")
            }
            reply.append(contentsOf: buffer[..<count])
        }
        throw CallbackFailure(message: "The callback server answered too much.")
    }

    private func connected() throws -> Int32 {
        var hints = unsafe addrinfo()
        #if canImport(Glibc)
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        unsafe hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, port, &hints, &list) == 0, let first = unsafe list else {
            throw CallbackFailure(message: "The callback host has no address.")
        }
        defer { unsafe freeaddrinfo(list) }
        let address = unsafe first.pointee
        let descriptor = unsafe socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard descriptor >= 0 else { throw CallbackFailure(message: "No socket: \(errno).") }
        var limit = timeval(tv_sec: Self.timeoutInSeconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        guard unsafe connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else {
            close(descriptor)
            throw CallbackFailure(message: "Connecting failed: \(errno).")
        }
        return descriptor
    }

    /// The reply once it is complete; it must announce its length.
    private static func parse(_ bytes: [UInt8]) throws -> CallbackReply? {
        guard let end = bytes.firstIndex(ofHeadEnd: ()) else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let status else { throw CallbackFailure(message: "The answer is not HTTP.") }
        guard status == 200 else { return CallbackReply(status: status, body: []) }
        let length = lines.dropFirst().compactMap { line -> Int64? in
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair.count == 2, pair[0].lowercased() == "content-length" else { return nil }
            return parseDecimal(pair[1].utf8.drop { $0 == UInt8(ascii: " ") })
        }.first
        guard let length, length <= Int64(replyLimit) else {
            throw CallbackFailure(message: "The callback answer has no Content-Length.")
        }
        let body = bytes[(end + 4)...]
        guard body.count >= Int(length) else { return nil }
        return CallbackReply(status: status, body: Array(body.prefix(Int(length))))
    }
}

extension [UInt8] {
    /// Where the empty line after the headers begins.
    fileprivate func firstIndex(ofHeadEnd _: Void) -> Int? {
        let mark: [UInt8] = [13, 10, 13, 10]
        guard count >= 4 else { return nil }
        return (0...(count - 4)).first { self[$0..<($0 + 4)].elementsEqual(mark) }
    }
}
