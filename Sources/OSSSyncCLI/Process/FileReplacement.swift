#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Puts a file in place of an older one, by one rename; what went wrong, nil if nothing did.
///
/// A new file has `mode`, as far as the process allows it; with `kept`, what is known of the older
/// one, it has its mode and its group.
func replaceFile(
    _ path: String,
    with text: String,
    mode: UInt32,
    keeping kept: stat? = nil
) -> String? {
    // What reads folders of such files reads those with certain endings, which this is not.
    let temporary = "\(path).\(getpid()).tmp"
    _ = unsafe unlink(temporary)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    let descriptor = unsafe open(temporary, flags, mode_t(mode))
    guard descriptor >= 0 else { return systemErrorText() }
    if let kept { keepRights(kept, in: descriptor) }
    let isWritten = OutputStream(descriptor: descriptor).write(text) && fsync(descriptor) == 0
    let writing = systemErrorText()
    _ = close(descriptor)
    if isWritten, unsafe rename(temporary, path) == 0 { return nil }
    let reason = isWritten ? systemErrorText() : writing
    _ = unsafe unlink(temporary)
    return reason
}

/// Gives a new file the group and the mode of the older one, or fewer rights.
private func keepRights(_ kept: stat, in descriptor: CInt) {
    // What the group may do was not meant for another one.
    let hasGroup = fchown(descriptor, uid_t.max, kept.st_gid) == 0
    _ = fchmod(descriptor, kept.st_mode & (hasGroup ? 0o777 : 0o707))
}
