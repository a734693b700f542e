internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// One request as a scripted server saw it.
package struct ScriptedRequest: Sendable {
    package let method: String
    package let target: String
    /// Names in lower case.
    package let headers: [(name: String, value: String)]
    package var body: [UInt8] = []
    /// Connections count from 0 in the order of their beginning.
    package let connection: Int

    package subscript(name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// What a scripted server does with a connection, one after the other.
package enum ScriptedAction: Sendable {
    /// First of all: the request's body is not read.
    case leaveBody
    case send([UInt8])
    /// Holds the connection open, without a byte, until the client closes it.
    case stall
    /// Holds the connection open and reads nothing any more.
    case stopReading
    /// One byte now and then, until the client closes the connection.
    case drip(UInt8, everyMilliseconds: Int32)
    /// Ends the connection in an orderly way.
    case close
    /// Ends the connection with RST.
    case reset

    package static func text(_ text: String) -> ScriptedAction { .send([UInt8](text.utf8)) }

    /// A whole response with the right length.
    package static func response(
        _ status: String,
        headers: [String] = [],
        body: [UInt8] = []
    ) -> ScriptedAction {
        let lines = ["HTTP/1.1 " + status, "Content-Length: \(body.count)"] + headers
        return .send([UInt8]((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
    }
}

/// A server on a loopback port that answers each request with scripted bytes, right or wrong.
package final class ScriptedServer: Sendable {
    package typealias Script =
        @Sendable (_ request: ScriptedRequest, _ index: Int) -> [ScriptedAction]

    package let port: UInt16
    private let listener: Int32
    private let script: Script
    private let greeting: [UInt8]
    private struct State {
        var requests: [ScriptedRequest] = []
        var connections = 0
        var open: Set<Int32> = []
        var isStopped = false
    }
    private let state = Mutex(State())

    /// Starts to listen; `script` is called with each request's head and the number of requests
    /// before it, and `greeting` is sent before any request came.
    package init(greeting: [UInt8] = [], _ script: @escaping Script) {
        self.script = script
        self.greeting = greeting
        listener = socket(AF_INET, streamSocket, 0)
        var on: Int32 = 1
        _ = unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(listener, generic, length) == 0 && listen(listener, 512) == 0
                    && getsockname(listener, generic, &length) == 0
            }
        }
        precondition(isBound, "a loopback port can be had")
        port = UInt16(bigEndian: address.sin_port)
        startTestThread { [self] in acceptConnections() }
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// All requests so far, with their bodies.
    package var requests: [ScriptedRequest] { state.withLock { $0.requests } }

    package var connectionCount: Int { state.withLock { $0.connections } }

    /// Ends all connections; a server that is not stopped lives until the process ends.
    package func stop() {
        // Under the lock, as closing is: a closed descriptor may be another test's a moment later.
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            shutdown(listener, shutdownBoth)
            for descriptor in state.open { shutdown(descriptor, shutdownBoth) }
        }
    }

    private func acceptConnections() {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else {
                if state.withLock({ $0.isStopped }) { break }
                continue
            }
            let number: Int? = state.withLock { state in
                guard !state.isStopped else { return nil }
                state.open.insert(descriptor)
                state.connections += 1
                return state.connections - 1
            }
            guard let number else {
                close(descriptor)
                break
            }
            startTestThread { [self] in serve(descriptor, number) }
        }
        close(listener)
    }

    private func serve(_ descriptor: Int32, _ number: Int) {
        var connection = ScriptedConnection(descriptor: descriptor)
        if !greeting.isEmpty { _ = connection.perform(.send(greeting)) }
        while var request = connection.readHead(number: number) {
            let index = state.withLock { state in
                state.requests.append(request)
                return state.requests.count - 1
            }
            var actions = script(request, index)[...]
            if case .leaveBody = actions.first {
                actions.removeFirst()
            } else {
                request.body = connection.readBody(of: request)
                state.withLock { $0.requests[index].body = request.body }
            }
            guard actions.allSatisfy({ connection.perform($0) }) else { break }
        }
        state.withLock { state in
            state.open.remove(descriptor)
            close(descriptor)
        }
    }
}

/// The bytes of one connection.
private struct ScriptedConnection {
    let descriptor: Int32
    private var buffered: [UInt8] = []

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// False at the end of the connection.
    private mutating func fill() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let size = chunk.count
        let count = unsafe recv(descriptor, &chunk, size, 0)
        guard count > 0 else { return false }
        buffered += chunk[..<count]
        return true
    }

    mutating func readHead(number: Int) -> ScriptedRequest? {
        let end = [UInt8]("\r\n\r\n".utf8)
        var searched = 0
        while true {
            while searched + 4 <= buffered.count {
                if buffered[searched..<(searched + 4)].elementsEqual(end) {
                    let head = String(decoding: buffered[..<searched], as: UTF8.self)
                    buffered.removeFirst(searched + 4)
                    return Self.request(head, number)
                }
                searched += 1
            }
            guard fill() else { return nil }
        }
    }

    private static func request(_ head: String, _ number: Int) -> ScriptedRequest? {
        let lines = head.split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count == 3 else { return nil }
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            return (name: parts[0].lowercased(), value: String(value))
        }
        return ScriptedRequest(
            method: String(words[0]),
            target: String(words[1]),
            headers: headers,
            connection: number
        )
    }

    mutating func readBody(of request: ScriptedRequest) -> [UInt8] {
        let length = Int(request["content-length"] ?? "") ?? 0
        while buffered.count < length, fill() {}
        let body = [UInt8](buffered.prefix(length))
        buffered.removeFirst(body.count)
        return body
    }

    /// False if the connection is to end.
    mutating func perform(_ action: ScriptedAction) -> Bool {
        switch action {
        case .leaveBody: return true
        case .send(let bytes): return send(bytes)
        case .stall:
            while fill() {}
            return false
        case .stopReading:
            var watched = pollfd(descriptor: descriptor)
            watched.events = 0
            while unsafe poll(&watched, 1, -1) < 0, errno == EINTR {}
            return false
        case .drip(let byte, let milliseconds):
            while send([byte]) {
                var watched = pollfd(descriptor: descriptor)
                if unsafe poll(&watched, 1, milliseconds) > 0, !fill() { return false }
            }
            return false
        case .close: return false
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            let size = socklen_t(MemoryLayout.size(ofValue: linger))
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, size)
            return false
        }
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                return unsafe Self.send(descriptor, rest)
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #else
        unsafe Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #endif
    }
}

extension pollfd {
    fileprivate init(descriptor: Int32) {
        self.init(fd: descriptor, events: Int16(POLLIN), revents: 0)
    }
}

#if canImport(Glibc)
private let streamSocket = Int32(SOCK_STREAM.rawValue)
private let shutdownBoth = Int32(SHUT_RDWR)
#else
private let streamSocket = SOCK_STREAM
private let shutdownBoth = SHUT_RDWR
#endif
