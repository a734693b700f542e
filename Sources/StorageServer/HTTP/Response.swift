internal import CLibrary
internal import CMicrohttpd

/// A response of libmicrohttpd, ours until it is dropped; a connection that sends it keeps it.
///
/// Safe, because `handle` is only lent to ``Connection``.
@safe struct Response: ~Copyable {
    let handle: OpaquePointer

    /// Nil if memory is short.
    private init?(_ handle: OpaquePointer?) {
        guard let handle = unsafe handle else { return nil }
        unsafe self.handle = handle
    }

    deinit {
        unsafe MHD_destroy_response(handle)
    }

    init?(copying bytes: [UInt8]) {
        var bytes = bytes
        unsafe self.init(
            MHD_create_response_from_buffer(bytes.count, &bytes, .RESPMEM_MUST_COPY)
        )
    }

    /// Sent by `sendfile`; nil if the file can't be opened.
    init?(path: String, offset: Int64, length: Int64) {
        let descriptor = openForReading(path)
        guard descriptor >= 0 else { return nil }
        let handle = unsafe MHD_create_response_from_fd_at_offset64(
            UInt64(length),
            descriptor,
            UInt64(offset)
        )
        if unsafe handle == nil { close(descriptor) }
        unsafe self.init(handle)
    }

    /// For HEAD: a length without bytes.
    init?(announcing length: Int64) {
        unsafe self.init(
            MHD_create_response_from_callback(UInt64(length), 1, { _, _, _, _ in -2 }, nil, nil)
        )
    }

    init?(reader: BodyReader) {
        let blockSize = Int(min(max(reader.length, 1), 512 << 10))
        let context = unsafe Unmanaged.passRetained(reader).toOpaque()
        let handle = unsafe MHD_create_response_from_callback(
            UInt64(reader.length),
            blockSize,
            { context, position, buffer, capacity in
                guard let context = unsafe context, let buffer = unsafe buffer else { return -2 }
                let reader = unsafe Unmanaged<BodyReader>.fromOpaque(context).takeUnretainedValue()
                let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
                return unsafe reader.read(at: Int64(position), into: target) ?? -2
            },
            context,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<BodyReader>.fromOpaque(context).release()
            }
        )
        if unsafe handle == nil { unsafe Unmanaged<BodyReader>.fromOpaque(context).release() }
        unsafe self.init(handle)
    }

    /// Names and values that libmicrohttpd refuses are left out.
    borrowing func add(_ name: String, _ value: String) {
        unsafe MHD_add_response_header(handle, name, value)
    }

    borrowing func setFlags(hasOwnContentLength: Bool) {
        unsafe osssync_set_response_flags(handle, hasOwnContentLength ? 1 : 0)
    }

    static func reasonPhrase(_ status: Int) -> String {
        unsafe MHD_get_reason_phrase_for(UInt32(status)).map { unsafe String(cString: $0) } ?? ""
    }
}
