#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A loopback port that refuses connections.
///
/// The port of a server that was stopped may be that of another test's server a moment later; this
/// one stays taken, and nobody listens.
package final class RefusingPort: Sendable {
    private let descriptor: Int32
    private let port: UInt16

    package init() {
        descriptor = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, length) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        precondition(isBound, "a loopback port can be had")
        port = UInt16(bigEndian: address.sin_port)
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// Lets it go.
    package func stop() { close(descriptor) }
}
