internal import CCurl

/// Owns a multi handle of libcurl, with its connections and its TLS sessions.
///
/// Safe, because the handle lives as long as this object. Unchecked, because ``wakeUp()`` may be
/// called on any thread, says libcurl, and all the rest is called by the transport's thread alone.
@safe final class CurlMulti: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// True if the library could be initialised, which must happen once in a process.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init?(connectionLimit: Int) {
        guard Self.isLibraryReady, let handle = unsafe curl_multi_init() else { return nil }
        unsafe self.handle = handle
        let code = unsafe osssync_curl_multi_set_long(
            handle,
            CURLMOPT_MAXCONNECTS,
            max(1, connectionLimit)
        )
        guard code == CURLM_OK else { return nil }
    }

    deinit { unsafe curl_multi_cleanup(handle) }

    func wakeUp() {
        unsafe curl_multi_wakeup(handle)
    }

    func add(_ easy: CurlEasy) -> Bool {
        unsafe curl_multi_add_handle(handle, easy.handle) == CURLM_OK
    }

    /// An unfinished transfer's connection is closed, and not used again.
    func remove(_ easy: CurlEasy) {
        unsafe curl_multi_remove_handle(handle, easy.handle)
    }

    /// Moves all transfers as far as they go without waiting.
    func perform() {
        var running: Int32 = 0
        unsafe curl_multi_perform(handle, &running)
    }

    /// Waits for a socket, for a call of ``wakeUp()``, for libcurl's own timers or for the time.
    func poll(_ limit: Duration) {
        unsafe curl_multi_poll(handle, nil, 0, Int32(clamping: limit.milliseconds), nil)
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
}
