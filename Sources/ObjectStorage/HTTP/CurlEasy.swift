#if SystemLibraries
internal import CCurl
internal import CLibrary
internal import SyncModel

/// Owns one easy handle of libcurl, which is used for one request after another.
///
/// Safe, because the pointers live as long as this object, and only the transport's thread uses it.
@safe final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private let headers = CurlHeaders()
    /// What the options are set for that requests of one kind have in common; nil if for none.
    private var kind: Kind?
    /// The body of a request that leaves in one piece.
    private var body = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The sizes of libcurl's buffers for the answer and for the body; 0 if they are not set.
    private var bufferSizes = (answer: 0, body: 0)

    private struct Kind: Equatable {
        let method: HTTPMethod
        /// True if libcurl gets the body with the head, and not by a callback.
        let isSentAtOnce: Bool

        var hasBody: Bool { method == .put || method == .post }
    }

    init?() {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// What the handle is found by.
    var identity: UInt { unsafe UInt(bitPattern: handle) }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe errorText.deallocate()
        unsafe body.deallocate()
    }

    /// Prepares the handle for `exchange`, which must outlive the transfer.
    func prepare(_ exchange: Exchange, context: CallbackContext, settings: NetworkSettings)
        throws(TransportError)
    {
        let request = exchange.request
        // A limit of the bandwidth is kept by the callback.
        let isSentAtOnce = request.body.isSentAtOnce && !context.limitsBandwidth
        let kind = Kind(method: request.method, isSentAtOnce: isSentAtOnce)
        // Some thirty options cost as much as the rest of a small request.
        if self.kind != kind {
            reset()
            unsafe try set(CURLOPT_ERRORBUFFER, pointer: UnsafeMutableRawPointer(errorText))
            try prepareConnection(settings)
            try prepareMethod(kind)
            try prepareCallbacks()
            self.kind = kind
        }
        try set(CURLOPT_FRESH_CONNECT, request.needsFreshConnection ? 1 : 0)
        try set(CURLOPT_URL, text: request.url)
        try prepareBody(exchange, kind)
        try prepareBuffers(request, kind, context)
        try prepareHeaders(request, kind)
        unsafe try setContext(Unmanaged.passUnretained(context).toOpaque())
    }

    /// The request is over; nothing of it is used any more.
    ///
    /// After one that failed, every option is set anew.
    func end(isReusable: Bool) {
        guard isReusable, unsafe (try? setContext(nil)) != nil,
            unsafe osssync_curl_set_list(handle, CURLOPT_HTTPHEADER, nil) == CURLE_OK
        else { return reset() }
        unsafe errorText[0] = 0
    }

    private func reset() {
        unsafe curl_easy_reset(handle)
        kind = nil
        bufferSizes = (0, 0)
        unsafe errorText[0] = 0
    }

    private func prepareConnection(_ settings: NetworkSettings) throws(TransportError) {
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_PROTOCOLS_STR, text: "http,https")
        try set(CURLOPT_REDIR_PROTOCOLS_STR, text: "https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        if let file = settings.caFile { try set(CURLOPT_CAINFO, text: file) }
        // Empty texts keep libcurl from asking the environment.
        try set(CURLOPT_PROXY, text: settings.proxy ?? "")
        try set(CURLOPT_NOPROXY, text: "")
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // No connection takes as long as a slow answer may.
        let connectTimeout = min(settings.stallTimeout, settings.connectTimeout)
        try set(CURLOPT_CONNECTTIMEOUT_MS, max(1, connectTimeout.milliseconds))
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_TCP_NODELAY, 1)
    }

    private func prepareMethod(_ kind: Kind) throws(TransportError) {
        switch kind.method {
        case .get: try set(CURLOPT_HTTPGET, 1)
        case .head: try set(CURLOPT_NOBODY, 1)
        case .delete:
            try set(CURLOPT_HTTPGET, 1)
            try set(CURLOPT_CUSTOMREQUEST, text: kind.method.rawValue)
        case .put, .post:
            try set(kind.isSentAtOnce ? CURLOPT_POST : CURLOPT_UPLOAD, 1)
            try set(CURLOPT_CUSTOMREQUEST, text: kind.method.rawValue)
        }
    }

    private func prepareBody(_ exchange: Exchange, _ kind: Kind) throws(TransportError) {
        guard kind.hasBody else { return }
        let length = exchange.request.body.length
        let option = kind.isSentAtOnce ? CURLOPT_POSTFIELDSIZE_LARGE : CURLOPT_INFILESIZE_LARGE
        let code = unsafe osssync_curl_set_offset(handle, option, curl_off_t(length))
        try check(code, "the length of a body")
        guard kind.isSentAtOnce else { return }
        // Without a place libcurl would ask the callback for a body of 0 bytes.
        if unsafe body.count < max(1, Int(length)) {
            unsafe body.deallocate()
            unsafe body = .allocate(byteCount: max(1_024, Int(length)), alignment: 1)
        }
        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: body[..<Int(length)])
        guard unsafe exchange.takeBody(into: place) else { throw .sourceChanged }
        exchange.request.onSent(Int(length))
        unsafe try set(CURLOPT_POSTFIELDS, pointer: body.baseAddress)
    }

    /// Large buffers for large bodies only: libcurl allocates them for each request.
    private func prepareBuffers(
        _ request: HTTPRequest,
        _ kind: Kind,
        _ context: CallbackContext
    ) throws(TransportError) {
        // libcurl gives all that the buffer holds to one call.
        let answer = context.bufferSize(atMost: Self.bufferSize(for: request.answerLength))
        if answer != bufferSizes.answer { try setBuffer(CURLOPT_BUFFERSIZE, answer) }
        let body = Self.bufferSize(for: kind.isSentAtOnce ? 0 : request.body.length)
        if body != bufferSizes.body { try setBuffer(CURLOPT_UPLOAD_BUFFERSIZE, body) }
        bufferSizes = (answer, body)
    }

    private static func bufferSize(for length: Int64?) -> Int {
        let small = 32 << 10
        return length.map { $0 <= small } ?? false ? small : 256 << 10
    }

    private func prepareHeaders(_ request: HTTPRequest, _ kind: Kind) throws(TransportError) {
        let list = unsafe headers.list(request.headers, hasBody: kind.hasBody)
        let code = unsafe osssync_curl_set_list(handle, CURLOPT_HTTPHEADER, list)
        try check(code, "CURLOPT_HTTPHEADER")
    }

    /// What the callbacks get.
    private func setContext(_ pointer: UnsafeMutableRawPointer?) throws(TransportError) {
        unsafe try set(CURLOPT_WRITEDATA, pointer: pointer)
        unsafe try set(CURLOPT_HEADERDATA, pointer: pointer)
        unsafe try set(CURLOPT_READDATA, pointer: pointer)
        unsafe try set(CURLOPT_SEEKDATA, pointer: pointer)
        unsafe try set(CURLOPT_PREREQDATA, pointer: pointer)
    }

    private func prepareCallbacks() throws(TransportError) {
        try check(
            unsafe osssync_curl_set_data_callback(handle, CURLOPT_WRITEFUNCTION, bodyCallback),
            "CURLOPT_WRITEFUNCTION"
        )
        try check(
            unsafe osssync_curl_set_data_callback(handle, CURLOPT_HEADERFUNCTION, headerCallback),
            "CURLOPT_HEADERFUNCTION"
        )
        try check(
            unsafe osssync_curl_set_data_callback(handle, CURLOPT_READFUNCTION, readCallback),
            "CURLOPT_READFUNCTION"
        )
        try check(
            unsafe osssync_curl_set_seek_callback(handle, seekCallback),
            "CURLOPT_SEEKFUNCTION"
        )
        try check(
            unsafe osssync_curl_set_prerequest_callback(handle, prerequestCallback),
            "CURLOPT_PREREQFUNCTION"
        )
        try check(
            unsafe osssync_curl_set_socket_callback(handle, socketCallback),
            "CURLOPT_SOCKOPTFUNCTION"
        )
    }
}

// MARK: - Options and results

extension CurlEasy {
    private func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try check(unsafe osssync_curl_set_long(handle, option, value), "\(option.rawValue)")
    }

    /// A handle whose last host was not found still has its buffers and takes no others.
    private func setBuffer(_ option: CURLoption, _ size: Int) throws(TransportError) {
        let code = unsafe osssync_curl_set_long(handle, option, size)
        try check(code == CURLE_BAD_FUNCTION_ARGUMENT ? CURLE_OK : code, "\(option.rawValue)")
    }

    private func set(_ option: CURLoption, text: String) throws(TransportError) {
        try check(unsafe osssync_curl_set_text(handle, option, text), "\(option.rawValue)")
    }

    private func set(
        _ option: CURLoption,
        pointer: UnsafeMutableRawPointer?
    ) throws(TransportError) {
        try check(
            unsafe osssync_curl_set_pointer(handle, option, pointer),
            "\(option.rawValue)"
        )
    }

    private func check(
        _ code: CURLcode,
        _ option: @autoclosure () -> String
    ) throws(TransportError) {
        guard code != CURLE_OK else { return }
        let option = option()
        throw .connectFailed(reason: "libcurl refuses its option \(option): error \(code.rawValue)")
    }

    /// Goes on after a callback asked for a pause; may call the callbacks at once.
    ///
    /// What those refuse then is a result only here: the transfer itself would go on.
    func resume() -> CURLcode {
        unsafe curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    /// Bytes of the body that the system has taken; those in libcurl's own buffer do not count.
    var sentBytes: Int64 {
        var value: curl_off_t = 0
        let code = unsafe osssync_curl_get_offset(handle, CURLINFO_SIZE_UPLOAD_T, &value)
        return code == CURLE_OK ? Int64(value) : 0
    }

    /// What a result code of a transfer means; nil for success.
    func error(for code: CURLcode) -> TransportError? {
        guard code != CURLE_OK else { return nil }
        return transportError(
            code,
            detail: reason(code),
            connectStatus: long(CURLINFO_HTTP_CONNECTCODE)
        )
    }

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        let code = unsafe osssync_curl_get_long(handle, info, &value)
        return code == CURLE_OK ? value : 0
    }

    private func reason(_ code: CURLcode) -> String {
        let bytes = unsafe UnsafeBufferPointer(start: errorText, count: Int(CURL_ERROR_SIZE))
            .prefix { $0 != 0 }
            .map { UInt8(bitPattern: $0) }
        guard bytes.isEmpty else { return displayText(bytes) }
        return unsafe String(cString: curl_easy_strerror(code))
    }
}
#endif
