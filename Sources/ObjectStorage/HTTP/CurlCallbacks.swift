#if SystemLibraries
internal import CCurl
internal import CLibrary

/// What libcurl's callbacks get back: the exchange and the way to wake it after a pause.
final class CallbackContext {
    let exchange: Exchange
    private let limiter: BandwidthLimiter?
    /// True while the transfer waits for the sake of the bandwidth.
    var isThrottled = false
    /// True from the moment at which it was this transfer's turn until it asks.
    var hasTurn = false
    /// When it moved last, or began.
    private(set) var lastMoved: Duration
    let resume: @Sendable () -> Void

    init(exchange: Exchange, limiter: BandwidthLimiter?, resume: @escaping @Sendable () -> Void) {
        self.exchange = exchange
        self.limiter = limiter
        self.resume = resume
        lastMoved = limiter?.now ?? .zero
    }

    var limitsBandwidth: Bool { limiter != nil }

    /// False if nothing may move now.
    func mayMove() -> Bool {
        guard let limiter else { return true }
        isThrottled = !limiter.mayMove(hasTurn: hasTurn)
        hasTurn = false
        return !isThrottled
    }

    func moved(_ bytes: Int) {
        guard let limiter else { return }
        limiter.moved(bytes)
        lastMoved = limiter.now
    }

    /// Bytes that a call may take of a body that is sent.
    func piece(of room: Int) -> Int { min(room, limiter?.piece ?? room) }

    /// The size of a buffer for the answer.
    func bufferSize(atMost size: Int) -> Int { limiter?.bufferSize(atMost: size) ?? size }

    /// The context behind the pointer that was registered; the transport keeps it alive until the
    /// handle is reset.
    static func at(_ pointer: UnsafeMutableRawPointer?) -> CallbackContext? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe Unmanaged<CallbackContext>.fromOpaque(pointer).takeUnretainedValue()
    }
}

/// What a data callback returns to end the transfer: any other number than that of the bytes.
private let refusal = Int(CURL_WRITEFUNC_ERROR)

let bodyCallback: osssync_curl_data_callback = { data, size, count, pointer in
    guard let context = unsafe CallbackContext.at(pointer) else { return refusal }
    let buffer = unsafe UnsafeRawBufferPointer(start: data, count: size * count)
    guard context.mayMove() else { return Int(CURL_WRITEFUNC_PAUSE) }
    switch unsafe context.exchange.receive(buffer) {
    case .taken:
        context.moved(buffer.count)
        return buffer.count
    case .paused: return Int(CURL_WRITEFUNC_PAUSE)
    case .ended: return refusal
    }
}

let headerCallback: osssync_curl_data_callback = { data, size, count, pointer in
    guard let context = unsafe CallbackContext.at(pointer) else { return refusal }
    let buffer = unsafe UnsafeRawBufferPointer(start: data, count: size * count)
    let goesOn = unsafe buffer.withMemoryRebound(to: UInt8.self) { line in
        unsafe context.exchange.receive(headerLine: line.span, resume: context.resume)
    }
    return goesOn ? buffer.count : refusal
}

let readCallback: osssync_curl_data_callback = { data, size, count, pointer in
    guard let context = unsafe CallbackContext.at(pointer) else { return Int(CURL_READFUNC_ABORT) }
    guard context.mayMove() else { return Int(CURL_READFUNC_PAUSE) }
    let room = context.piece(of: size * count)
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: data, count: room)
    guard let sent = unsafe context.exchange.send(into: buffer) else {
        return Int(CURL_READFUNC_ABORT)
    }
    context.moved(sent)
    return sent
}

let seekCallback: osssync_curl_seek_callback = { pointer, offset, origin in
    guard let context = unsafe CallbackContext.at(pointer), offset == 0, origin == SEEK_SET,
        context.exchange.rewindBody()
    else { return Int32(CURL_SEEKFUNC_FAIL) }
    return Int32(CURL_SEEKFUNC_OK)
}

let prerequestCallback: osssync_curl_prerequest_callback = { pointer, _, _, _, _ in
    guard let context = unsafe CallbackContext.at(pointer), context.exchange.willSend() else {
        return Int32(CURL_PREREQFUNC_ABORT)
    }
    return Int32(CURL_PREREQFUNC_OK)
}

/// Keeps sockets out of the programs that are started meanwhile, and bodies out of the system's
/// buffers: on a slow line megabytes there would take longer than a connection may be silent.
let socketCallback: osssync_curl_socket_callback = { _, descriptor, _ in
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var limit: Int32 = 128 << 10
    let size = socklen_t(MemoryLayout.size(ofValue: limit))
    _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &limit, size)
    return Int32(CURL_SOCKOPT_OK)
}
#endif
