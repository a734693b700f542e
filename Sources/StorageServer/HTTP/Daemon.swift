internal import CLibrary
internal import CMicrohttpd

/// libmicrohttpd with a thread for each connection, so that a handler may wait: for a fault's
/// delay, a callback's receiver, a disk.
///
/// Safe, because the handle never leaves this type and stops before the callbacks' context goes.
@safe final class Daemon {
    private static let connectionLimit: UInt32 = 4_096
    /// Also the size of the pieces in which bodies arrive.
    private static let connectionMemory = 256 << 10

    private let handle: OpaquePointer
    private let core: ServerCore
    let port: Int

    init(core: ServerCore) throws {
        self.core = core
        let configuration = core.configuration
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = configuration.port.bigEndian
        let failure = ServerFailure.listen(
            address: configuration.listenAddress,
            port: configuration.port
        )
        guard unsafe inet_pton(AF_INET, configuration.listenAddress, &address.sin_addr) == 1 else {
            throw failure
        }
        let flags =
            MHD_USE_THREAD_PER_CONNECTION.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue
            | MHD_USE_POLL.rawValue | MHD_USE_ITC.rawValue
        let context = unsafe Unmanaged.passUnretained(core).toOpaque()
        let handle = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe osssync_start_daemon(
                    flags,
                    address,
                    handleRequest,
                    context,
                    beginRequest,
                    keepTarget,
                    endRequest,
                    Self.connectionLimit,
                    Self.connectionMemory
                )
            }
        }
        guard let handle = unsafe handle else { throw failure }
        unsafe self.handle = handle
        port = Int(unsafe osssync_daemon_port(handle))
    }

    deinit {
        core.pause.end()
        unsafe MHD_stop_daemon(handle)
    }
}

/// Targets stay as they were sent: signatures cover them.
private func keepTarget(
    _: UnsafeMutableRawPointer?,
    _: OpaquePointer?,
    _ text: UnsafeMutablePointer<CChar>?
) -> Int {
    guard let text = unsafe text else { return 0 }
    return unsafe strlen(text)
}

/// Called with the raw target before anything else of a request; the result is the request's
/// context.
private func beginRequest(
    _ context: UnsafeMutableRawPointer?,
    _ target: UnsafePointer<CChar>?,
    _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context, let target = unsafe target,
        let connection = unsafe connection
    else { return nil }
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    let exchange = unsafe Exchange(
        core: core,
        target: String(cString: target),
        connection: Connection(connection)
    )
    return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

/// Called once the headers are there, again for every piece of the body, and once at its end.
private func handleRequest(
    _: UnsafeMutableRawPointer?,
    _: OpaquePointer?,
    _: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?,
    _: UnsafePointer<CChar>?,
    _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?,
    _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let raw = unsafe requestContext?.pointee, let method = unsafe method,
        let size = unsafe size
    else { return .NO }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(raw).takeUnretainedValue()
    let bytes = unsafe UnsafeRawBufferPointer(start: data, count: size.pointee)
    let goesOn = unsafe exchange.advance(method: String(cString: method), bytes: bytes)
    unsafe size.pointee = 0
    return goesOn ? .YES : .NO
}

private func endRequest(
    _: UnsafeMutableRawPointer?,
    _: OpaquePointer?,
    _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ reason: MHD_RequestTerminationCode
) {
    guard let raw = unsafe requestContext?.pointee else { return }
    unsafe requestContext?.pointee = nil
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(raw).takeRetainedValue()
    exchange.finish(isComplete: reason == .REQUEST_TERMINATED_COMPLETED_OK)
}
