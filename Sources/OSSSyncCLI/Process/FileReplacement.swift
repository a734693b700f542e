internal import CLibrary
internal import CSystem

/// Puts a file in place of an older one, by one rename; what went wrong, nil if nothing did.
///
/// A new file has `mode`, as far as the process allows it; with `kept`, what is known of the older
/// one, it has its mode, its group and its access control list.
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
    if let kept { keepRights(kept, of: path, in: descriptor) }
    let isWritten = OutputStream(descriptor: descriptor).write(text) && fsync(descriptor) == 0
    let writing = systemErrorText()
    _ = close(descriptor)
    if isWritten, unsafe rename(temporary, path) == 0 { return nil }
    let reason = isWritten ? systemErrorText() : writing
    _ = unsafe unlink(temporary)
    return reason
}

/// Gives a new file the group, the mode and the access control list of the older one, or fewer
/// rights.
private func keepRights(_ kept: stat, of path: String, in descriptor: CInt) {
    // What the group may do was not meant for another one.
    var isWhole = fchown(descriptor, uid_t.max, kept.st_gid) == 0
    let list = accessList(of: path)
    if isWhole, let list, !list.isEmpty {
        isWhole = unsafe osssync_set_attribute(descriptor, accessListName, list, list.count) == 0
    } else {
        // One that the folder gives to new files opens it for others than the older one.
        _ = unsafe osssync_remove_attribute(descriptor, accessListName)
    }
    // With a list, these bits say the most that it gives to anybody but the owner.
    _ = fchmod(descriptor, kept.st_mode & (isWhole && list != nil ? 0o777 : 0o707))
}

private let accessListName = "system.posix_acl_access"

/// The file's access control list, empty if it has none; nil if that cannot be found out.
private func accessList(of path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { _ = close(file) }
    // Enough for 500 entries: more than any file system keeps.
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe osssync_get_attribute(file, accessListName, &bytes, bytes.count)
    guard count < 0 else { return [UInt8](bytes.prefix(count)) }
    return [ENODATA, EOPNOTSUPP, ENOTSUP, ENOSYS].contains(errno) ? [] : nil
}
