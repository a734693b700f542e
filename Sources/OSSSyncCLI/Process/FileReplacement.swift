#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Puts a file in place of an older one, by one rename; what went wrong, nil if nothing did.
///
/// A new file has `mode`, as far as the process allows it; with `kept`, it has just that one.
func replaceFile(
    _ path: String,
    with text: String,
    mode: UInt32,
    keeping kept: mode_t? = nil
) -> String? {
    // What reads folders of such files reads those with certain endings, which this is not.
    let temporary = "\(path).\(getpid()).tmp"
    _ = unsafe unlink(temporary)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    let descriptor = unsafe open(temporary, flags, mode_t(mode))
    guard descriptor >= 0 else { return systemErrorText() }
    if let kept { _ = fchmod(descriptor, kept & 0o777) }
    let isWritten = OutputStream(descriptor: descriptor).write(text) && fsync(descriptor) == 0
    let writing = systemErrorText()
    _ = close(descriptor)
    if isWritten, unsafe rename(temporary, path) == 0 { return nil }
    let reason = isWritten ? systemErrorText() : writing
    _ = unsafe unlink(temporary)
    return reason
}
