internal import CMicrohttpd
internal import CSystem

/// A connection during one of its requests.
///
/// Safe, because it is used by the connection's own thread until the request has ended.
@safe struct Connection {
    private let handle: OpaquePointer
    private let socket: Int32

    init(_ handle: OpaquePointer) {
        unsafe self.handle = handle
        socket = unsafe osssync_connection_socket(handle)
    }

    /// The headers of the request, names in lower case.
    var headers: [(name: String, value: String)] {
        let list = HeaderList()
        let context = unsafe Unmanaged.passUnretained(list).toOpaque()
        _ = unsafe MHD_get_connection_values(
            handle,
            .HEADER_KIND,
            { context, _, name, value in
                guard let context = unsafe context, let name = unsafe name else { return .YES }
                let list = unsafe Unmanaged<HeaderList>.fromOpaque(context).takeUnretainedValue()
                let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
                unsafe list.headers.append((String(cString: name).lowercased(), text))
                return .YES
            },
            context
        )
        return list.headers
    }

    /// Bytes that have left, heads included; nil where the system does not say.
    var bytesSent: Int64? {
        let count = osssync_socket_bytes_sent(socket)
        return count >= 0 ? count : nil
    }

    /// Ends the connection with RST once the peer has everything.
    func reset() {
        osssync_socket_reset(socket)
    }

    /// True if libmicrohttpd took the response over.
    func send(status: Int, _ response: borrowing Response) -> Bool {
        unsafe MHD_queue_response(handle, UInt32(status), response.handle) == .YES
    }
}

private final class HeaderList {
    var headers: [(name: String, value: String)] = []
}
