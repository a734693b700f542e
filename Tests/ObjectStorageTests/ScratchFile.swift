#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A file without a name, gone when the test is.
final class ScratchFile: Sendable {
    let descriptor: Int32

    init(_ content: [UInt8] = []) {
        var template = [UInt8]("/tmp/osssync-test-XXXXXX".utf8).map { CChar(bitPattern: $0) } + [0]
        descriptor = unsafe mkstemp(&template)
        precondition(descriptor >= 0, "a temporary file can be made")
        unsafe unlink(template)
        write(content, at: 0)
    }

    deinit { close(descriptor) }

    func write(_ content: [UInt8], at offset: Int) {
        let count = unsafe pwrite(descriptor, content, content.count, off_t(offset))
        precondition(count == content.count, "a temporary file can be written")
    }

    /// From now on writing through the descriptor fails with EBADF.
    func forbidWriting() {
        let other = unsafe open("/dev/null", O_RDONLY)
        precondition(other >= 0 && dup2(other, descriptor) >= 0, "a descriptor can be replaced")
        close(other)
    }

    var content: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 24)
        let size = bytes.count
        let count = unsafe pread(descriptor, &bytes, size, 0)
        return [UInt8](bytes.prefix(count))
    }
}

/// A ramp of prime period, so that a misplaced byte shows.
func ramp(_ count: Int) -> [UInt8] {
    let period = (0..<251).map { UInt8($0) }
    var block: [UInt8] = []
    while block.count < min(count, 1 << 18) { block += period }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes += block }
    bytes.removeLast(bytes.count - count)
    return bytes
}
