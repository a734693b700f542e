#if SystemLibraries
internal import CCurl
internal import CLibrary
internal import SyncModel

/// Owns a multi handle of libcurl, with its connections.
///
/// TLS sessions belong to the easy handles: each of TLS 1.3 is used once, so that handles that
/// shared them would take them from each other.
///
/// libcurl says which sockets it waits for, and is told which of them are ready: by itself it would
/// ask the system about each of them, whichever of them has something.
///
/// Safe, because the handle lives as long as this object. Unchecked, because ``wakeUp()``, which
/// may be called on any thread, only uses what never changes, and all the rest is called by the
/// transport's thread alone.
@safe final class CurlMulti: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer
    private let bell: WakeUpPipe
    /// What is waited for: the bell, and then the sockets of transfers.
    private var sockets: [pollfd]
    /// The sockets that were found ready, and what for.
    private var ready: [(socket: Int32, events: Int32)] = []

    /// True if the library could be initialised, which must happen once in a process.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init?(connectionLimit: Int) {
        guard Self.isLibraryReady, let bell = WakeUpPipe(),
            let handle = unsafe curl_multi_init()
        else { return nil }
        unsafe self.handle = handle
        sockets = [pollfd(fd: bell.reading, events: Int16(POLLIN), revents: 0)]
        self.bell = bell
        let code = unsafe osssync_curl_multi_set_long(
            handle,
            CURLMOPT_MAXCONNECTS,
            max(1, connectionLimit)
        )
        guard code == CURLM_OK else { return nil }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let result = unsafe osssync_curl_multi_set_socket_function(handle, watchCallback, context)
        guard result == CURLM_OK else { return nil }
    }

    deinit {
        // It closes connections, and must not call back what is no more.
        unsafe osssync_curl_multi_set_socket_function(handle, nil, nil)
        unsafe curl_multi_cleanup(handle)
    }

    func wakeUp() { bell.ring() }

    func add(_ easy: CurlEasy) -> Bool {
        unsafe curl_multi_add_handle(handle, easy.handle) == CURLM_OK
    }

    /// An unfinished transfer's connection is closed, and not used again.
    func remove(_ easy: CurlEasy) {
        unsafe curl_multi_remove_handle(handle, easy.handle)
    }

    /// Moves the transfers that something was found for, and those whose time has come.
    func perform() {
        var running: Int32 = 0
        let ready = ready
        self.ready.removeAll(keepingCapacity: true)
        for (socket, events) in ready {
            unsafe curl_multi_socket_action(handle, socket, events, &running)
        }
        if timeout == 0 {
            unsafe curl_multi_socket_action(handle, CURL_SOCKET_TIMEOUT, 0, &running)
        }
    }

    /// Waits for a socket, for a call of ``wakeUp()``, for libcurl's own timers or for the time.
    func poll(_ limit: Duration) {
        var milliseconds = Int32(clamping: limit.milliseconds)
        if let timeout { milliseconds = min(milliseconds, timeout) }
        let count = unsafe sockets.withUnsafeMutableBufferPointer { sockets in
            unsafe systemPoll(sockets.baseAddress, nfds_t(sockets.count), milliseconds)
        }
        guard count > 0 else { return }
        for socket in sockets.dropFirst() where socket.revents != 0 {
            ready.append((socket.fd, Self.events(of: socket)))
        }
        if sockets[0].revents != 0 { bell.silence() }
    }

    /// What libcurl is to try; the call that it makes then finds out why a connection has ended.
    private static func events(of socket: pollfd) -> Int32 {
        var found = Int32(socket.revents)
        if found & Int32(POLLERR | POLLHUP) != 0 { found |= Int32(socket.events) }
        var events: Int32 = 0
        if found & Int32(POLLIN) != 0 { events |= CURL_CSELECT_IN }
        if found & Int32(POLLOUT) != 0 { events |= CURL_CSELECT_OUT }
        return events == 0 ? CURL_CSELECT_ERR : events
    }

    /// The next transfer that has ended, by the identity of its handle.
    func nextResult() -> (identity: UInt, code: CURLcode)? {
        var remaining: Int32 = 0
        while let message = unsafe curl_multi_info_read(handle, &remaining) {
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let easy = unsafe message.pointee.easy_handle
            else { continue }
            return unsafe (UInt(bitPattern: easy), osssync_curl_message_result(message))
        }
        return nil
    }

    /// How long libcurl wants to wait at most, in milliseconds; nil for as long as may be.
    private var timeout: Int32? {
        var milliseconds = -1
        let code = unsafe curl_multi_timeout(handle, &milliseconds)
        return code == CURLM_OK && milliseconds >= 0 ? Int32(clamping: milliseconds) : nil
    }

    /// libcurl waits for something else on a socket, or for nothing more.
    fileprivate func watch(_ socket: Int32, _ what: Int32) {
        let place = sockets.firstIndex { $0.fd == socket }
        guard what != CURL_POLL_REMOVE else {
            if let place {
                sockets.swapAt(place, sockets.count - 1)
                sockets.removeLast()
            }
            return
        }
        var events = 0
        if what != CURL_POLL_OUT { events |= Int(POLLIN) }
        if what != CURL_POLL_IN { events |= Int(POLLOUT) }
        let entry = pollfd(fd: socket, events: Int16(events), revents: 0)
        if let place { sockets[place] = entry } else { sockets.append(entry) }
    }
}

private let watchCallback: curl_socket_callback = { _, socket, what, pointer, _ in
    guard let pointer = unsafe pointer else { return 0 }
    unsafe Unmanaged<CurlMulti>.fromOpaque(pointer).takeUnretainedValue().watch(socket, what)
    return 0
}

/// The system's call, which a method has the name of.
private func systemPoll(
    _ sockets: UnsafeMutablePointer<pollfd>?,
    _ count: nfds_t,
    _ milliseconds: Int32
) -> Int32 {
    unsafe poll(sockets, count, milliseconds)
}

/// Ends the wait of another thread.
private struct WakeUpPipe: ~Copyable {
    let reading: Int32
    private let writing: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        reading = ends[0]
        writing = ends[1]
    }

    deinit {
        close(reading)
        close(writing)
    }

    func ring() {
        var byte: UInt8 = 0
        // A pipe that is full rings, too.
        _ = unsafe write(writing, &byte, 1)
    }

    func silence() {
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
        while unsafe read(reading, &bytes, bytes.count) == bytes.count {}
    }
}
#endif
