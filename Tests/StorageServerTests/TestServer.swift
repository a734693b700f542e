import SyncModel

@testable import StorageServer

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A server of its own for one test, in a temporary directory that goes with it.
final class TestServer {
    let server: StorageServer
    let port: Int
    private let root: String

    init(restorePolls: Int = 0, generated: [GeneratedBucket] = []) throws {
        var template = [UInt8]("/tmp/osssync-server-test-XXXXXX".utf8) + [0]
        let made = unsafe template.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return unsafe mkdtemp(base.assumingMemoryBound(to: CChar.self)) != nil
        }
        guard made else {
            throw ServerFailure.file(path: "/tmp", call: "mkdtemp", code: errno)
        }
        root = String(decoding: template.dropLast(), as: UTF8.self)
        server = try StorageServer(
            configuration: ServerConfiguration(
                root: root,
                buckets: ["demo"],
                generatedBuckets: generated,
                credentials: [ServerCredentials(accessKeyID: "id", secret: "secret")],
                restorePolls: restorePolls
            )
        )
        port = try server.start()
    }

    deinit {
        server.stop()
        removeTree(root)
    }

    /// Replaces the fault script by the JSON text.
    func setFaults(_ json: String) throws {
        server.setFaults(try FaultScript(json: [UInt8](json.utf8)))
    }

    /// A signed request over a connection of its own.
    func send(
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: [UInt8] = []
    ) throws -> TestReply {
        let connection = try TestConnection(port: port)
        try connection.send(method, target, headers: headers, body: body)
        return connection.receive(isHead: method == "HEAD")
    }

    /// The record of the latest request, waited for: it is written when the server has noticed the
    /// end of the answer.
    func lastRecord(count: Int) throws -> RequestRecord {
        var rounds = 0
        while server.requestLog.count < count, rounds < 5_000 {
            _ = poll(nil, 0, 1)
            rounds += 1
        }
        // A record is made when its connection is done, so the order can be another one.
        let records = server.requestLog
        guard records.count == count, let last = records.max(by: { $0.started < $1.started })
        else {
            throw ServerFailure.file(path: root, call: "log", code: 0)
        }
        return last
    }

    private func removeTree(_ path: String) {
        guard let stream = unsafe opendir(path) else {
            unsafe unlink(path)
            return
        }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        unsafe closedir(stream)
        for name in names { removeTree(path + "/" + name) }
        unsafe rmdir(path)
    }
}

/// How the server's bytes came to an end.
enum ReplyEnd: Equatable {
    /// With the announced length.
    case complete
    case closed
    case reset
}

struct TestReply {
    var status = 0
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    var end = ReplyEnd.complete

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// A plain HTTP/1.1 client that sees how connections end.
final class TestConnection {
    private let descriptor: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            throw ServerFailure.file(path: "127.0.0.1:\(port)", call: "connect", code: errno)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Signs with V1: what the signature covers is checked elsewhere.
    func send(
        _ method: String,
        _ target: String,
        headers: [(String, String)],
        body: [UInt8]
    ) throws {
        var all = headers.map { (name: $0.0.lowercased(), value: $0.1) }
        all.append(("host", "127.0.0.1"))
        all.append(("date", CivilTime(ServerCore.machineTime).httpText))
        if !body.isEmpty || method == "PUT" { all.append(("content-length", "\(body.count)")) }
        let request = Request(
            method: Method(rawValue: method) ?? .get,
            target: target,
            headers: all
        )
        let text = CanonicalRequest.v1(request, date: request.header("date") ?? "")
        let signature = Base64.encode(Digests.hmacSHA1(key: [UInt8]("secret".utf8), text))
        all.append(("authorization", "OSS id:\(signature)"))
        var head = "\(method) \(target) HTTP/1.1\r\n"
        for header in all { head += "\(header.name): \(header.value)\r\n" }
        send([UInt8]((head + "\r\n").utf8) + body)
    }

    /// Nothing but this.
    func send(plain request: String, _ headers: [String: String]) {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        send([UInt8]("\(request) HTTP/1.1\r\n\(lines)\r\n".utf8))
    }

    private func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                #if canImport(Glibc)
                unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                #else
                unsafe Darwin.send(descriptor, buffer.baseAddress, buffer.count, 0)
                #endif
            }
            // A server that does not want the rest has closed; its answer tells.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads one answer, or with `limit` so many of its bytes.
    func receive(isHead: Bool, limit: Int = .max) -> TestReply {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if var reply = parse(bytes, isHead: isHead) {
                reply.end = .complete
                return reply
            }
            guard bytes.count < limit else { return partial(bytes, .complete) }
            let wanted = min(buffer.count, limit - bytes.count)
            let count = unsafe recv(descriptor, &buffer, wanted, 0)
            if count == 0 { return partial(bytes, .closed) }
            if count < 0 { return partial(bytes, .reset) }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    private func head(of bytes: [UInt8]) -> (TestReply, bodyStart: Int)? {
        let mark: [UInt8] = [13, 10, 13, 10]
        guard bytes.count >= 4,
            let end = (0...(bytes.count - 4)).first(where: {
                bytes[$0..<($0 + 4)].elementsEqual(mark)
            })
        else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        var reply = TestReply()
        reply.status = Int(lines[0].split(separator: " ")[1]) ?? 0
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            let value = pair.count == 2 ? String(pair[1].drop { $0 == " " }) : ""
            reply.headers[pair[0].lowercased()] = value
        }
        return (reply, end + 4)
    }

    private func parse(_ bytes: [UInt8], isHead: Bool) -> TestReply? {
        guard let (parsed, start) = head(of: bytes) else { return nil }
        var reply = parsed
        let hasBody = !isHead && reply.status != 204 && reply.status != 304
        let length = hasBody ? Int(reply.headers["content-length"] ?? "") ?? 0 : 0
        guard bytes.count - start >= length else { return nil }
        reply.body = Array(bytes[start..<(start + length)])
        return reply
    }

    private func partial(_ bytes: [UInt8], _ end: ReplyEnd) -> TestReply {
        var reply = TestReply()
        reply.end = end
        guard let (parsed, start) = head(of: bytes) else { return reply }
        reply = parsed
        reply.body = Array(bytes[start...])
        reply.end = end
        return reply
    }
}

/// Bytes of a prime period, so that a misplaced one shows.
func ramp(_ count: Int) -> [UInt8] {
    var result = [UInt8](0..<251)
    while result.count < count { result += result }
    return Array(result[..<count])
}
